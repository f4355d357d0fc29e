//! What admins decided about tools.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_core::Disable;
use toolshelf_runtime::store::{StoreError, ToolStateRow, ToolStates};

use crate::columns::columns;
use crate::stored::{Stored, signed};
use crate::unit::SqliteUnit;

/// Tool states, up to the condition.
macro_rules! select_tool_states {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!("tool_states": "tool", "disabled_by", "disabled_reason", "disabled_at", "revision"),
            " FROM tool_states ",
            $rest
        )
    };
}

fn read_tool_state(row: &SqliteRow) -> Result<ToolStateRow, StoreError> {
    let stored = Stored::new(row, &["tool_states.tool"]);
    Ok(ToolStateRow {
        tool: stored.get("tool_states.tool")?,
        disable: read_disable(stored)?,
        revision: stored.number("tool_states.revision")?,
    })
}

/// A disable of which a part is missing must not read as no disable: the tool would come back.
fn read_disable(stored: Stored<'_>) -> Result<Option<Disable>, StoreError> {
    let by: Option<&str> = stored.get("tool_states.disabled_by")?;
    let reason: Option<&str> = stored.get("tool_states.disabled_reason")?;
    let at: Option<&str> = stored.get("tool_states.disabled_at")?;
    match (by, reason, at) {
        (None, None, None) => Ok(None),
        (Some(by), Some(reason), Some(at)) => {
            Ok(Some(Disable { by: by.into(), reason: reason.into(), at: at.into() }))
        }
        (None, _, _) => Err(stored.damaged("tool_states.disabled_by", "it is missing")),
        (_, None, _) => Err(stored.damaged("tool_states.disabled_reason", "it is missing")),
        (_, _, None) => Err(stored.damaged("tool_states.disabled_at", "it is missing")),
    }
}

#[async_trait]
impl ToolStates for SqliteUnit {
    async fn list_tool_states(&mut self) -> Result<Vec<ToolStateRow>, StoreError> {
        let rows = self.all(sqlx::query(select_tool_states!("ORDER BY tool_states.tool"))).await?;
        rows.iter().map(read_tool_state).collect()
    }

    async fn find_tool_state(&mut self, tool: &str) -> Result<Option<ToolStateRow>, StoreError> {
        let row =
            self.optional(sqlx::query(select_tool_states!("WHERE tool_states.tool = $1")).bind(tool)).await?;
        row.as_ref().map(read_tool_state).transpose()
    }

    async fn put_tool_state(&mut self, state: &ToolStateRow) -> Result<(), StoreError> {
        let disable = state.disable.as_ref();
        self.execute(
            sqlx::query(
                "INSERT INTO tool_states (tool, disabled_by, disabled_reason, disabled_at, revision) \
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tool) DO UPDATE SET \
                 disabled_by = excluded.disabled_by, disabled_reason = excluded.disabled_reason, \
                 disabled_at = excluded.disabled_at, revision = excluded.revision",
            )
            .bind(&state.tool)
            .bind(disable.map(|disable| &*disable.by))
            .bind(disable.map(|disable| &*disable.reason))
            .bind(disable.map(|disable| &*disable.at))
            .bind(signed(state.revision)?),
        )
        .await?;
        Ok(())
    }
}
