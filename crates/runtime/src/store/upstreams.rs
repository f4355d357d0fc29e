//! Upstream MCP servers, what is known of their tools, and the deferred tools that conversations loaded.

use std::collections::HashMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::StoreError;

/// An upstream MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerRow {
    /// Its name, which its tools' names begin with.
    pub name: String,
    /// Its name for people; free.
    pub title: String,
    /// JSON: how to reach it, without secrets.
    pub connection: String,
    /// What is secret of that, sealed.
    pub secrets: Option<Vec<u8>>,
    /// Whether it is to be connected.
    pub enabled: bool,
    /// JSON: what admins say about it and its tools.
    pub settings: String,
    /// JSON: what it said of itself when it last answered.
    pub info: Option<String>,
    /// Grows with each change of how to reach it.
    pub generation: u64,
    /// Grows with each change that an admin makes.
    pub revision: u64,
    /// When it was added.
    pub created_at: DateTime<Utc>,
    /// When an admin last changed it.
    pub updated_at: DateTime<Utc>,
}

/// What is known of a tool of a server. It outlives the server, so that a server that comes back cannot pass for the one
/// that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamToolRow {
    /// The server's name.
    pub server: String,
    /// The tool's name at the server.
    pub original: String,
    /// JSON: the definition that is in force; none if none was ever accepted.
    pub accepted: Option<String>,
    /// The generation of the server from which the accepted definition came.
    pub accepted_generation: u64,
    /// JSON: the definition that waits for an admin.
    pub pending: Option<String>,
    /// When it began to wait.
    pub pending_since: Option<DateTime<Utc>>,
    /// Whether the server's last list held the tool.
    pub listed: bool,
}

/// Upstream MCP servers and their tools.
#[async_trait]
pub trait McpServers {
    /// All servers by name.
    async fn list_mcp_servers(&mut self) -> Result<Vec<McpServerRow>, StoreError>;
    /// The server with this name.
    async fn find_mcp_server(&mut self, name: &str) -> Result<Option<McpServerRow>, StoreError>;
    /// Adds a server. [`StoreError::Taken`] if the name is taken.
    async fn insert_mcp_server(&mut self, server: &McpServerRow) -> Result<(), StoreError>;
    /// Replaces everything but name and `created_at`, if the stored revision is `expected_revision`; says whether it was.
    async fn update_mcp_server(
        &mut self,
        server: &McpServerRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError>;
    /// Replaces what the server said of itself, and nothing else.
    async fn put_mcp_server_info(&mut self, name: &str, info: &str) -> Result<(), StoreError>;
    /// Removes a server. What is known of its tools stays.
    async fn delete_mcp_server(&mut self, name: &str) -> Result<(), StoreError>;
    /// What is known of tools, of one server or of all, by server and original name.
    async fn list_upstream_tools(&mut self, server: Option<&str>)
    -> Result<Vec<UpstreamToolRow>, StoreError>;
    /// Adds or replaces what is known of tools.
    async fn put_upstream_tools(&mut self, tools: &[UpstreamToolRow]) -> Result<(), StoreError>;
}

/// A deferred tool that a conversation loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedToolRow {
    /// The tool's name on the wire.
    pub tool: String,
    /// The definition that was loaded, as the hash that [`toolshelf_core::Tool::definition`] gives.
    pub definition: String,
}

/// The deferred tools that conversations loaded.
#[async_trait]
pub trait LoadedTools {
    /// What a conversation loaded, by first appearance.
    async fn list_loaded_tools(&mut self, conversation_id: &str) -> Result<Vec<LoadedToolRow>, StoreError>;
    /// What those of a user's conversations loaded that are named, by conversation.
    async fn list_loaded_tools_of(
        &mut self,
        user_id: &str,
        conversation_ids: &[&str],
    ) -> Result<HashMap<String, Vec<LoadedToolRow>>, StoreError>;
    /// Replaces what a conversation loaded. The order is kept.
    async fn put_loaded_tools(
        &mut self,
        conversation_id: &str,
        tools: &[LoadedToolRow],
    ) -> Result<(), StoreError>;
}
