//! Saying something in a conversation: the turn, its run, and what was said.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use toolshelf_api::{CreateTurn, Message, Page, Run, RunEvent, RunNode, RunState, StartedRun};
use toolshelf_core::{Request, resolve};
use toolshelf_runtime::store::{
    MessageRole, MessageRow, NodeKind, RunNodeRow, RunRow, RunState as StoredState, StoreError,
};
use toolshelf_runtime::{Begin, End, Model, Said, TurnError, TurnLog, run_turn};

use crate::Service;
use crate::access::Denied;
use crate::authenticator::Actor;
use crate::conversations::UNTITLED;
use crate::error::ServiceError;
use crate::events::EventId;
use crate::live_run::{LiveRun, RunSubscription, StopReason, end_nodes, over};
use crate::requests::{Asked, turn_override};
use crate::run_shapes::{node_row, node_shape, run_shape, shown_override, state_row, stored_override};
use crate::times::rfc3339;
use crate::tools::over_limit;

/// The longest message, in characters.
const MESSAGE_MAX: usize = 100_000;
/// The longest title that is made of a message, in characters.
const TITLE_MAX: usize = 60;
/// How many earlier messages a model is told.
const TOLD_MAX: u32 = 200;

/// What a run needs beside its place.
struct Turn {
    actor: Actor,
    request: Request,
    model: Arc<dyn Model>,
    before: Vec<Said>,
    message: String,
}

impl Service {
    /// Says something in one of the actor's conversations and starts the run that answers it. Nothing is stored when
    /// it is refused.
    pub async fn create_turn(
        &self,
        actor: &Actor,
        conversation_id: &str,
        new: CreateTurn,
    ) -> Result<StartedRun, ServiceError> {
        if !actor.may_call() {
            return Err(ServiceError::Denied(Denied::MissingScope(toolshelf_api::KeyScope::Call)));
        }
        let length = new.message.chars().count();
        if new.message.trim().is_empty() || length > MESSAGE_MAX {
            return Err(ServiceError::invalid("/message", "Write 1 to 100,000 characters."));
        }
        let snapshot = self.registry().snapshot().load()?;
        let said = new.tools_override.unwrap_or_default();
        let turn = turn_override(&snapshot, &said)?;
        let tools_override = stored_override(said, &turn);
        // First, so that somebody else's conversation answers like one that does not exist.
        let conversation = self.own_conversation(actor, conversation_id).await?;
        let asked = Asked { conversation_id: Some(conversation_id.to_owned()), turn, ..Asked::default() };
        let request = self.request(actor, asked).await?;
        if let Some(over) = resolve(&snapshot, &request)?.over_limit {
            return Err(ServiceError::TooManyTools(over_limit(over)));
        }
        let model = self.model(&conversation.model)?;

        let (now, run_id) = (self.now(), self.environment().new_id());
        let run = RunRow {
            id: run_id.clone(),
            conversation_id: conversation_id.to_owned(),
            state: StoredState::Running,
            code: None,
            detail: None,
            snapshot_revision: snapshot.revision(),
            started_at: now,
            finished_at: None,
        };
        let message = MessageRow {
            conversation_id: conversation_id.to_owned(),
            number: 0,
            id: self.environment().new_id(),
            role: MessageRole::User,
            text: new.message.clone(),
            run_id: run_id.clone(),
            tools_override,
            created_at: now,
        };
        let node = RunNodeRow {
            run_id: run_id.clone(),
            number: 1,
            parent: None,
            kind: NodeKind::UserMessage,
            state: StoredState::Done,
            name: String::new(),
            arguments: None,
            text: new.message.clone(),
            code: None,
            verdict: None,
            started_at: now,
            finished_at: Some(now),
        };
        let mut unit = self.begin_for(actor).await?;
        let Some(mut conversation) = unit.find_conversation(conversation_id).await? else {
            return Err(ServiceError::not_found("conversation", conversation_id));
        };
        let mut before = unit.list_messages(conversation_id, None, TOLD_MAX).await?;
        before.reverse();
        unit.insert_run(&run).await.map_err(|error| match error {
            StoreError::Taken(_) => ServiceError::conflict(
                "run_active",
                "An answer is being written in this conversation. Wait for it, or stop it.",
            ),
            other => other.into(),
        })?;
        unit.append_message(&message).await?;
        unit.put_run_node(&node).await?;
        let revision = conversation.revision;
        if conversation.title == UNTITLED {
            conversation.title = titled(&new.message);
            conversation.revision += 1;
        }
        conversation.updated_at = now;
        unit.update_conversation(&conversation, revision).await?;
        unit.commit().await?;

        let live = Arc::new(LiveRun::new(run_shape(run, vec![node_shape(node)?]), self.events()));
        self.runs().insert(run_id.clone(), Arc::clone(&live));
        let turn = Turn {
            actor: actor.clone(),
            request,
            model,
            before: before.into_iter().map(told).collect(),
            message: new.message,
        };
        let service = self.clone();
        self.inner.tasks.spawn(async move { service.run_to_end(live, turn).await });
        Ok(StartedRun { run_id, message_id: message.id })
    }

