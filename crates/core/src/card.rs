//! Tools as the API shows them. A card describes; it decides nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{Effect, Kind};

/// Why a tool waits for an admin's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeldKind {
    /// It was never seen before.
    New,
    /// Its definition changed.
    Changed,
    /// Its definition is as it was, and it comes from a server that is reached in another way.
    Moved,
}

/// A tool that waits for an admin's decision (L5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Held {
    /// Why it waits.
    pub kind: HeldKind,
    /// Since when, as RFC 3339 in UTC.
    pub since: String,
}

/// A tool that was declared and did not enter the registry (L1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotRegistered {
    /// The tool's name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Arc<str>,
    /// Why it was not registered.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub reason: Arc<str>,
}

/// A tool as the API shows it. It describes; it decides nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolCard {
    /// The name on the wire.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does.
    pub description: String,
    /// Where it comes from: `builtin`, `plugin:NAME` or `mcp:NAME`.
    pub source: String,
    /// A built-in's group, or an MCP tool's server.
    pub service: String,
    /// The name within the service.
    pub method: String,
    /// The arguments, as a JSON Schema; left out of summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub parameters: Option<Value>,
    /// Presets that the author put it in.
    pub toolsets: Vec<String>,
    /// Channels in which it is not used.
    pub unsafe_in: Vec<String>,
    /// Whether its schema comes on demand.
    pub defer: bool,
    /// Whether it works only inside a conversation.
    pub needs_conversation: bool,
    /// What it does, in one word.
    pub kind: Kind,
    /// What a call changes.
    pub effect: Effect,
    /// The global disable, if there is one.
    pub disabled: Option<Disabled>,
    /// Why it waits for an admin's decision, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// Whether it can run now.
    pub available: Available,
    /// Estimated tokens in a request.
    pub tokens: u32,
    /// Grows with each change to the global disable; the value of the `ETag`.
    pub revision: u64,
}

impl ToolCard {
    /// A tool of which only the name is known.
    pub(crate) fn missing(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            description: String::new(),
            source: "missing".to_owned(),
            service: String::new(),
            method: String::new(),
            parameters: None,
            toolsets: Vec::new(),
            unsafe_in: Vec::new(),
            defer: false,
            needs_conversation: false,
            kind: Kind::Read,
            effect: Effect::Read,
            disabled: None,
            held: None,
            available: Available { ok: false, reason: Some("It is not registered now.".to_owned()) },
            tokens: 0,
            revision: 0,
        }
    }
}

/// Who disabled a tool for everyone, why and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Disabled {
    /// The admin's user name.
    pub by: String,
    /// The admin's reason.
    pub reason: String,
    /// When, as RFC 3339 in UTC.
    pub at: String,
}

/// Whether a tool can run now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Available {
    /// Whether it can.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
