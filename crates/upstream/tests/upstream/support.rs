//! Servers to connect, and a receiver of reports.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::timeout;
use toolshelf_runtime::{
    Connection, Report, ServerInfo, ToolReturn, UpstreamError, UpstreamReports, UpstreamSpec, Upstreams as _,
};
use toolshelf_upstream::{McpEnvironment, McpUpstreams, Timing};

/// How long anything is waited for. Only a broken test waits for so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The adapter and what it reports.
pub(crate) struct Site {
    pub(crate) upstreams: Arc<McpUpstreams>,
    pub(crate) reports: Arc<Recorder>,
    received: mpsc::UnboundedReceiver<(String, u64, Report)>,
}

pub(crate) struct Recorder(mpsc::UnboundedSender<(String, u64, Report)>);

#[async_trait]
impl UpstreamReports for Recorder {
    async fn report(&self, server: &str, generation: u64, report: Report) {
        // The test may be over.
        let _ = self.0.send((server.to_owned(), generation, report));
    }
}

pub(crate) fn timing() -> Timing {
    Timing {
        connect: Duration::from_secs(20),
        first_retry: Duration::from_millis(50),
        longest_retry: Duration::from_millis(200),
        close_grace: Duration::from_millis(300),
        term_grace: Duration::from_millis(300),
        settle: Duration::from_millis(100),
        between_lists: Duration::from_millis(100),
        ..Timing::default()
    }
}

pub(crate) fn environment() -> McpEnvironment {
    McpEnvironment {
        path: Some("/usr/bin:/bin".to_owned()),
        home: Some("/tmp".to_owned()),
        lang: None,
        client_name: "toolshelf".to_owned(),
        client_version: "0".to_owned(),
    }
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::with(timing())
    }

    pub(crate) fn with(timing: Timing) -> Self {
        let (sender, received) = mpsc::unbounded_channel();
        let upstreams = Arc::new(McpUpstreams::with_timing(environment(), timing).unwrap());
        Self { upstreams, reports: Arc::new(Recorder(sender)), received }
    }

    /// Starts the hostile server under its mode's name.
    pub(crate) fn start(&self, mode: &str) {
        self.start_spec(spec(mode));
    }

    pub(crate) fn start_spec(&self, spec: UpstreamSpec) {
        self.upstreams.start(spec, Arc::clone(&self.reports) as Arc<dyn UpstreamReports>);
    }

    pub(crate) async fn next(&mut self) -> (String, u64, Report) {
        timeout(PATIENCE, self.received.recv()).await.expect("a report").expect("a sender")
    }

    /// The next report that is not only that a connection is being made.
    pub(crate) async fn next_news(&mut self) -> Report {
        loop {
            let (_, _, report) = self.next().await;
            if report != Report::Connecting {
                return report;
            }
        }
    }

    pub(crate) async fn ready(&mut self) -> (ServerInfo, Vec<Value>) {
        match self.next_news().await {
            Report::Ready { info, tools } => (info, tools),
            other => panic!("not ready but {other:?}"),
        }
    }

    pub(crate) async fn down(&mut self) -> (String, Duration) {
        match self.next_news().await {
            Report::Down { reason, retry_in } => (reason, retry_in),
            other => panic!("not down but {other:?}"),
        }
    }

    pub(crate) async fn changed(&mut self) -> Vec<Value> {
        match self.next_news().await {
            Report::Tools(tools) => tools,
            other => panic!("no tools but {other:?}"),
        }
    }

    /// Whether nothing was reported that has not been taken.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.received.try_recv().is_err()
    }

    /// Calls a tool of generation 1.
    pub(crate) async fn call(&self, server: &str, tool: &str) -> Result<ToolReturn, UpstreamError> {
        timeout(PATIENCE, self.upstreams.call(server, 1, tool, Map::new())).await.expect("an answer")
    }

    /// Calls a tool that answers with JSON as text.
    pub(crate) async fn call_json(&self, server: &str, tool: &str) -> Value {
        serde_json::from_str(&self.call(server, tool).await.unwrap().text).unwrap()
    }
}

/// Where cargo puts the examples, beside the tests.
pub(crate) fn program() -> String {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push("hostile");
    assert!(path.exists(), "{} is not built: run `cargo build --examples`", path.display());
    path.to_str().unwrap().to_owned()
}

/// The hostile server under its mode's name, generation 1.
pub(crate) fn spec(mode: &str) -> UpstreamSpec {
    spec_of(mode, Connection::Stdio { command: program(), args: vec![mode.to_owned()], env: Vec::new() })
}

pub(crate) fn spec_of(name: &str, connection: Connection) -> UpstreamSpec {
    UpstreamSpec { name: name.into(), generation: 1, connection, call_timeout: PATIENCE }
}

pub(crate) fn with_call_timeout(mut spec: UpstreamSpec, limit: Duration) -> UpstreamSpec {
    spec.call_timeout = limit;
    spec
}

/// Whether a process is there and not only waiting for somebody to take note of its end.
pub(crate) fn is_running(pid: &Value) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state comes after the name, which is in parentheses.
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

pub(crate) fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap_or("?")).collect()
}