    async fn run_to_end(&self, live: Arc<LiveRun>, turn: Turn) {
        let log = Log {
            service: self,
            live: &live,
            model: turn.model.info().name.clone(),
            next: AtomicU32::new(2),
        };
        let answer = run_turn(self.registry(), &*turn.model, &turn.request, turn.before, turn.message, &log);
        let answer = std::panic::AssertUnwindSafe(answer).catch_unwind();
        // What runs for somebody ends when that somebody no longer stands.
        let ended = tokio::select! {
            biased;
            () = live.stop.cancelled() => Err(match live.stop_reason() {
                StopReason::Cancelled => (RunState::Cancelled, None, None),
                StopReason::Interrupted => interrupted(),
            }),
            _ = self.ended(&turn.actor) => Err((
                RunState::Cancelled,
                Some("signed_out".to_owned()),
                Some("It stopped because the session or API key that asked for it ended.".to_owned()),
            )),
            answer = answer => match answer {
                Ok(Ok(text)) => Ok(text),
                Ok(Err(error)) => {
                    if let TurnError::Log(reason) = &error {
                        tracing::error!(reason, "a run could not be stored");
                    }
                    Err((RunState::Failed, Some(error.code().to_owned()), Some(error.to_string())))
                }
                Err(_) => Err((
                    RunState::Failed,
                    Some("execution_failed".to_owned()),
                    Some("It failed unexpectedly. The server's log has the details.".to_owned()),
                )),
            },
        };
        let (state, code, detail, text) = match ended {
            Ok(text) => (RunState::Done, None, None, Some(text)),
            Err((state, code, detail)) => (state, code, detail, None),
        };
        if let Err(error) = self.finish(&live, state, code.clone(), detail.clone(), text).await {
            tracing::error!(%error, "the end of a run could not be stored");
        }
        let at = rfc3339(self.now());
        for node in end_nodes(&live.run(), state, &at) {
            live.publish(self.events(), RunEvent::Node { node: Box::new(node) });
        }
        live.publish(self.events(), RunEvent::Finished { state, code, detail });
        self.runs().remove(&live.run().id);
    }

