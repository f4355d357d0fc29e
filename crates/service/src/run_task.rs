//! A run from its beginning to its end, kept and told as it goes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use toolshelf_api::{RunEvent, RunNode, RunState};
use toolshelf_core::{Loaded, Request};
use toolshelf_runtime::store::UnitOfWork;
use toolshelf_runtime::{Begin, End, Model, Said, TurnError, TurnLog, run_turn};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::live_run::{Ended, LiveRun, end_nodes};
use crate::run_shapes::{node_row, state_row};
use crate::runs::{CUT_OFF, answer};
use crate::times::rfc3339;

/// What a run needs beside its place.
pub(crate) struct Turn {
    pub(crate) actor: Actor,
    pub(crate) request: Request,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) before: Vec<Said>,
    pub(crate) message: String,
}

impl Ended {
    fn new(state: RunState, code: Option<&str>, detail: Option<&str>) -> Self {
        Self { state, code: code.map(str::to_owned), detail: detail.map(str::to_owned) }
    }

    fn signed_out() -> Self {
        let detail = "It stopped because the session or API key that asked for it ended.";
        Self::new(RunState::Cancelled, Some(TurnError::Ended.code()), Some(detail))
    }
}

impl Service {
    /// Runs a turn to its end. Whatever happens, listeners hear of an end, and what they hear is what is stored.
    pub(crate) async fn run_to_end(&self, live: &LiveRun, turn: Turn) {
        let (ended, text) = self.run(live, turn).await;
        let now = self.now();
        let ended = match self.finish(live, &ended, text, now).await {
            Ok(()) => ended,
            Err(error) => {
                tracing::error!(
                    run.id = live.id,
                    error = chain(&error),
                    "the end of a run could not be stored"
                );
                Ended::new(RunState::Failed, Some("store_failed"), Some("How it ended could not be stored."))
            }
        };
        live.end(self.events(), ended, &rfc3339(now));
    }

    /// How the turn ended, and its answer if it has one.
    async fn run(&self, live: &LiveRun, turn: Turn) -> (Ended, Option<String>) {
        let log = Log {
            service: self,
            live,
            actor: &turn.actor,
            model: turn.model.info().name.clone(),
            next: AtomicU32::new(2),
        };
        let answer = run_turn(self.registry(), &*turn.model, &turn.request, turn.before, turn.message, &log);
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let error = tokio::select! {
            biased;
            () = live.stop.cancelled() => {
                let stopped = if live.is_cancelled() {
                    Ended::new(RunState::Cancelled, None, None)
                } else {
                    Ended::new(RunState::Interrupted, None, Some(CUT_OFF))
                };
                return (stopped, None);
            }
            // What runs for somebody ends when that somebody no longer stands.
            _ = self.ended(&turn.actor) => return (Ended::signed_out(), None),
            answer = answer => match answer {
                Ok(Ok(text)) => return (Ended::new(RunState::Done, None, None), Some(text)),
                Ok(Err(error)) => error,
                Err(_) => {
                    let detail = "It failed unexpectedly. The server's log has the details.";
                    return (Ended::new(RunState::Failed, Some("execution_failed"), Some(detail)), None);
                }
            },
        };
        match &error {
            TurnError::Ended => return (Ended::signed_out(), None),
            TurnError::Log(reason) => tracing::error!(run.id = live.id, reason, "a run could not be stored"),
            _ => {}
        }
        (Ended::new(RunState::Failed, Some(error.code()), Some(&error.to_string())), None)
    }

