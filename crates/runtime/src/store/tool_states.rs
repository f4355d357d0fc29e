//! What admins decided about tools, by name. A row outlives its tool.

use async_trait::async_trait;
use toolshelf_core::Disable;

use super::StoreError;

/// What was decided about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStateRow {
    /// The tool's name on the wire.
    pub tool: String,
    /// The global disable, if there is one.
    pub disable: Option<Disable>,
    /// Grows with each change, also when a disable is lifted.
    pub revision: u64,
}

/// What was decided about tools.
#[async_trait]
pub trait ToolStates {
    /// All rows.
    async fn list_tool_states(&mut self) -> Result<Vec<ToolStateRow>, StoreError>;
    /// The row of a tool.
    async fn find_tool_state(&mut self, tool: &str) -> Result<Option<ToolStateRow>, StoreError>;
    /// Adds or replaces a row.
    async fn put_tool_state(&mut self, state: &ToolStateRow) -> Result<(), StoreError>;
}
