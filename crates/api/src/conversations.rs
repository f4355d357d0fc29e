//! Conversations: who picked which tools for them, and what was said.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::Change;
use crate::runs::{RunNode, RunState};

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conversation {
    /// The conversation's id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The toolset that a person picked for it; absent while nobody has.
    pub profile: Option<String>,
    /// The toolset that is in force, and what it comes from.
    pub toolset: ChosenToolset,
    /// The model that answers.
    pub model: String,
    /// The agent that it belongs to.
    pub agent: Option<String>,
    /// Whether it has tools at all.
    pub tools_enabled: bool,
    /// Whether the `web` group is added or taken away; absent means as the toolset says.
    pub web_search: Option<bool>,
    /// Whether a person reads along. Off is the switch "Unattended".
    pub attended: bool,
    /// The deferred tools that it has loaded.
    pub loaded: Vec<String>,
    /// Grows with each change; the value of the `ETag`.
    pub revision: u64,
    /// When it was made.
    pub created_at: String,
    /// When it was last changed, or something was said in it.
    pub updated_at: String,
}

/// A toolset that somebody or something chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChosenToolset {
    /// Its name now; empty if it is gone.
    pub name: String,
    /// What it comes from.
    pub origin: ToolsetOrigin,
    /// Whether it is gone, so that it offers nothing.
    pub missing: bool,
}

/// What a toolset comes from, when nobody names one for a single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolsetOrigin {
    /// The API key is pinned to it.
    Pin,
    /// A person picked it for the conversation.
    Pick,
    /// It was the user's start profile when the conversation was made.
    Start,
    /// It was the workspace's active profile when the conversation was made.
    Active,
    /// Nobody chose.
    Default,
}

/// Makes a conversation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateConversation {
    /// What it is about; at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The toolset that the person picks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The model that answers; `console` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent that it belongs to. There are none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether it has tools at all; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_enabled: Option<bool>,
    /// Whether the `web` group is added or taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search: Option<bool>,
    /// Whether a person reads along; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
}

/// Changes a conversation. Absent fields stay; null takes back a pick or the choice about the web.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateConversation {
    /// What it is about; at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The toolset that the person picks; null leaves the choice to whatever comes after the person.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub profile: Change<String>,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether it has tools at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_enabled: Option<bool>,
    /// Whether the `web` group is added or taken away; null means as the toolset says.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<bool>))]
    pub web_search: Change<bool>,
    /// Whether a person reads along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
}

/// Says something in a conversation, which starts a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateTurn {
    /// What is said; 1 to 100,000 characters.
    pub message: String,
    /// Which tools this message gets, where that differs from the conversation's own settings: a list of exact names,
    /// or an object with `tools`, `profile`, `web_search`, `add` and `remove`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tools_override: Option<Value>,
}

/// A run that has started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StartedRun {
    /// The run's id.
    pub run_id: String,
    /// The id of the message that was said.
    pub message_id: String,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// The message's id; ids grow with time.
    pub id: String,
    /// Who said it.
    pub role: MessageRole,
    /// What was said. It is data: for an assistant, whatever the model wrote.
    pub text: String,
    /// The run that it started, or that wrote it.
    pub run_id: String,
    /// How far that run is. An answer whose run is not `done` is what was written until it ended.
    pub state: RunState,
    /// Why the run failed or was stopped, as a stable code.
    pub code: Option<String>,
    /// Why the run failed or was stopped, for a person.
    pub detail: Option<String>,
    /// What was said about tools with it, as it was sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tools_override: Option<Value>,
    /// For an assistant: the tool calls of its run, in the order in which they began.
    pub calls: Vec<RunNode>,
    /// When it was said.
    pub created_at: String,
}