    /// Keeps the end of a run, and its answer. What a stopped run wrote so far is kept as what it is: a part of the run.
    async fn finish(
        &self,
        live: &LiveRun,
        state: RunState,
        code: Option<String>,
        detail: Option<String>,
        answer: Option<String>,
    ) -> Result<(), ServiceError> {
        let (run, now) = (live.run(), self.now());
        let mut unit = self.store().begin().await?;
        let Some(mut row) = unit.find_run(&run.id).await? else {
            // The conversation was deleted, and the run with it.
            return Ok(());
        };
        row.state = state_row(state);
        row.code = code;
        row.detail = detail;
        row.finished_at = Some(now);
        if !unit.finish_run(&row).await? {
            return Ok(());
        }
        for node in end_nodes(&run, state, &rfc3339(now)) {
            unit.put_run_node(&node_row(&run.id, &node)?).await?;
        }
        let written = run.nodes.iter().rev().find(|node| node.kind == toolshelf_api::NodeKind::ModelCall);
        let text = answer.or_else(|| written.map(|node| node.text.clone()).filter(|text| !text.is_empty()));
        let message = MessageRow {
            conversation_id: run.conversation_id.clone(),
            number: 0,
            id: self.environment().new_id(),
            role: MessageRole::Assistant,
            text: text.unwrap_or_default(),
            run_id: run.id.clone(),
            tools_override: None,
            created_at: now,
        };
        unit.append_message(&message).await?;
        unit.commit().await?;
        Ok(())
    }

    /// One page of what was said in one of the actor's conversations, newest first. The cursor is the number of the last
    /// message of the page before.
    pub async fn list_messages(
        &self,
        actor: &Actor,
        conversation_id: &str,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Message>, ServiceError> {
        let before = match cursor.map(str::parse) {
            None => None,
            Some(Ok(before)) => Some(before),
            Some(Err(_)) => return Err(ServiceError::invalid("cursor", "This is no cursor of this list.")),
        };
        self.own_conversation(actor, conversation_id).await?;
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.store().read().await?;
        let mut rows = unit.list_messages(conversation_id, before, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.number.to_string());
        let (last, first) =
            (rows.first().map_or(0, |row| row.number), rows.last().map_or(0, |row| row.number));
        let mut calls = std::collections::HashMap::<String, Vec<RunNode>>::new();
        for node in unit.list_tool_calls(conversation_id, first, last).await? {
            calls.entry(node.run_id.clone()).or_default().push(node_shape(node)?);
        }
        let total = unit.count_messages(conversation_id).await?;
        let items = rows
            .into_iter()
            .map(|row| Message {
                calls: match row.role {
                    MessageRole::Assistant => calls.remove(&row.run_id).unwrap_or_default(),
                    MessageRole::User => Vec::new(),
                },
                role: match row.role {
                    MessageRole::User => toolshelf_api::MessageRole::User,
                    MessageRole::Assistant => toolshelf_api::MessageRole::Assistant,
                },
                id: row.id,
                text: row.text,
                run_id: row.run_id,
                tools_override: row.tools_override.map(|said| shown_override(&snapshot, said)),
                created_at: rfc3339(row.created_at),
            })
            .collect();
        Ok(Page { items, next_cursor, total })
    }

    /// One of the actor's runs.
    pub async fn get_run(&self, actor: &Actor, id: &str) -> Result<Run, ServiceError> {
        let mut unit = self.store().read().await?;
        let row = unit.find_run(id).await?.ok_or_else(|| ServiceError::not_found("run", id))?;
        let owner = unit.find_conversation(&row.conversation_id).await?.map(|row| row.user_id);
        if owner.as_deref() != Some(actor.user_id()) {
            return Err(ServiceError::not_found("run", id));
        }
        if let Some(live) = self.runs().get(id) {
            return Ok(live.run());
        }
        // It may have ended in between, so it is read once more.
        let row = unit.find_run(id).await?.ok_or_else(|| ServiceError::not_found("run", id))?;
        let nodes = unit.list_run_nodes(id).await?.into_iter().map(node_shape).collect::<Result<_, _>>()?;
        Ok(run_shape(row, nodes))
    }

    /// Starts to listen to one of the actor's runs, after the last event that was heard.
    pub async fn listen_to_run(
        &self,
        actor: &Actor,
        id: &str,
        last_heard: Option<EventId>,
    ) -> Result<RunSubscription, ServiceError> {
        let run = self.get_run(actor, id).await?;
        if let Some(live) = self.runs().get(id) {
            return Ok(live.subscribe(last_heard));
        }
        let run = if run.state.is_over() { run } else { self.get_run(actor, id).await? };
        Ok(over(self.events().take_place(), run))
    }

    /// Stops one of the actor's runs. One that is over stays as it is.
    pub async fn cancel_run(&self, actor: &Actor, id: &str) -> Result<Run, ServiceError> {
        self.get_run(actor, id).await?;
        if let Some(live) = self.runs().get(id) {
            let mut coming = live.subscribe(None).coming;
            live.stop(StopReason::Cancelled);
            while let Some(receiver) = &mut coming {
                match receiver.recv().await {
                    Ok(event) if !matches!(event.event, RunEvent::Finished { .. }) => {}
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                    _ => break,
                }
            }
        }
        self.get_run(actor, id).await
    }

    /// Stops every run and waits for its end. Meant for the end of the server.
    pub async fn stop_runs(&self) {
        self.inner.tasks.close();
        for live in self.runs().all() {
            live.stop(StopReason::Interrupted);
        }
        self.inner.tasks.wait().await;
    }
}

fn interrupted() -> (RunState, Option<String>, Option<String>) {
    (
        RunState::Interrupted,
        None,
        Some("The server stopped in the middle of it. Send the message again.".to_owned()),
    )
}

/// A title made of a message: its first line, cut.
fn titled(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String =
        line.chars().filter(|c| !c.is_control() && !toolshelf_core::is_invisible(*c)).collect();
    if line.trim().is_empty() {
        return UNTITLED.to_owned();
    }
    if line.chars().count() <= TITLE_MAX {
        return line.trim().to_owned();
    }
    let cut: String = line.chars().take(TITLE_MAX - 1).collect();
    format!("{}…", cut.trim())
}

fn told(row: MessageRow) -> Said {
    match row.role {
        MessageRole::User => Said::User(row.text),
        MessageRole::Assistant => Said::Assistant(row.text),
    }
}

/// Keeps the parts of a run, and tells whoever listens.
struct Log<'a> {
    service: &'a Service,
    live: &'a LiveRun,
    model: String,
    /// The number of the next part; 1 is the message.
    next: AtomicU32,
}

