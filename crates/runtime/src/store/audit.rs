//! The audit log: who changed what. It is written in the transaction of the change.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::StoreError;

/// An entry to write. It holds no secret and no call argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAudit {
    /// When.
    pub at: DateTime<Utc>,
    /// The user's name; absent when the system did it.
    pub actor: Option<String>,
    /// The name of the API key that spoke for the user.
    pub key: Option<String>,
    /// What was done, such as `tool.disabled`.
    pub action: &'static str,
    /// To what.
    pub target: String,
    /// A sentence with the particulars.
    pub detail: String,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Grows with each entry.
    pub id: i64,
    /// When.
    pub at: DateTime<Utc>,
    /// The user's name.
    pub actor: Option<String>,
    /// The name of the API key.
    pub key: Option<String>,
    /// What was done.
    pub action: String,
    /// To what.
    pub target: String,
    /// A sentence with the particulars.
    pub detail: String,
}

/// The audit log.
#[async_trait]
pub trait Audit {
    /// Adds an entry.
    async fn append_audit(&mut self, entry: &NewAudit) -> Result<(), StoreError>;
    /// Entries with an id below `before` (all if absent), newest first, at most `limit`.
    async fn list_audit(&mut self, before: Option<i64>, limit: u32) -> Result<Vec<AuditRow>, StoreError>;
    /// How many entries there are.
    async fn count_audit(&mut self) -> Result<u64, StoreError>;
}
