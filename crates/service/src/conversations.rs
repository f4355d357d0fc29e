//! Conversations, as far as tools that need one go.

use toolshelf_api::{ChosenToolset, Conversation, CreateConversation, Page, ToolsetOrigin};
use toolshelf_runtime::store::ConversationRow;

use crate::Service;
use crate::account_rules::Fields;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::times::rfc3339;

fn shape(row: ConversationRow) -> Conversation {
    Conversation {
        id: row.id,
        title: row.title,
        profile: None,
        toolset: ChosenToolset { name: "default".to_owned(), origin: ToolsetOrigin::Default, missing: false },
        model: "console".to_owned(),
        agent: None,
        tools_enabled: true,
        web_search: None,
        attended: true,
        loaded: Vec::new(),
        revision: row.revision,
        created_at: rfc3339(row.created_at),
        updated_at: rfc3339(row.updated_at),
    }
}

/// Whether a text has the form of an id, a UUID in lower case.
fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && groups.concat().bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Service {
    /// One page of the actor's conversations, newest first. The cursor is the id of the last one of the page before.
    pub async fn list_conversations(
        &self,
        actor: &Actor,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Conversation>, ServiceError> {
        if cursor.is_some_and(|cursor| !is_id(cursor)) {
            return Err(ServiceError::invalid("cursor", "This is no cursor of this list."));
        }
        let mut unit = self.store().read().await?;
        let mut rows = unit.list_conversations(actor.user_id(), cursor, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.id.clone());
        let total = unit.count_conversations(actor.user_id()).await?;
        Ok(Page { items: rows.into_iter().map(shape).collect(), next_cursor, total })
    }

    /// Makes a conversation.
    pub async fn create_conversation(
        &self,
        actor: &Actor,
        new: CreateConversation,
    ) -> Result<Conversation, ServiceError> {
        let title = new.title.unwrap_or_else(|| "New conversation".to_owned());
        let mut fields = Fields::default();
        fields.line("/title", title.trim(), 200);
        fields.finish()?;
        let now = self.now();
        let row = ConversationRow {
            id: self.environment().new_id(),
            user_id: actor.user_id().to_owned(),
            title: title.trim().to_owned(),
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        let mut unit = self.begin_for(actor).await?;
        unit.insert_conversation(&row).await?;
        unit.commit().await?;
        Ok(shape(row))
    }

    /// One of the actor's conversations.
    pub async fn get_conversation(&self, actor: &Actor, id: &str) -> Result<Conversation, ServiceError> {
        self.own_conversation(actor, id).await.map(shape)
    }

    /// Removes one of the actor's conversations with all that belongs to it.
    pub async fn delete_conversation(
        &self,
        actor: &Actor,
        id: &str,
        expected_revision: Option<u64>,
    ) -> Result<(), ServiceError> {
        let mut unit = self.begin_for(actor).await?;
        let row = unit.find_conversation(id).await?.filter(|row| row.user_id == actor.user_id());
        let Some(row) = row else { return Err(ServiceError::not_found("conversation", id)) };
        if expected_revision.is_some_and(|expected| expected != row.revision) {
            let current = serde_json::to_value(shape(row)).map_err(|error| {
                ServiceError::Internal(format!("a conversation cannot be written as JSON: {error}"))
            })?;
            return Err(ServiceError::Stale { current });
        }
        unit.delete_conversation(id).await?;
        unit.commit().await?;
        Ok(())
    }

    /// Another user's conversation answers like one that does not exist.
    pub(crate) async fn own_conversation(
        &self,
        actor: &Actor,
        id: &str,
    ) -> Result<ConversationRow, ServiceError> {
        let row = self.store().read().await?.find_conversation(id).await?;
        row.filter(|row| row.user_id == actor.user_id())
            .ok_or_else(|| ServiceError::not_found("conversation", id))
    }
}
