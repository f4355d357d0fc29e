//! Resolving a request without sending it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use toolshelf_core::{CatalogEntry, NotRegistered, Verdict};

/// Asks which tools a request would get, and why. It speaks for the caller.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// A toolset's name, or a list of exact tool names. Absent means what the conversation has, else the caller's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub toolset: Option<Value>,
    /// The conversation that the request belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Whether to answer as in a conversation that the caller would make now; not together with `conversation_id`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_conversation: bool,
    /// Which tools one message gets, where that differs from the conversation's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tools_override: Option<Value>,
    /// The model that the tools would be sent to; the conversation's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether a person reads along; the conversation's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// Channels to add to the one that this request comes over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<String>,
    /// Patterns of which a tool must match one; an empty list allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Patterns of tools to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Whether tools that cannot run now are removed; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_available: Option<bool>,
}

/// What a request gets, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Resolved {
    /// The revision of the snapshot.
    pub revision: u64,
    /// Tools whose schema ships, in the order in which they ship.
    pub tools: Vec<OfferedTool>,
    /// Tools whose schema comes on demand.
    pub deferred: Vec<CatalogEntry>,
    /// One verdict for each tool.
    pub verdicts: Vec<Verdict>,
    /// Tools that did not enter the registry.
    pub not_registered: Vec<NotRegistered>,
    /// What the tools cost.
    pub tokens: ResolveTokens,
    /// What exceeds the model's limits, so that the turn would not be sent.
    pub over_limit: Option<OverLimit>,
}

/// What exceeds a model's limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverLimit {
    /// `max_tools`, or `context_window`.
    pub kind: String,
    /// How much would be sent: tools, or tokens of tools.
    pub count: u64,
    /// How much the model takes.
    pub limit: u64,
    /// The three sources that weigh most.
    pub heaviest: Vec<HeavySource>,
}

/// A source of tools, and what it weighs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeavySource {
    /// The built-in group or the server.
    pub service: String,
    /// How many of its tools would be sent.
    pub tools: u64,
    /// Their estimated tokens.
    pub tokens: u32,
}

/// A tool as it ships to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OfferedTool {
    /// The name on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The arguments, as a JSON Schema.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub parameters: Value,
}

/// What the tools of a request cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResolveTokens {
    /// Offered and deferred together.
    pub total: u32,
    /// Names, descriptions and schemas of the offered tools.
    pub offered: u32,
    /// The catalog lines of the deferred tools.
    pub deferred: u32,
    /// The tokenizer, or `estimate`.
    pub method: String,
}
