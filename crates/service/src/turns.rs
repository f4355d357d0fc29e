//! Saying something in a conversation.

use std::sync::Arc;

use toolshelf_api::{CreateTurn, StartedRun};
use toolshelf_core::resolve;
use toolshelf_runtime::Said;
use toolshelf_runtime::store::{MessageRole, MessageRow, NodeKind, RunNodeRow, RunRow, RunState};

use crate::Service;
use crate::access::Denied;
use crate::authenticator::Actor;
use crate::conversations::UNTITLED;
use crate::error::ServiceError;
use crate::live_run::LiveRun;
use crate::requests::{Asked, turn_override};
use crate::run_shapes::{node_shape, run_shape, stored_override};
use crate::run_task::Turn;
use crate::runs::cut_off;
use crate::tools::over_limit;

/// The longest message, in characters.
const MESSAGE_MAX: usize = 100_000;
/// The longest title that is made of a message, in characters.
const TITLE_MAX: usize = 60;
/// How many earlier messages a model is told.
const TOLD_MAX: u32 = 200;
/// How much of them, in bytes.
const TOLD_BYTES: usize = 1_000_000;

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
            state: RunState::Running,
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
            state: RunState::Done,
            name: String::new(),
            arguments: None,
            text: new.message.clone(),
            code: None,
            verdict: None,
            started_at: now,
            finished_at: Some(now),
        };
        let turn = Turn { actor: actor.clone(), request, model, before: Vec::new(), message: new.message };
        let started = StartedRun { run_id, message_id: message.id.clone() };
        let (service, live) = (self.clone(), self.new_live_run(&run, &node)?);
        // Beginning is a task of its own: a client that goes away cannot part the row of a run from the run.
        let begun =
            self.inner.tasks.spawn(async move { service.begin_run(live, run, message, node, turn).await });
        begun.await.map_err(|error| ServiceError::Internal(format!("a turn failed: {error}")))??;
        Ok(started)
    }

    fn new_live_run(&self, run: &RunRow, node: &RunNodeRow) -> Result<Arc<LiveRun>, ServiceError> {
        let run = run_shape(run.clone(), vec![node_shape(node.clone())?]);
        Ok(Arc::new(LiveRun::new(run, self.events(), self.inner.stop_runs.child_token())))
    }

    /// Keeps the message with its run, and starts it.
    async fn begin_run(
        &self,
        live: Arc<LiveRun>,
        run: RunRow,
        message: MessageRow,
        node: RunNodeRow,
        mut turn: Turn,
    ) -> Result<(), ServiceError> {
        let id = &run.conversation_id;
        let mut unit = self.begin_for(&turn.actor).await?;
        let Some(mut conversation) = unit.find_conversation(id).await? else {
            return Err(ServiceError::not_found("conversation", id));
        };
        if let Some(other) = unit.find_running(id).await? {
            if self.runs().get(&other.id).is_some() {
                return Err(ServiceError::RunActive { run_id: other.id });
            }
            // Its end could not be stored. It must not block the conversation until the server starts anew.
            cut_off(&mut *unit, other, self.environment()).await?;
        }
        turn.before = told(unit.list_told(id, TOLD_MAX).await?);
        unit.insert_run(&run).await?;
        unit.append_message(&message).await?;
        unit.put_run_node(&node).await?;
        let revision = conversation.revision;
        if conversation.title == UNTITLED {
            conversation.title = titled(&turn.message);
            conversation.revision += 1;
        }
        conversation.updated_at = run.started_at;
        if !unit.update_conversation(&conversation, revision).await? {
            return Err(ServiceError::Internal(format!("the conversation {id} changed in a transaction")));
        }
        let place = self.runs().insert(Arc::clone(&live));
        unit.commit().await?;
        let service = self.clone();
        self.inner.tasks.spawn(async move {
            service.run_to_end(&live, turn).await;
            drop(place);
        });
        Ok(())
    }
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

/// What a model is told of the conversation: the latest messages, oldest first, as many as there is room for.
fn told(newest_first: Vec<MessageRow>) -> Vec<Said> {
    let mut room = TOLD_BYTES;
    let mut told: Vec<Said> = newest_first
        .into_iter()
        .filter(|row| !row.text.is_empty())
        .map_while(|row| {
            room = room.checked_sub(row.text.len())?;
            Some(match row.role {
                MessageRole::User => Said::User(row.text),
                MessageRole::Assistant => Said::Assistant(row.text),
            })
        })
        .collect();
    told.reverse();
    told
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
