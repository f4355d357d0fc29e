//! What the workspace and each user set once. Toolsets are stored references: `default`, `none` or `profile:ID`.

use async_trait::async_trait;

use super::StoreError;

/// The workspace's active toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveRow {
    /// The stored reference.
    pub reference: String,
    /// Grows with each change.
    pub revision: u64,
}

/// Settings.
#[async_trait]
pub trait Settings {
    /// The active toolset; none if it was never set.
    async fn find_active_toolset(&mut self) -> Result<Option<ActiveRow>, StoreError>;
    /// Sets the active toolset.
    async fn put_active_toolset(&mut self, active: &ActiveRow) -> Result<(), StoreError>;
    /// The toolset that a user's new conversations start with; none if the user has not chosen.
    async fn find_start_toolset(&mut self, user_id: &str) -> Result<Option<String>, StoreError>;
    /// Sets it, or takes it back.
    async fn put_start_toolset(&mut self, user_id: &str, reference: Option<&str>) -> Result<(), StoreError>;
    /// Every user's own, as user id and reference.
    async fn list_start_toolsets(&mut self) -> Result<Vec<(String, String)>, StoreError>;
    /// Makes everybody who starts with one toolset start with another one.
    async fn repoint_start_toolsets(&mut self, from: &str, to: &str) -> Result<(), StoreError>;
}
