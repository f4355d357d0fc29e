//! Runs: what happens between a message and its answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolshelf_core::Verdict;

/// How far a run, or a part of one, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
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

impl RunState {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }
}

/// What a part of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The message that started the run.
    UserMessage,
    /// A question to the model, and what it wrote.
    ModelCall,
    /// A call of a tool.
    ToolCall,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunNode {
    /// 1, 2, 3 within the run, in the order in which parts began.
    pub number: u32,
    /// The part that it belongs to.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: NodeKind,
    /// How far it is.
    pub state: RunState,
    /// The model's or the tool's name; empty for a message.
    pub name: String,
    /// The arguments of a tool call, as the model wrote them.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub arguments: Option<Value>,
    /// The message, what the model wrote, or the tool's result.
    pub text: String,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
    /// Why the tool was refused.
    pub verdict: Option<Verdict>,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// The run's id.
    pub id: String,
    /// The conversation that it belongs to.
    pub conversation_id: String,
    /// How far it is.
    pub state: RunState,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
    /// Why it failed, for a person.
    pub detail: Option<String>,
    /// Its parts, in the order in which they began.
    pub nodes: Vec<RunNode>,
    /// The revision of the snapshot that it was resolved with.
    pub snapshot_revision: u64,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
}

/// What happens in a run, over server-sent events. On the wire its `kind` is the event's name, and its id is
/// `epoch.seq` of one sequence for the whole server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunEvent {
    /// The whole run: the first event of a stream, and the first one after a gap.
    Resync {
        /// The run as it is.
        run: Box<Run>,
    },
    /// A part began or ended.
    Node {
        /// The part as it is.
        node: Box<RunNode>,
    },
    /// A part's text grew.
    Delta {
        /// The part's number.
        number: u32,
        /// What to append to its text.
        text: String,
    },
    /// The run is over; nothing more follows.
    Finished {
        /// How it ended.
        state: RunState,
        /// Why it failed, as a stable code.
        code: Option<String>,
        /// Why it failed, for a person.
        detail: Option<String>,
    },
}

/// A model that can answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Model {
    /// What to write as `model`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it is, in one sentence.
    pub description: String,
    /// The most tools that one request may carry; absent means no limit.
    pub max_tools: Option<u32>,
    /// The most tokens that one request may carry.
    pub context_window: Option<u32>,
}
