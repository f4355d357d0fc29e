//! What is said in conversations, and the runs in between.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::StoreError;

/// How far a run, or a part of one, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It goes on.
    Running,
    /// It ended with an answer.
    Done,
    /// It ended with an error.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// The server stopped in the middle of it.
    Interrupted,
}

/// What a part of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The message that started the run.
    UserMessage,
    /// A question to the model, and what it wrote.
    ModelCall,
    /// A call of a tool.
    ToolCall,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The id.
    pub id: String,
    /// The conversation that it belongs to.
    pub conversation_id: String,
    /// How far it is.
    pub state: RunState,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
    /// Why it failed, for a person.
    pub detail: Option<String>,
    /// The revision of the snapshot that it began with.
    pub snapshot_revision: u64,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunNodeRow {
    /// The run.
    pub run_id: String,
    /// 1, 2, 3 within the run.
    pub number: u32,
    /// The part that it belongs to.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: NodeKind,
    /// How far it is.
    pub state: RunState,
    /// The model's or the tool's name.
    pub name: String,
    /// The arguments of a tool call.
    pub arguments: Option<Value>,
    /// The message, what the model wrote, or the result.
    pub text: String,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
    /// Why the tool was refused.
    pub verdict: Option<Value>,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRow {
    /// The conversation.
    pub conversation_id: String,
    /// 1, 2, 3 within the conversation; what it is when it is added is up to the store.
    pub number: u64,
    /// The id.
    pub id: String,
    /// Who said it.
    pub role: MessageRole,
    /// What was said.
    pub text: String,
    /// The run that it started, or that wrote it.
    pub run_id: String,
    /// What it said about tools, a profile by its stored reference.
    pub tools_override: Option<Value>,
    /// When it was said.
    pub created_at: DateTime<Utc>,
}

/// Messages and runs.
#[async_trait]
pub trait Runs {
    /// Adds a run. [`StoreError::Taken`] with `conversation_id` if another one goes on in its conversation.
    async fn insert_run(&mut self, run: &RunRow) -> Result<(), StoreError>;
    /// The run with this id.
    async fn find_run(&mut self, id: &str) -> Result<Option<RunRow>, StoreError>;
    /// The run that goes on in a conversation.
    async fn find_running(&mut self, conversation_id: &str) -> Result<Option<RunRow>, StoreError>;
    /// Ends a run that goes on; says whether it did.
    async fn finish_run(&mut self, run: &RunRow) -> Result<bool, StoreError>;
    /// Every run that goes on, by id.
    async fn list_running(&mut self) -> Result<Vec<RunRow>, StoreError>;
    /// Adds a part of a run, or replaces it.
    async fn put_run_node(&mut self, node: &RunNodeRow) -> Result<(), StoreError>;
    /// The parts of a run by number.
    async fn list_run_nodes(&mut self, run_id: &str) -> Result<Vec<RunNodeRow>, StoreError>;

    /// Adds a message at the end of its conversation, and returns its number.
    async fn append_message(&mut self, message: &MessageRow) -> Result<u64, StoreError>;
    /// A conversation's messages with a number below `before` (all if absent), newest first, at most `limit`.
    async fn list_messages(
        &mut self,
        conversation_id: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError>;
    /// What a model is told of a conversation: what the person said, and the answers of runs that are done; newest first,
    /// at most `limit`.
    async fn list_told(&mut self, conversation_id: &str, limit: u32) -> Result<Vec<MessageRow>, StoreError>;
    /// How many messages a conversation has.
    async fn count_messages(&mut self, conversation_id: &str) -> Result<u64, StoreError>;
    /// The runs of a conversation's messages with numbers from `first` to `last`, by id.
    async fn list_runs_of_messages(
        &mut self,
        conversation_id: &str,
        first: u64,
        last: u64,
    ) -> Result<Vec<RunRow>, StoreError>;
    /// The tool calls of the runs of a conversation's messages with numbers from `first` to `last`, by run and number.
    async fn list_tool_calls(
        &mut self,
        conversation_id: &str,
        first: u64,
        last: u64,
    ) -> Result<Vec<RunNodeRow>, StoreError>;
}
