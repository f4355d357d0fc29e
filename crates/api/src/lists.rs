//! Lists and the audit log.

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// What to send as `cursor` for the next page; absent on the last one.
    pub next_cursor: Option<String>,
    /// How many items there are on all pages.
    pub total: u64,
}

/// A change that somebody made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// Grows with each entry.
    pub id: i64,
    /// When, as RFC 3339 in UTC.
    pub at: String,
    /// The user's name; absent when the system did it.
    pub actor: Option<String>,
    /// The name of the API key that spoke for the user.
    pub key: Option<String>,
    /// What was done, such as `tool.disabled`.
    pub action: String,
    /// To what, such as a tool's name.
    pub target: String,
    /// A sentence with the particulars; holds no secret and no call argument.
    pub detail: String,
}
