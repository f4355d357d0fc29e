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
    /// The toolset that a person picked, as a stored reference: `default`, `none` or `profile:ID`.
    pub pick: Option<String>,
    /// The toolset that it started with, as a stored reference, and what that was.
    pub fallback: Option<(String, FallbackOrigin)>,
    /// The pin of the API key that made it, as a stored reference.
    pub pin: Option<String>,
    /// The model that answers.
    pub model: String,
    /// Whether it has tools at all.
    pub tools_enabled: bool,
    /// Whether the `web` group is added or taken away.
    pub web_search: Option<bool>,
    /// Whether a person reads along.
    pub attended: bool,
    /// Grows with each change.
    pub revision: u64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a conversation's fallback was when the conversation was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackOrigin {
    /// The user's start profile.
    Start,
    /// The workspace's active profile.
    Active,
}

/// How many conversations of one user refer to a toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationUse {
    /// The stored reference.
    pub reference: String,
    /// The user.
    pub user_id: String,
    /// How many conversations, each counted once.
    pub conversations: u64,
}

/// Conversations.
#[async_trait]
pub trait Conversations {
    /// Adds a conversation.
    async fn insert_conversation(&mut self, conversation: &ConversationRow) -> Result<(), StoreError>;
    /// The conversation with this id.
    async fn find_conversation(&mut self, id: &str) -> Result<Option<ConversationRow>, StoreError>;
    /// A user's conversations with an id below `before` (all if absent), newest first, at most `limit`; of those whose
    /// title holds `query` in any letter case, if there is one.
    async fn list_conversations(
        &mut self,
        user_id: &str,
        query: Option<&str>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError>;
    /// How many conversations a user has; of those whose title holds `query`, if there is one.
    async fn count_conversations(&mut self, user_id: &str, query: Option<&str>) -> Result<u64, StoreError>;
    /// Replaces everything but id, owner, fallback, pin and `created_at`, if the stored revision is
    /// `expected_revision`; says whether it was.
    async fn update_conversation(
        &mut self,
        conversation: &ConversationRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError>;
    /// Which profiles conversations refer to, by pick, fallback or pin; all, or those of one reference.
    async fn list_conversation_uses(
        &mut self,
        reference: Option<&str>,
    ) -> Result<Vec<ConversationUse>, StoreError>;
    /// Makes every conversation that refers to one toolset refer to another one.
    async fn repoint_conversations(&mut self, from: &str, to: &str) -> Result<(), StoreError>;
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
