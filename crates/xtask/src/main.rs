//! The project's own build tool: `cargo xtask serve`, `ui`, `build`, `test` and `bench`.
//!
//! A new machine needs Rust and nothing else. The browser app has to be compiled to WebAssembly, bound to
//! JavaScript, compressed and named by its content before the server can hand it out, and every tool for that is
//! either a library inside this program or installed by it.

mod assets;
mod bench;
mod command;
mod debian;
mod report;
mod serve;
mod test;
mod toolchain;
mod wasm;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

use crate::{test::StageName, workspace::Workspace};

/// Builds, serves, tests and measures Toolshelf.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds the browser app and the server, then runs the server in the foreground.
    Serve {
        /// Builds the optimised server; slower to build, and then as fast as a release.
        #[arg(long)]
        release: bool,
        /// Arguments for the server, after `--`: for example `-- --listen 127.0.0.1:8080 --data ./data`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Builds the browser app and the static files into `target/ui`.
    Ui,
    /// Builds the release binary with the browser app inside, and prints where it is.
    Build,
    /// Runs all checks and tests, stage by stage, and stops at the first stage that fails.
    Test {
        /// Runs only this stage; may be given several times.
        #[arg(long = "stage", value_name = "NAME")]
        stages: Vec<StageName>,
    },
    /// Builds the release binary and measures it against the project's targets.
    Bench,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            report::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::load()?;
    match &arguments.command {
        Task::Serve { release, arguments } => return serve::serve(&workspace, *release, arguments),
        Task::Ui => wasm::build_ui(&workspace)?,
        Task::Build => {
            serve::build_release(&workspace)?;
        }
        Task::Test { stages } => return test::run(&workspace, stages),
        Task::Bench => return bench::run(&workspace),
    }
    Ok(ExitCode::SUCCESS)
}
