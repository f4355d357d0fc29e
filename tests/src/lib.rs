//! The testkit: a real server in this process or in its own, and clients that send exactly what a test says.
//!
//! A test that is about one behaviour of one endpoint starts a [`TestApp`]; a test that is about the program, its
//! output, its signals or its end starts a [`Process`].
#![expect(clippy::missing_panics_doc, reason = "a testkit panics where a test fails")]
#![expect(
    clippy::return_self_not_must_use,
    reason = "a check that passed gives what it checked to whoever goes on"
)]

mod answer;
mod app;
mod client;
mod clock;
mod events;
mod fake_mcp;
mod model;
mod page;
mod process;
mod raw;
mod real_mcp;
mod site;

pub use answer::{Answer, Problem};
pub use app::{ADMIN, AppOptions, Key, PASSWORD, Session, TestApp};
pub use client::{Ask, Client};
pub use clock::TestClock;
pub use events::{EventStream, SentEvent};
pub use fake_mcp::{FakeMcp, plain_tool};
pub use model::{ModelCall, TestModel};
pub use page::{inputs, script_texts, tags, tokens_in};
pub use process::{Ended, Process, ProcessOptions};
pub use raw::exchange;
pub use real_mcp::{EverythingHttp, RealMcp, new_repository};
pub use site::Site;

use std::time::Duration;

/// How long a test waits for something that must happen. It is reached only when a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something that must happen, and fails with what it was.
#[track_caller]
pub fn within<F: Future>(what: &str, future: F) -> impl Future<Output = F::Output> {
    let place = std::panic::Location::caller();
    async move {
        let limited = tokio::time::timeout(PATIENCE, future).await;
        limited.unwrap_or_else(|_| {
            panic!("{place}: {what} did not happen within {} seconds", PATIENCE.as_secs())
        })
    }
}

/// Every tool of the catalog, in the order of lists.
pub const CATALOG: [&str; 11] = [
    "glob",
    "grep",
    "list",
    "read",
    "get_mcp_prompt",
    "list_mcp_prompts",
    "list_mcp_resources",
    "read_mcp_resource",
    "todo_create",
    "todo_list",
    "web_fetch",
];