impl Log<'_> {
    async fn put(&self, node: RunNode) -> Result<(), TurnError> {
        let failed = |error: &dyn std::fmt::Display| TurnError::Log(error.to_string());
        let row = node_row(&self.live.run().id, &node).map_err(|error| failed(&error))?;
        let mut unit = self.service.store().begin().await.map_err(|error| failed(&error))?;
        unit.put_run_node(&row).await.map_err(|error| failed(&error))?;
        unit.commit().await.map_err(|error| failed(&error))?;
        self.live.publish(self.service.events(), RunEvent::Node { node: Box::new(node) });
        Ok(())
    }
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
                Some(serde_json::Value::Object(call.arguments.clone())),
            ),
        };
        self.put(RunNode {
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
        })
        .await?;
        Ok(number)
    }

    fn wrote(&self, number: u32, text: &str) {
        self.live.publish(self.service.events(), RunEvent::Delta { number, text: text.to_owned() });
    }

    async fn end(&self, number: u32, end: End) -> Result<(), TurnError> {
        let Some(node) = self.live.run().nodes.into_iter().find(|node| node.number == number) else {
            return Err(TurnError::Log(format!("part {number} never began")));
        };
        self.put(RunNode {
            state: if end.code.is_some() { RunState::Failed } else { RunState::Done },
            text: end.text.unwrap_or(node.text),
            code: end.code,
            verdict: end.verdict,
            finished_at: Some(rfc3339(self.service.now())),
            ..node
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::titled;

    #[test]
    fn a_title_is_the_first_line() {
        for (message, title) in [
            ("\n  Weather in Oslo  \nand more", "Weather in Oslo".to_owned()),
            ("\u{202E}\u{200B}", "New conversation".to_owned()),
            (&"读".repeat(80), format!("{}…", "读".repeat(59))),
        ] {
            assert_eq!(titled(message), title);
        }
    }
}
