//! Conversations and their todo lists.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::StoreError;

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// The id.
    pub id: String,
    /// Whose conversation it is.
    pub user_id: String,
    /// What it is about.
    pub title: String,
    /// Grows with each change.
    pub revision: u64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Conversations.
#[async_trait]
pub trait Conversations {
    /// Adds a conversation.
    async fn insert_conversation(&mut self, conversation: &ConversationRow) -> Result<(), StoreError>;
    /// The conversation with this id.
    async fn find_conversation(&mut self, id: &str) -> Result<Option<ConversationRow>, StoreError>;
    /// A user's conversations with an id below `before` (all if absent), newest first, at most `limit`.
    async fn list_conversations(
        &mut self,
        user_id: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError>;
    /// How many conversations a user has.
    async fn count_conversations(&mut self, user_id: &str) -> Result<u64, StoreError>;
    /// Removes a conversation with all that belongs to it.
    async fn delete_conversation(&mut self, id: &str) -> Result<(), StoreError>;
}

/// How far a todo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Done,
}

/// A todo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoRow {
    /// The conversation that it belongs to.
    pub conversation_id: String,
    /// 1, 2, 3 within the conversation.
    pub number: u32,
    /// What to do.
    pub text: String,
    /// How far it is.
    pub status: TodoStatus,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// Todo lists.
#[async_trait]
pub trait Todos {
    /// Adds todos at the end of a conversation's list, all pending; returns their numbers.
    async fn append_todos(
        &mut self,
        conversation_id: &str,
        texts: &[String],
        at: DateTime<Utc>,
    ) -> Result<Vec<u32>, StoreError>;
    /// A conversation's list by number.
    async fn list_todos(&mut self, conversation_id: &str) -> Result<Vec<TodoRow>, StoreError>;
}
