//! The runs that go on, and what is left of those that are over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolshelf_api::{Run, RunEvent};
use toolshelf_runtime::Environment;
use toolshelf_runtime::store::{
    MessageRole, MessageRow, NodeKind, RunRow, RunState, Store, StoreError, UnitOfWork,
};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::events::EventId;
use crate::live_run::{LiveRun, RunSubscription, over};
use crate::run_shapes::{node_shape, run_shape};

/// What is said about a run that the server did not end.
pub(crate) const CUT_OFF: &str = "The server stopped in the middle of it. Send the message again.";

/// The runs that go on, by id. A run is here before its row is committed and until the row of its end is, so a row that
/// says `running` without its run here was cut off.
#[derive(Default)]
pub(crate) struct LiveRuns(Arc<Mutex<HashMap<String, Arc<LiveRun>>>>);

/// The place of a run among those that go on. Dropping it gives the place up.
pub(crate) struct Place {
    runs: Arc<Mutex<HashMap<String, Arc<LiveRun>>>>,
    id: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl LiveRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<LiveRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run for as long as the place is held.
    pub(crate) fn insert(&self, run: Arc<LiveRun>) -> Place {
        let id = run.id.clone();
        self.lock().insert(id.clone(), run);
        Place { runs: Arc::clone(&self.0), id }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        self.lock().get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveRun>> {
        self.lock().values().cloned().collect()
    }
}

/// Marks what seems to go on as interrupted. Meant for the start of the server, when nothing can be going on yet.
pub(crate) async fn cut_off_all(store: &dyn Store, environment: &Environment) -> Result<(), StoreError> {
    let mut unit = store.begin().await?;
    let cut = unit.list_running().await?;
    if cut.is_empty() {
        return Ok(());
    }
    for row in cut {
        cut_off(&mut *unit, row, environment).await?;
    }
    unit.commit().await
}

/// Marks a run as interrupted, with a message in its place in the conversation that carries its calls. Nothing of it runs
/// again.
pub(crate) async fn cut_off(
    unit: &mut dyn UnitOfWork,
    mut row: RunRow,
    environment: &Environment,
) -> Result<(), StoreError> {
    let now = environment.now();
    let mut text = String::new();
    for mut node in unit.list_run_nodes(&row.id).await? {
        if node.kind == NodeKind::ModelCall {
            text.clone_from(&node.text);
        }
        if node.state == RunState::Running {
            node.state = RunState::Interrupted;
            node.finished_at = Some(now);
            unit.put_run_node(&node).await?;
        }
    }
    row.state = RunState::Interrupted;
    row.detail = Some(CUT_OFF.to_owned());
    row.finished_at = Some(now);
    if unit.finish_run(&row).await? {
        unit.append_message(&answer(&row, environment.new_id(), text)).await?;
    }
    Ok(())
}

/// The message that a run leaves in its conversation.
pub(crate) fn answer(run: &RunRow, id: String, text: String) -> MessageRow {
    MessageRow {
        conversation_id: run.conversation_id.clone(),
        number: 0,
        id,
        role: MessageRole::Assistant,
        text,
        run_id: run.id.clone(),
        tools_override: None,
        created_at: run.finished_at.unwrap_or(run.started_at),
    }
}

impl Service {
    /// The row of one of the actor's runs, with its owner asked in the same state.
    async fn own_run(
        &self,
        unit: &mut dyn UnitOfWork,
        actor: &Actor,
        id: &str,
    ) -> Result<RunRow, ServiceError> {
        let row = unit.find_run(id).await?.ok_or_else(|| ServiceError::not_found("run", id))?;
        let owner = unit.find_conversation(&row.conversation_id).await?.map(|row| row.user_id);
        if owner.as_deref() != Some(actor.user_id()) {
            return Err(ServiceError::not_found("run", id));
        }
        Ok(row)
    }

    /// One of the actor's runs.
    pub async fn get_run(&self, actor: &Actor, id: &str) -> Result<Run, ServiceError> {
        let mut unit = self.store().read().await?;
        let mut row = self.own_run(&mut *unit, actor, id).await?;
        if row.state == RunState::Running {
            if let Some(live) = self.runs().get(id) {
                return Ok(live.run());
            }
            // It ended since it was read, or its end could not be stored.
            let mut writer = self.store().begin().await?;
            let now = self.own_run(&mut *writer, actor, id).await?;
            if now.state == RunState::Running {
                cut_off(&mut *writer, now, self.environment()).await?;
            }
            writer.commit().await?;
            unit = self.store().read().await?;
            row = self.own_run(&mut *unit, actor, id).await?;
        }
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

    /// Stops one of the actor's runs and waits for its end. One that is over stays as it is.
    pub async fn cancel_run(&self, actor: &Actor, id: &str) -> Result<Run, ServiceError> {
        self.get_run(actor, id).await?;
        if let Some(live) = self.runs().get(id) {
            let mut coming = live.subscribe(None).coming;
            live.cancel();
            // The run's task holds the sender too, so a task that fails ends the wait as well.
            drop(live);
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
        self.inner.stop_runs.cancel();
        self.inner.tasks.wait().await;
    }
}