    /// Keeps the end of a run and leaves its message in the conversation. Of a run without an answer, the message has what
    /// the model wrote last.
    async fn finish(
        &self,
        live: &LiveRun,
        ended: &Ended,
        text: Option<String>,
        now: chrono::DateTime<chrono::Utc>,
    ) -> Result<(), ServiceError> {
        let run = live.run();
        let mut unit = self.store().begin().await?;
        let Some(mut row) = unit.find_run(&run.id).await? else {
            // The conversation was deleted, and the run with it.
            return Ok(());
        };
        row.state = state_row(ended.state);
        row.code.clone_from(&ended.code);
        row.detail.clone_from(&ended.detail);
        row.finished_at = Some(now);
        if !unit.finish_run(&row).await? {
            return Err(ServiceError::Internal(format!("the run {} was ended by something else", run.id)));
        }
        // Those in the store too of which nobody was told because the run was stopped at that moment.
        let at = rfc3339(now);
        for mut node in unit.list_run_nodes(&run.id).await? {
            if node.state == toolshelf_runtime::store::RunState::Running
                && run.nodes.iter().all(|known| known.number != node.number)
            {
                node.state = state_row(ended.state);
                node.finished_at = Some(now);
                unit.put_run_node(&node).await?;
            }
        }
        for node in end_nodes(&run, ended.state, &at) {
            unit.put_run_node(&node_row(&run.id, &node)?).await?;
        }
        let written = || {
            let last = run.nodes.iter().rev().find(|node| node.kind == toolshelf_api::NodeKind::ModelCall);
            last.map(|node| node.text.clone()).unwrap_or_default()
        };
        let text = text.unwrap_or_else(written);
        unit.append_message(&answer(&row, self.environment().new_id(), text)).await?;
        unit.commit().await?;
        Ok(())
    }
}

/// Keeps the parts of a run, and tells whoever listens.
struct Log<'a> {
    service: &'a Service,
    live: &'a LiveRun,
    actor: &'a Actor,
    model: String,
    /// The number of the next part; 1 is the message.
    next: AtomicU32,
}

impl Log<'_> {
    async fn put(&self, mut unit: Box<dyn UnitOfWork>, node: RunNode) -> Result<(), ServiceError> {
        unit.put_run_node(&node_row(&self.live.id, &node)?).await?;
        unit.commit().await?;
        self.live.publish(self.service.events(), RunEvent::Node { node: Box::new(node) });
        Ok(())
    }
}

fn not_kept(error: ServiceError) -> TurnError {
    match error {
        ServiceError::Unauthenticated(_) => TurnError::Ended,
        other => TurnError::Log(chain(&other)),
    }
}

/// An error with its causes, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[async_trait]
impl TurnLog for Log<'_> {
    async fn begin(&self, part: Begin<'_>) -> Result<u32, TurnError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (kind, parent, name, arguments) = match part {
            Begin::ModelCall => (toolshelf_api::NodeKind::ModelCall, None, self.model.clone(), None),
            Begin::ToolCall { parent, call } => (
                toolshelf_api::NodeKind::ToolCall,
                Some(parent),
                call.name.clone(),
                Some(call.shown_arguments()),
            ),
        };
        // A part begins only for somebody who still stands when it is kept.
        let unit = self.service.begin_for(self.actor).await.map_err(not_kept)?;
        let node = RunNode {
            number,
            parent,
            kind,
            state: RunState::Running,
            name,
            arguments,
            text: String::new(),
            code: None,
            verdict: None,
            started_at: rfc3339(self.service.now()),
            finished_at: None,
        };
        self.put(unit, node).await.map_err(not_kept)?;
        Ok(number)
    }

    fn wrote(&self, number: u32, text: &str) {
        self.live.publish(self.service.events(), RunEvent::Delta { number, text: text.to_owned() });
    }

    async fn end(&self, number: u32, end: End) -> Result<(), TurnError> {
        let Some(node) = self.live.node(number) else {
            return Err(TurnError::Log(format!("part {number} never began")));
        };
        let node = RunNode {
            state: if end.code.is_some() { RunState::Failed } else { RunState::Done },
            text: end.text.unwrap_or(node.text),
            code: end.code,
            verdict: end.verdict,
            finished_at: Some(rfc3339(self.service.now())),
            ..node
        };
        // What has happened is kept, whoever still stands.
        let unit = self.service.store().begin().await.map_err(|error| not_kept(error.into()))?;
        self.put(unit, node).await.map_err(not_kept)
    }

    async fn loaded(&self, loaded: &[Loaded]) -> Result<(), TurnError> {
        let keep = self.service.keep_loaded(&self.live.conversation_id, loaded);
        keep.await.map_err(not_kept)
    }
}
