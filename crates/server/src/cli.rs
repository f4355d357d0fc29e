//! The command line.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::Config;

/// Decides which tools a model may see, and why.
#[derive(Parser)]
#[command(name = "toolshelf", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server (what happens without a command too).
    Serve(ServeArgs),
    /// Import profiles from a file such as `functions_meta.json`. Stop the server first; over HTTP it is `PUT /functions-meta`.
    Import {
        /// The file, which is not changed.
        file: PathBuf,
        /// The folder for the database and the workspaces
        #[arg(long, value_name = "FOLDER", default_value = "./data")]
        data: PathBuf,
        /// Remove profiles that the file does not name; refused when one of them is used
        #[arg(long)]
        replace: bool,
    },
    /// Print the OpenAPI document of the HTTP API.
    Openapi,
    /// Manage accounts when nobody can sign in.
    #[command(subcommand)]
    Admin(AdminCommand),
}

#[derive(Subcommand)]
enum AdminCommand {
    /// Give a user a new random password and print it. Stop the server first.
    ResetPassword {
        /// The user's name.
        username: String,
        /// The folder for the database and the workspaces
        #[arg(long, value_name = "FOLDER", default_value = "./data")]
        data: PathBuf,
    },
}

/// What `serve` takes. Each flag wins over the environment, which wins over the file.
#[derive(Args, Clone, Default)]
pub struct ServeArgs {
    /// The address to listen on; port 0 takes any free port [default: 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// The folder for the database and the workspaces [default: ./data]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The configuration file [default: toolshelf.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Allow other machines to connect: needed to listen on anything but loopback
    #[arg(long)]
    pub allow_remote: bool,
}

/// Runs the command line of this process. Exit codes: 0 done, 1 failed, 2 wrong usage.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(Command::Openapi) => print_openapi(),
        Some(Command::Serve(args)) => serve(&args),
        Some(Command::Import { file, data, replace }) => import(&file, &data, replace),
        Some(Command::Admin(AdminCommand::ResetPassword { username, data })) => {
            reset_password(&username, &data)
        }
        None => serve(&cli.serve),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say_error(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn print_openapi() -> anyhow::Result<()> {
    say(&crate::http::openapi().to_pretty_json()?);
    Ok(())
}

fn reset_password(username: &str, data: &std::path::Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let password = runtime.block_on(crate::serve::reset_password(username, data))?;
    say(&format!("The new password of {username} is {password}"));
    say("All sessions of this user have ended. Set a password of your own under People after signing in.");
    Ok(())
}

fn import(file: &std::path::Path, data: &std::path::Path, replace: bool) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(crate::import::import(file, data, replace))?;
    for (what, names) in [("Created", &done.created), ("Changed", &done.changed), ("Deleted", &done.deleted)]
    {
        if !names.is_empty() {
            say(&format!("{what}: {}", names.join(", ")));
        }
    }
    if [&done.created, &done.changed, &done.deleted].into_iter().all(Vec::is_empty) {
        say("Every profile is as the file says already.");
    }
    if !done.missing.is_empty() {
        say(&format!("No such tool now, kept until there is one: {}", done.missing.join(", ")));
    }
    say(&format!("New conversations start with {}.", done.active));
    Ok(())
}

fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    let config = Config::load(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Two of these run queries and files; the default of 512 would only serve to fill the memory.
        .max_blocking_threads(32)
        .build()?;
    run_to_end(runtime, crate::serve::run(config))
}

/// Runs the program. Work on other threads, such as a search, may take a while to notice that nobody waits for it, and
/// the end of the program does not wait either.
fn run_to_end<T>(runtime: tokio::runtime::Runtime, program: impl Future<Output = T>) -> T {
    let ended = runtime.block_on(program);
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    ended
}

/// Prints a line for whoever started the program. One who reads no further, such as `head`, is no failure.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn say_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn the_end_does_not_wait_for_work_on_other_threads() {
        let (end, ends) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let program = async move {
                // It has begun before the program ends, or it would not be waited for.
                let (begun, begins) = tokio::sync::oneshot::channel();
                tokio::task::spawn_blocking(move || {
                    let _ = begun.send(());
                    let _ = ends.recv();
                });
                begins.await.unwrap();
                7
            };
            let _ = tell.send(super::run_to_end(runtime, program));
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(7));
        drop(end);
    }
}
