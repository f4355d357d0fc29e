//! Importing upstream MCP servers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::upstreams::ShownConnection;

/// Imports servers from an `mcp.json` of Claude Desktop, Cursor or VS Code.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportMcpServers {
    /// The document: its text, in which comments and trailing commas may stand, or the object itself.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Value,
    /// Whether to add the servers. Without it nothing is changed, and the answer says what would be added.
    #[serde(default)]
    pub confirm: bool,
    /// Which of its servers to add, by the names that the document gives them; all, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Values for placeholders of the document, such as `${input:token}`, by what stands between the braces.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// What a document holds, or what was added from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedMcpServers {
    /// The servers, in the order of the document.
    pub servers: Vec<ImportedMcpServer>,
    /// Whether they were added.
    pub added: bool,
}

/// A server of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedMcpServer {
    /// What the document calls it.
    pub key: String,
    /// The name that it gets or has.
    pub name: String,
    /// How it would be reached; absent when that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ShownConnection>,
    /// Whether it would be connected at once.
    pub enabled: bool,
    /// Placeholders that need a value first, by what stands between the braces.
    pub needs: Vec<String>,
    /// Fields of the document that mean nothing here and are left out.
    pub ignored: Vec<String>,
    /// Why it cannot be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
