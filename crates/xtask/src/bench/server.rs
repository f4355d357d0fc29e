//! A server process of our own, on a free port, that ends with its owner.

use anyhow::{Context, Result, bail};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::command::KillOnDrop;

/// How long a line that the server prints at its start may take; far above every target.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that listens.
pub(super) struct RunningServer {
    process: KillOnDrop,
    lines: Receiver<String>,
    seen: Vec<String>,
    /// Where it listens, as `http://HOST:PORT`.
    pub(super) url: String,
    /// Milliseconds from starting the process to the line that says that it listens.
    pub(super) started_in: f64,
}

impl RunningServer {
    /// Starts the server with a data folder, and waits until it listens.
    pub(super) fn start(binary: &Path, data: &Path) -> Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        Self::launch(command, binary)
    }

    /// The same with the example that registers many tools.
    pub(super) fn start_with_tools(example: &Path, tools: usize, data: &Path) -> Result<Self> {
        let mut command = Command::new(example);
        command.arg(tools.to_string()).arg(data);
        Self::launch(command, example)
    }

    fn launch(mut command: Command, binary: &Path) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("{} could not be started", binary.display()))?;
        let mut process = KillOnDrop(child);
        let output = process.0.stdout.take().context("the server's output was not captured")?;
        let (sender, lines) = mpsc::channel();
        // The pipe is read to its end, because a server whose output nobody takes would come to a halt.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut server = Self { process, lines, seen: Vec::new(), url: String::new(), started_in: 0.0 };
        server.url = server.wait_for(listening_url, "Toolshelf is listening on")?;
        server.started_in = started.elapsed().as_secs_f64() * 1000.0;
        Ok(server)
    }

    /// The token that allows creating the first account.
    pub(super) fn setup_token(&mut self) -> Result<String> {
        self.wait_for(setup_token, "Set up:")
    }

    /// The memory that the process holds now, in megabytes of 1,000,000 bytes.
    pub(super) fn resident_megabytes(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.process.0.id());
        let status =
            fs::read_to_string(&path).with_context(|| format!("{path} cannot be read: this needs Linux"))?;
        let kibibytes = resident_kibibytes(&status).with_context(|| format!("{path} has no VmRSS"))?;
        Ok(f64::from(kibibytes) * 1024.0 / 1_000_000.0)
    }

    /// The first line, seen already or still to come, in which `parse` finds something.
    fn wait_for(&mut self, parse: fn(&str) -> Option<&str>, what: &str) -> Result<String> {
        if let Some(found) = self.seen.iter().find_map(|line| parse(line)) {
            return Ok(found.to_owned());
        }
        let deadline = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            let found = parse(&line).map(str::to_owned);
            self.seen.push(line);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        bail!(
            "the server printed no line `{what} …` within {} s. Start it by hand to see why: cargo xtask serve --release",
            PATIENCE.as_secs()
        )
    }
}

fn listening_url(line: &str) -> Option<&str> {
    line.strip_prefix("Toolshelf is listening on ").map(str::trim).filter(|url| url.starts_with("http://"))
}

fn setup_token(line: &str) -> Option<&str> {
    line.strip_prefix("Set up: ")?.trim().split_once("/setup?token=").map(|(_, token)| token)
}

fn resident_kibibytes(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_lines_are_understood() {
        let line = "Toolshelf is listening on http://127.0.0.1:41234";
        assert_eq!(listening_url(line), Some("http://127.0.0.1:41234"));
        assert_eq!(listening_url("Toolshelf is listening on a socket"), None);
        let line = "Set up: http://127.0.0.1:41234/setup?token=aB3_-x";
        assert_eq!(setup_token(line), Some("aB3_-x"));
        assert_eq!(setup_token("Set up: later"), None);
    }

    #[test]
    fn the_resident_size_is_read_from_the_process_status() {
        assert_eq!(
            resident_kibibytes("Name:\ttoolshelf\nVmHWM:\t  9000 kB\nVmRSS:\t    8192 kB\n"),
            Some(8192)
        );
        assert_eq!(resident_kibibytes("Name:\ttoolshelf\n"), None);
    }
}
