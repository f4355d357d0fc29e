//! The real program in a process of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::app::{ADMIN, PASSWORD, Session};
use crate::client::Client;

/// What a test may choose of the program.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// What the log says, as in `TOOLSHELF_LOG`.
    pub log: Option<&'static str>,
    /// How many files it may open, as in `ulimit -n`.
    pub files: Option<u32>,
    /// `web.allowed_hosts`, as TOML.
    pub web_allowed_hosts: Option<&'static str>,
}

/// The real program, listening. It is killed when this is dropped.
pub struct Process {
    /// Where it listens.
    pub address: SocketAddr,
    /// The token of the set-up link, if it printed one.
    pub setup_token: Option<String>,
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<String>,
    printed: String,
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// All that it printed.
    pub stdout: String,
    /// All that it logged.
    pub stderr: String,
}

impl Process {
    /// Starts the program on a data folder and waits until it listens. `has_account` says whether the folder has an
    /// account, because then no set-up line follows.
    pub async fn start(data: &Path, has_account: bool, options: ProcessOptions) -> Self {
        let mut command = match options.files {
            Some(files) => command_with_files(files),
            None => command(),
        };
        command.arg("serve").args(["--listen", "127.0.0.1:0", "--data"]).arg(data);
        if let Some(log) = options.log {
            command.env("TOOLSHELF_LOG", log);
        }
        if let Some(hosts) = options.web_allowed_hosts {
            command.env("TOOLSHELF__WEB__ALLOWED_HOSTS", hosts);
        }
        let mut child = command.spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut log = child.stderr.take().expect("stderr is piped");
        let stderr = tokio::spawn(async move {
            let mut text = String::new();
            log.read_to_string(&mut text).await.expect("the log is text");
            text
        });
        let mut process = Self {
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
            setup_token: None,
            child,
            stdout: BufReader::new(stdout),
            stderr,
            printed: String::new(),
        };
        let listening = process.line().await;
        let Some(address) = listening.strip_prefix("Toolshelf is listening on http://") else {
            let _ = process.child.kill().await;
            panic!(
                "the program did not begin to listen:\n{}",
                process.stderr.await.expect("the log was read")
            );
        };
        process.address = address.parse().expect("an address with a port");
        if !has_account {
            let line = process.line().await;
            let expected = format!("Set up: http://{}/setup?token=", process.address);
            let token = line.strip_prefix(&expected).unwrap_or_else(|| panic!("{line:?} is no set-up line"));
            process.setup_token = Some(token.to_owned());
        }
        process
    }

    /// The next line that it prints, without its end; empty when it prints no more.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        crate::within("a line of the program", self.stdout.read_line(&mut line))
            .await
            .expect("lines are text");
        self.printed.push_str(&line);
        line.strip_suffix('\n').unwrap_or(&line).to_owned()
    }

    /// Somebody who is not signed in.
    pub fn nobody(&self) -> Client {
        Client::new(self.address)
    }

    /// Makes the first account, an admin, and signs it in.
    pub async fn set_up(&self) -> Session {
        let token = self.setup_token.as_deref().expect("there is no account yet");
        let setup = json!({"token": token, "username": ADMIN, "password": PASSWORD});
        let answer = self.nobody().post("/api/v1/setup", setup).await.expect(201);
        Session::new(self.nobody(), &answer.session_token(), &answer.json())
    }

    /// Signs somebody in.
    pub async fn log_in(&self, username: &str) -> Session {
        let login = json!({"username": username, "password": PASSWORD});
        let answer = self.nobody().post("/api/v1/login", login).await.expect(200);
        Session::new(self.nobody(), &answer.session_token(), &answer.json())
    }

    /// Kills it at once, as a power failure would, and waits for its end.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("a child can be killed");
    }

    /// Asks it to stop with a signal, such as `TERM`, and returns what it came to.
    pub async fn signal(mut self, signal: &str) -> Ended {
        let id = self.child.id().expect("the program runs");
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{signal} {id}")).status().await;
        assert!(sent.expect("there is a shell").success(), "the signal could not be sent");
        let status =
            crate::within("the program's end", self.child.wait()).await.expect("a child can be awaited");
        while !self.line().await.is_empty() {}
        let stderr = self.stderr.await.expect("the log was read");
        Ended { code: status.code(), stdout: self.printed, stderr }
    }

    /// Runs the program to its end, with these arguments.
    pub async fn run(arguments: &[&str]) -> Ended {
        let output = command().args(arguments).output();
        let output = crate::within("the program's end", output).await.expect("the program starts");
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("a text"),
            stderr: String::from_utf8(output.stderr).expect("a text"),
        }
    }

    /// An empty data folder.
    pub fn folder() -> TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }
}

/// The program, in a folder without a configuration file, and without configuration in its environment.
fn command() -> Command {
    let mut command = Command::new(program());
    command.env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

/// The same with a limit of open files. The shell becomes the program, so its id is the program's.
fn command_with_files(files: u32) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]).arg(program());
    command.env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

/// The program that cargo built beside this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().and_then(Path::parent).expect("a test is in target/PROFILE/deps");
    let program = folder.join("toolshelf");
    assert!(
        program.exists(),
        "{} is missing: run `cargo build -p toolshelf-server` first, with the same target folder and profile",
        program.display()
    );
    program
}
