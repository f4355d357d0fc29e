//! Upstream MCP servers: one task for each keeps a connection, reports what the server says, and makes calls.
//!
//! The library `rmcp` speaks the protocol. It would also read every answer into its own types, which fails for a list
//! with one malformed tool and drops fields that it does not know. What servers say is shown and hashed as it came, so
//! the transports here (`stdio` and `http`) hand results on as plain JSON; `raw` tells how.
//!
//! - `manager`: the port; which servers there are.
//! - `task`: the life of one server: connect, report, list again, wait, try again.
//! - `connection`: one connection from its beginning to its end.
//! - `process`: the program behind a connection over standard input and output.
//! - `call`, `query`, `list`, `request`: what is asked over a connection.

mod answer;
mod call;
mod connection;
mod fault;
mod http;
mod list;
mod log;
mod manager;
mod process;
mod query;
mod raw;
mod request;
mod server;
mod settings;
mod sse;
mod stdio;
mod task;
mod tls;
mod words;

pub use manager::McpUpstreams;
pub use settings::{McpEnvironment, Timing};
pub use tls::SetupError;
