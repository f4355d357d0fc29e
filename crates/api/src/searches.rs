//! Searching tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Searches the tools that could be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SearchTools {
    /// What is looked for; several at once work better than one long text.
    pub queries: Vec<String>,
    /// The toolset to search; the caller's own, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// The most tools, 1 to 20; 5 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundTools {
    /// The tools, best first.
    pub items: Vec<FoundTool>,
    /// Names that were asked for exactly and are no tools that could be called.
    pub unknown: Vec<String>,
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundTool {
    /// The name on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The arguments, as a JSON Schema.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub parameters: Value,
    /// How well it fits; larger is better.
    pub score: f64,
    /// Whether its schema is sent anyway.
    pub already_available: bool,
}
