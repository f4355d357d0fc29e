//! Building the server, and running it in the foreground.

use anyhow::{Context, Result};
use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use crate::{command, report, wasm, workspace::Workspace};

/// The server's package and binary.
const PACKAGE: &str = "toolshelf-server";
const BINARY: &str = "toolshelf";

/// Builds everything and becomes the server; the server prints the link to open.
pub(crate) fn serve(workspace: &Workspace, release: bool, arguments: &[String]) -> Result<ExitCode> {
    wasm::build_ui(workspace)?;
    let binary = build_server(workspace, release)?;
    report::step("Starting the server (Ctrl-C stops it)");
    let mut server = Command::new(&binary);
    server.arg("serve").args(arguments);
    become_process(&mut server).with_context(|| format!("{} could not be started", binary.display()))
}

/// Builds the release binary with the browser app inside, and prints its path and size.
pub(crate) fn build_release(workspace: &Workspace) -> Result<PathBuf> {
    wasm::build_ui(workspace)?;
    let binary = build_server(workspace, true)?;
    let size = fs::metadata(&binary).with_context(|| format!("{} is missing", binary.display()))?.len();
    report::result(&format!("{}  {}.{} MB", binary.display(), size / 1_000_000, size % 1_000_000 / 100_000));
    Ok(binary)
}

fn build_server(workspace: &Workspace, release: bool) -> Result<PathBuf> {
    let (profile, length) =
        if release { ("release", "several minutes") } else { ("debug", "about 3 minutes") };
    report::step(&format!("Compiling the server ({length} the first time)"));
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", PACKAGE, "--bin", BINARY]);
    if release {
        cargo.arg("--release");
    }
    command::run(
        &mut cargo,
        "The compiler's messages are above. If it could not reach the network, the dependencies cannot be fetched: \
         check the connection and run this again.",
    )?;
    Ok(workspace.target.join(profile).join(format!("{BINARY}{}", std::env::consts::EXE_SUFFIX)))
}

/// Replaces this process, so that signals from the terminal or a service manager reach the server itself.
#[cfg(unix)]
fn become_process(server: &mut Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(server.exec().into())
}

/// Waits for the server where a process cannot be replaced.
#[cfg(not(unix))]
fn become_process(server: &mut Command) -> Result<ExitCode> {
    let code = server.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
