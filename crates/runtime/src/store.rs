//! The store port: rows, and units of work over them.
//!
//! A unit of work is one transaction: it is rolled back unless it is committed. Looking up returns an `Option`;
//! that nothing was found is no error. One trait for each kind of row keeps each small; a unit of work has all.

mod accounts;
mod audit;
mod conversations;
mod profiles;
mod runs;
mod settings;
mod tool_states;
mod upstreams;

use async_trait::async_trait;

pub use accounts::{Accounts, ApiKeyRow, ApiKeys, SessionRow, Sessions, SetupTokens, UserRow};
pub use audit::{Audit, AuditRow, NewAudit};
pub use conversations::{
    ConversationRow, ConversationUse, Conversations, FallbackOrigin, TodoRow, TodoStatus, Todos,
};
pub use profiles::{ProfileRow, ProfileVersionRow, Profiles, RetiredNameRow};
pub use runs::{MessageRole, MessageRow, NodeKind, RunNodeRow, RunRow, RunState, Runs};
pub use settings::{ActiveRow, Settings};
pub use tool_states::{ToolStateRow, ToolStates};
pub use upstreams::{LoadedToolRow, LoadedTools, McpServerRow, McpServers, UpstreamToolRow};

/// Says why the store did not do as asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A row with this unique value exists.
    #[error("{0} is taken")]
    Taken(&'static str),
    /// A stored value cannot be read.
    #[error("stored data is damaged: {0}")]
    Corrupt(String),
    /// The database does not answer.
    #[error("the database failed")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Opens units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// A unit of work that may write. Writers wait for each other.
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError>;

    /// A unit of work that reads one consistent state and never waits for a writer.
    async fn read(&self) -> Result<Box<dyn UnitOfWork>, StoreError>;
}

/// One transaction.
#[async_trait]
pub trait UnitOfWork:
    Accounts
    + ApiKeys
    + Audit
    + Conversations
    + LoadedTools
    + McpServers
    + Profiles
    + Runs
    + Sessions
    + Settings
    + SetupTokens
    + Todos
    + ToolStates
    + Send
{
    /// The revision of everything that snapshots show.
    async fn snapshot_revision(&mut self) -> Result<u64, StoreError>;

    /// Raises the revision of everything that snapshots show by one, and returns it.
    async fn raise_snapshot_revision(&mut self) -> Result<u64, StoreError>;

    /// Makes the changes last. When this returns, they survive a loss of power.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
