//! Running other programs, with errors that say what to do when one is missing or fails.

use anyhow::{Context, Result, bail};
use std::{
    env,
    ffi::OsStr,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The cargo that started this program, so that its toolchain is the one used throughout.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command whose output goes to the terminal, and fails unless it succeeds.
///
/// `remedy` is the sentence that tells what to do about a failure.
pub(crate) fn run(command: &mut Command, remedy: &str) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().map_err(|error| not_started(command, &error))?;
    if !status.success() {
        bail!("`{}` failed ({}). {remedy}", display(command), describe(status));
    }
    Ok(())
}

/// Runs a command quietly and returns its standard output, or an error with its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}): {}", display(command), describe(output.status), said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no UTF-8", display(command)))
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a command that may hang on an unreachable network, and ends it after `limit`.
///
/// Answers whether it succeeded in time.
pub(crate) fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let Ok(child) = command.stdin(Stdio::null()).spawn() else { return false };
    let mut child = KillOnDrop(child);
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.0.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(100)),
            Err(_) => return false,
        }
    }
    false
}

/// A child process that does not outlive its owner, so that an error leaves nothing running.
pub(crate) struct KillOnDrop(pub(crate) Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // Both fail only when the process has ended already, which is the aim.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Finds a program on `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// `PATH` with a folder put in front of it.
pub(crate) fn path_with(folder: &Path) -> Result<std::ffi::OsString> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(env::split_paths(&rest));
    env::join_paths(folders).context("PATH holds a folder name that cannot be joined")
}

/// The command as one would type it; arguments with spaces are quoted.
pub(crate) fn display(command: &Command) -> String {
    let quoted = |text: &OsStr| {
        let text = text.to_string_lossy();
        if text.contains([' ', '(', '&']) { format!("'{text}'") } else { text.into_owned() }
    };
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program).chain(command.get_args()).map(quoted).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> anyhow::Error {
    let program = command.get_program().to_string_lossy();
    if error.kind() == ErrorKind::NotFound {
        anyhow::anyhow!(
            "the program `{program}` is not installed, or not on PATH: install it and run this again"
        )
    } else {
        anyhow::anyhow!("the program `{program}` could not be started: {error}")
    }
}

fn describe(status: ExitStatus) -> String {
    status.code().map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["nextest", "run", "-E", "not binary(browser)"]);
        assert_eq!(display(&command), "cargo nextest run -E 'not binary(browser)'");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program-anywhere"), "").expect_err("it is not there");
        assert!(error.to_string().contains("`no-such-program-anywhere` is not installed"), "{error}");
    }

    #[test]
    fn a_failure_carries_its_remedy() {
        let error = run(&mut Command::new("false"), "Fix it.").expect_err("false fails");
        assert_eq!(error.to_string(), "`false` failed (exit code 1). Fix it.");
    }

    #[test]
    fn a_hanging_command_is_ended() {
        let started = Instant::now();
        assert!(!succeeds_within(Command::new("sleep").arg("60"), Duration::from_millis(50)));
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
