//! Tools of upstream MCP servers that wait for an admin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A tool that waits for an admin's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolChange {
    /// The tool's name on the wire.
    pub tool: String,
    /// Its name at the server.
    pub original: String,
    /// Why it waits.
    pub kind: ToolChangeKind,
    /// Since when.
    pub since: String,
    /// A hash of the definition that waits. A decision names it, so that nobody accepts what they did not see.
    pub definition: String,
    /// What would change, line by line.
    pub diff: Vec<DiffLine>,
}

/// Why a tool waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolChangeKind {
    /// It was never seen before.
    New,
    /// Its definition changed.
    Changed,
    /// Its definition is as it was, and it comes from a server that is reached in another way.
    Moved,
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffLine {
    /// Whether it stays, comes or goes.
    pub change: DiffChange,
    /// The line.
    pub text: String,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiffChange {
    /// It stays.
    Same,
    /// It comes.
    Added,
    /// It goes.
    Removed,
    /// Lines that stay are left out here.
    Skipped,
}

/// Decides about a tool that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecideChange {
    /// What is decided.
    pub decision: ChangeDecision,
    /// The definition that was seen: `definition` of the change. If another one waits now, nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

/// What is decided about a tool that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeDecision {
    /// Its new definition is in force from now on.
    Accept,
}

/// Accepts the definitions of several tools that wait, all or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AcceptChanges {
    /// The definitions that were seen, by the tools' names on the wire. If another one waits now, nothing is changed.
    pub definitions: BTreeMap<String, String>,
}
