//! What was said in conversations.

use std::collections::HashMap;

use toolshelf_api::{Message, Page, RunNode};
use toolshelf_runtime::store::{MessageRole, StoreError};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::run_shapes::{node_shape, shown_override, state_shape};
use crate::times::rfc3339;

impl Service {
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
        let mut calls = HashMap::<String, Vec<RunNode>>::new();
        for node in unit.list_tool_calls(conversation_id, first, last).await? {
            calls.entry(node.run_id.clone()).or_default().push(node_shape(node)?);
        }
        let mut runs = HashMap::new();
        for run in unit.list_runs_of_messages(conversation_id, first, last).await? {
            runs.insert(run.id.clone(), run);
        }
        let total = unit.count_messages(conversation_id).await?;
        let items = rows
            .into_iter()
            .map(|row| {
                let run = runs.get(&row.run_id).ok_or_else(|| {
                    let place = format!("messages where id = {}", row.id);
                    StoreError::Corrupt(format!("{place}: there is no run {}", row.run_id))
                })?;
                Ok(Message {
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
                    state: state_shape(run.state),
                    code: run.code.clone(),
                    detail: run.detail.clone(),
                    run_id: row.run_id,
                    tools_override: row.tools_override.map(|said| shown_override(&snapshot, said)),
                    created_at: rfc3339(row.created_at),
                })
            })
            .collect::<Result<_, ServiceError>>()?;
        Ok(Page { items, next_cursor, total })
    }
}
