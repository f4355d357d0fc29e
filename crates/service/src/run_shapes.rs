//! Runs between their rows and what the API shows.

use serde_json::Value;
use toolshelf_api::{NodeKind, Run, RunNode, RunState};
use toolshelf_core::{Snapshot, TurnOverride};
use toolshelf_runtime::store::{
    NodeKind as StoredKind, RunNodeRow, RunRow, RunState as StoredState, StoreError,
};

use crate::error::ServiceError;
use crate::references;
use crate::times::{from_rfc3339, rfc3339};

pub(crate) fn state_row(state: RunState) -> StoredState {
    match state {
        RunState::Running => StoredState::Running,
        RunState::Done => StoredState::Done,
        RunState::Failed => StoredState::Failed,
        RunState::Cancelled => StoredState::Cancelled,
        RunState::Interrupted => StoredState::Interrupted,
    }
}

pub(crate) fn state_shape(state: StoredState) -> RunState {
    match state {
        StoredState::Running => RunState::Running,
        StoredState::Done => RunState::Done,
        StoredState::Failed => RunState::Failed,
        StoredState::Cancelled => RunState::Cancelled,
        StoredState::Interrupted => RunState::Interrupted,
    }
}

pub(crate) fn run_shape(row: RunRow, nodes: Vec<RunNode>) -> Run {
    Run {
        id: row.id,
        conversation_id: row.conversation_id,
        state: state_shape(row.state),
        code: row.code,
        detail: row.detail,
        nodes,
        snapshot_revision: row.snapshot_revision,
        started_at: rfc3339(row.started_at),
        finished_at: row.finished_at.map(rfc3339),
    }
}

pub(crate) fn node_shape(row: RunNodeRow) -> Result<RunNode, ServiceError> {
    let verdict =
        row.verdict.map(serde_json::from_value).transpose().map_err(|error| {
            StoreError::Corrupt(format!("run_nodes.verdict of run {}: {error}", row.run_id))
        })?;
    Ok(RunNode {
        number: row.number,
        parent: row.parent,
        kind: match row.kind {
            StoredKind::UserMessage => NodeKind::UserMessage,
            StoredKind::ModelCall => NodeKind::ModelCall,
            StoredKind::ToolCall => NodeKind::ToolCall,
        },
        state: state_shape(row.state),
        name: row.name,
        arguments: row.arguments,
        text: row.text,
        code: row.code,
        verdict,
        started_at: rfc3339(row.started_at),
        finished_at: row.finished_at.map(rfc3339),
    })
}

pub(crate) fn node_row(run_id: &str, node: &RunNode) -> Result<RunNodeRow, ServiceError> {
    let time =
        |text: &str| from_rfc3339(text).ok_or_else(|| ServiceError::Internal(format!("{text:?} is no time")));
    Ok(RunNodeRow {
        run_id: run_id.to_owned(),
        number: node.number,
        parent: node.parent,
        kind: match node.kind {
            NodeKind::UserMessage => StoredKind::UserMessage,
            NodeKind::ModelCall => StoredKind::ModelCall,
            NodeKind::ToolCall => StoredKind::ToolCall,
        },
        state: state_row(node.state),
        name: node.name.clone(),
        arguments: node.arguments.clone(),
        text: node.text.clone(),
        code: node.code.clone(),
        verdict: node
            .verdict
            .as_ref()
            .map(serde_json::to_value)
            .transpose()
            .map_err(|error| ServiceError::Internal(format!("a verdict cannot be written: {error}")))?,
        started_at: time(&node.started_at)?,
        finished_at: node.finished_at.as_deref().map(time).transpose()?,
    })
}

/// What a message said about tools, as it is stored: as sent, but a profile by its id, so that a rename changes nothing
/// and nobody else's profile takes its place.
pub(crate) fn stored_override(mut said: Value, turn: &TurnOverride) -> Option<Value> {
    if let (Some(name), Some(reference)) =
        (said.get_mut("profile"), turn.toolset().and_then(references::stored))
    {
        *name = Value::String(reference);
    }
    let says_nothing = said.is_null() || said.as_object().is_some_and(serde_json::Map::is_empty);
    (!says_nothing).then_some(said)
}

/// The same as people read and resend it.
pub(crate) fn shown_override(snapshot: &Snapshot, mut said: Value) -> Value {
    if let Some(Value::String(reference)) = said.get_mut("profile") {
        *reference = references::shown(snapshot, reference);
    }
    said
}
