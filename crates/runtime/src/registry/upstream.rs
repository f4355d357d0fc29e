//! Calls of tools of upstream MCP servers.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use toolshelf_core::{Authorized, Request, Snapshot, authorize_call};

use super::bound::bounded;
use super::{CallRefused, Invoked, PANICKED, Registry, failed};
use crate::output::cap;
use crate::upstream::UpstreamError;

/// How much of a result that is cut is its beginning.
const HEAD_RATIO: f64 = 0.7;

/// What is said of a server that is gone before the snapshot says so.
const WENT_AWAY: &str = "It went away just now.";

impl Registry {
    /// Runs a tool of a server, in the generation of its connection that was decided for.
    pub(super) async fn invoke_upstream(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        authorized: &Authorized,
        arguments: Map<String, Value>,
        room: usize,
    ) -> Result<Invoked, CallRefused> {
        let tool = &authorized.tool;
        let (Some(server), Some(call)) = (tool.source().server(), tool.upstream()) else {
            return Err(CallRefused::Unready);
        };
        self.validators.check(tool, &arguments)?;
        let (most, revision) = (call.max_result_chars.min(room), snapshot.revision());
        let started = Instant::now();
        let answer = self.upstreams.call(server, call.generation, tool.method(), arguments);
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        let duration = started.elapsed();
        Ok(match answer {
            Err(_) => failed(PANICKED, "execution_failed", duration, revision),
            Ok(Err(UpstreamError::Down(_))) => {
                // It answered when the snapshot was made. Refuse as the next snapshot will; why exactly is for admins, and
                // the service says so in its own words.
                let now = snapshot.with_servers_down(vec![(server.into(), Some(WENT_AWAY.into()))]);
                authorize_call(&now, request, tool.name()).map_err(CallRefused::Refused)?;
                failed(WENT_AWAY, "execution_failed", duration, revision)
            }
            Ok(Err(error @ UpstreamError::TimedOut(_))) => {
                failed(format!("{server}: {error}"), "timed_out", duration, revision)
            }
            Ok(Err(UpstreamError::Failed(text))) => {
                failed(cap(text, most, HEAD_RATIO), "execution_failed", duration, revision)
            }
            Ok(Ok(output)) => Invoked {
                code: output.is_error.then_some("execution_failed"),
                output: bounded(output, most, HEAD_RATIO),
                duration,
                snapshot_revision: revision,
                loaded: Vec::new(),
            },
        })
    }
}
