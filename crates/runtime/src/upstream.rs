//! The port to upstream MCP servers.
//!
//! The adapter keeps one task for each server: it connects, lists, listens, calls, and connects again. It decides nothing:
//! it reports what a server says, word for word, and `service` makes of it what snapshots hold.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::output::ToolReturn;

/// How to reach a server.
#[derive(Clone, PartialEq, Eq)]
pub enum Connection {
    /// A program on this machine that speaks over its standard input and output.
    Stdio {
        /// The program: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment beside `PATH`, `HOME` and `LANG`. Values are secret.
        env: Vec<(String, String)>,
    },
    /// Streamable HTTP.
    Http {
        /// The address of the endpoint.
        url: String,
        /// Headers of each request. Values are secret.
        headers: Vec<(String, String)>,
    },
}

/// Names of variables and headers, never their values.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            Self::Stdio { command, args, env } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &names(env))
                .finish(),
            Self::Http { url, headers } => {
                f.debug_struct("Http").field("url", url).field("headers", &names(headers)).finish()
            }
        }
    }
}

/// A server that is to be connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamSpec {
    /// Its name.
    pub name: Arc<str>,
    /// Tells this connection from earlier ones of the same name. It comes back in each report, and a call is made only to
    /// the generation that it was decided for.
    pub generation: u64,
    /// How to reach it.
    pub connection: Connection,
    /// How long one call may take.
    pub call_timeout: Duration,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name, as it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of the protocol that is spoken with it.
    pub protocol: String,
    /// What it says to models. It is shown to admins and never sent to a model.
    pub instructions: Option<String>,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
}

/// What happened to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A connection is being made.
    Connecting,
    /// It answers, and these are its tools: each as it came, whatever its form.
    Ready {
        /// What it says of itself.
        info: ServerInfo,
        /// All pages of its list, in its order.
        tools: Vec<Value>,
    },
    /// Its tools changed; these are all of them.
    Tools(Vec<Value>),
    /// It cannot be reached or does not answer.
    Down {
        /// Why, in a sentence for people. It holds no secret.
        reason: String,
        /// When it is tried again.
        retry_in: Duration,
    },
}

/// Hears what happens to servers. A server's next report comes after this one was dealt with.
#[async_trait]
pub trait UpstreamReports: Send + Sync {
    /// Something happened to a server.
    async fn report(&self, server: &str, generation: u64, report: Report);
}

/// Says why a server did not answer a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// Nothing was sent, because it cannot be reached; why.
    #[error("{0}")]
    Down(String),
    /// It did not answer in time. It was told to stop.
    #[error("It did not answer within {} seconds.", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It answered with an error, or its connection ended in the middle. Whether the call did anything is not known.
    #[error("{0}")]
    Failed(String),
}

/// What may be read of a server beside its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamQuery {
    /// Its resources.
    ListResources,
    /// One resource by its URI.
    ReadResource(String),
    /// Its prompts.
    ListPrompts,
    /// One prompt by its name, with arguments.
    GetPrompt(String, Map<String, Value>),
}

/// What a trial of a connection came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What the server says of itself, and its tools as they came; or why it could not be reached.
    pub outcome: Result<(ServerInfo, Vec<Value>), String>,
    /// The last lines of its standard error.
    pub log: Vec<String>,
}

/// Upstream MCP servers. Every method but those that are `async` returns at once.
#[async_trait]
pub trait Upstreams: Send + Sync {
    /// Keeps a connection to a server from now on, in place of any that there was to a server of this name.
    fn start(&self, spec: UpstreamSpec, reports: Arc<dyn UpstreamReports>);

    /// Whether there is no server to be connected.
    fn is_empty(&self) -> bool;

    /// Ends the connection to a server and waits until its program is gone. No report of it comes after this.
    async fn stop(&self, server: &str);

    /// Connects now if it is down, and asks for its tools again if it is not.
    fn refresh(&self, server: &str);

    /// Calls a tool by its name at the server. Dropping the future tells the server to stop.
    async fn call(
        &self,
        server: &str,
        generation: u64,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReturn, UpstreamError>;

    /// Reads something else of a server. The answer is the result as the protocol has it.
    async fn query(&self, server: &str, query: UpstreamQuery) -> Result<Value, UpstreamError>;

    /// Connects once, asks for the tools and ends the connection again.
    async fn try_connection(&self, spec: UpstreamSpec) -> Trial;

    /// The last lines that a server's program wrote to its standard error, oldest first.
    fn log(&self, server: &str) -> Vec<String>;

    /// Ends all connections and waits until all programs are gone.
    async fn stop_all(&self);
}

/// No upstream servers: every call is refused.
pub struct NoUpstreams;

#[async_trait]
impl Upstreams for NoUpstreams {
    fn start(&self, _: UpstreamSpec, _: Arc<dyn UpstreamReports>) {}

    fn is_empty(&self) -> bool {
        true
    }

    async fn stop(&self, _: &str) {}

    fn refresh(&self, _: &str) {}

    async fn call(
        &self,
        server: &str,
        _: u64,
        _: &str,
        _: Map<String, Value>,
    ) -> Result<ToolReturn, UpstreamError> {
        Err(UpstreamError::Down(format!("{server} is not connected.")))
    }

    async fn query(&self, server: &str, _: UpstreamQuery) -> Result<Value, UpstreamError> {
        Err(UpstreamError::Down(format!("{server} is not connected.")))
    }

    async fn try_connection(&self, _: UpstreamSpec) -> Trial {
        Trial { outcome: Err("No servers can be connected here.".to_owned()), log: Vec::new() }
    }

    fn log(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    async fn stop_all(&self) {}
}
