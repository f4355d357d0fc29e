//! Real MCP servers, as the test command installs them into `target/tools`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// How to reach real MCP servers, as the API takes it.
#[derive(Clone, Copy, Debug)]
pub struct RealMcp;

impl RealMcp {
    /// The reference server with tools of every kind, over standard input and output.
    pub fn everything() -> Value {
        stdio("node", &[text(&everything()), "stdio".to_owned()])
    }

    /// Files of a folder.
    pub fn filesystem(folder: &Path) -> Value {
        let script = tool("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
        stdio("node", &[text(&script), text(folder)])
    }

    /// The time.
    pub fn time() -> Value {
        stdio(&text(&tool("python/bin/mcp-server-time")), &["--local-timezone".to_owned(), "UTC".to_owned()])
    }

    /// A git repository.
    pub fn git(repository: &Path) -> Value {
        stdio(&text(&tool("python/bin/mcp-server-git")), &["--repository".to_owned(), text(repository)])
    }
}

/// The reference server over Streamable HTTP. It ends when this is dropped.
#[derive(Debug)]
pub struct EverythingHttp {
    port: u16,
    _child: Child,
}

impl EverythingHttp {
    /// Starts it on a free port and waits until it listens.
    pub async fn start() -> Self {
        crate::within("the reference server to listen", async {
            loop {
                // The port is free now; should another program take it first, the server ends and the next one is tried.
                let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
                let port = free.local_addr().expect("an address").port();
                drop(free);
                let mut child = Command::new("node")
                    .arg(everything())
                    .arg("streamableHttp")
                    .env("PORT", port.to_string())
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .kill_on_drop(true)
                    .spawn()
                    .expect("node starts");
                let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if line.contains("listening on port") {
                        // Whatever it says later is read too, or it would wait for a reader.
                        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                        return Self { port, _child: child };
                    }
                }
            }
        })
        .await
    }

    /// How to reach it, as the API takes it.
    pub fn connection(&self) -> Value {
        json!({"transport": "http", "url": format!("http://127.0.0.1:{}/mcp", self.port)})
    }
}

/// A git repository with one commit.
pub fn new_repository(folder: &Path) {
    let git = |arguments: &[&str]| {
        let ended = std::process::Command::new("git")
            .args(["-C", &text(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(ended.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    git(&["init", "--quiet"]);
    std::fs::write(folder.join("notes.md"), "Buy milk.\n").expect("a file");
    git(&["add", "notes.md"]);
    git(&["commit", "--quiet", "--message", "Notes"]);
}

fn everything() -> PathBuf {
    tool("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
}

fn tool(path: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(3).expect("a target folder");
    let found = target.join("tools").join(path);
    assert!(found.exists(), "{} is missing: `cargo xtask test --stage tools` installs it", found.display());
    found
}

fn text(path: &Path) -> String {
    path.to_str().expect("a readable path").to_owned()
}

fn stdio(command: &str, args: &[String]) -> Value {
    json!({"transport": "stdio", "command": command, "args": args})
}
