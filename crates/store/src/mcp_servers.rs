//! Upstream MCP servers, what is known of their tools, and the deferred tools that conversations loaded.

use std::collections::HashMap;

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{
    LoadedToolRow, LoadedTools, McpServerRow, McpServers, StoreError, UpstreamToolRow,
};

use crate::columns::columns;
use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// Servers, up to the condition.
macro_rules! select_servers {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "mcp_servers": "name", "title", "connection", "secrets", "enabled", "settings", "info", "generation",
                "revision", "created_at", "updated_at"
            ),
            " FROM mcp_servers ",
            $rest
        )
    };
}

/// What is known of tools, up to the condition.
macro_rules! select_tools {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "upstream_tools": "server", "original", "accepted", "accepted_generation", "pending", "pending_since",
                "listed"
            ),
            " FROM upstream_tools ",
            $rest
        )
    };
}

fn read_server(row: &SqliteRow) -> Result<McpServerRow, StoreError> {
    let stored = Stored::new(row, &["mcp_servers.name"]);
    Ok(McpServerRow {
        name: stored.get("mcp_servers.name")?,
        title: stored.get("mcp_servers.title")?,
        connection: stored.get("mcp_servers.connection")?,
        secrets: stored.get("mcp_servers.secrets")?,
        enabled: stored.get("mcp_servers.enabled")?,
        settings: stored.get("mcp_servers.settings")?,
        info: stored.get("mcp_servers.info")?,
        generation: stored.number("mcp_servers.generation")?,
        revision: stored.number("mcp_servers.revision")?,
        created_at: stored.time("mcp_servers.created_at")?,
        updated_at: stored.time("mcp_servers.updated_at")?,
    })
}

fn read_tool(row: &SqliteRow) -> Result<UpstreamToolRow, StoreError> {
    let stored = Stored::new(row, &["upstream_tools.server", "upstream_tools.original"]);
    Ok(UpstreamToolRow {
        server: stored.get("upstream_tools.server")?,
        original: stored.get("upstream_tools.original")?,
        accepted: stored.get("upstream_tools.accepted")?,
        accepted_generation: stored.number("upstream_tools.accepted_generation")?,
        pending: stored.get("upstream_tools.pending")?,
        pending_since: stored.time_or_none("upstream_tools.pending_since")?,
        listed: stored.get("upstream_tools.listed")?,
    })
}

#[async_trait]
impl McpServers for SqliteUnit {
    async fn list_mcp_servers(&mut self) -> Result<Vec<McpServerRow>, StoreError> {
        let rows = self.all(sqlx::query(select_servers!("ORDER BY mcp_servers.name"))).await?;
        rows.iter().map(read_server).collect()
    }

    async fn find_mcp_server(&mut self, name: &str) -> Result<Option<McpServerRow>, StoreError> {
        let row =
            self.optional(sqlx::query(select_servers!("WHERE mcp_servers.name = $1")).bind(name)).await?;
        row.as_ref().map(read_server).transpose()
    }

    async fn insert_mcp_server(&mut self, server: &McpServerRow) -> Result<(), StoreError> {
        let inserted = self
            .execute(
                sqlx::query(
                    "INSERT INTO mcp_servers (name, title, connection, secrets, enabled, settings, info, generation, \
                     revision, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                     ON CONFLICT (name) DO NOTHING",
                )
                .bind(&server.name)
                .bind(&server.title)
                .bind(&server.connection)
                .bind(server.secrets.as_deref())
                .bind(server.enabled)
                .bind(&server.settings)
                .bind(server.info.as_deref())
                .bind(signed(server.generation)?)
                .bind(signed(server.revision)?)
                .bind(micros(server.created_at))
                .bind(micros(server.updated_at)),
            )
            .await?;
        if inserted == 0 { Err(StoreError::Taken("mcp_servers.name")) } else { Ok(()) }
    }

    async fn update_mcp_server(
        &mut self,
        server: &McpServerRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError> {
        let updated = self
            .execute(
                sqlx::query(
                    "UPDATE mcp_servers SET title = $3, connection = $4, secrets = $5, enabled = $6, settings = $7, \
                     info = $8, generation = $9, revision = $10, updated_at = $11 WHERE name = $1 AND revision = $2",
                )
                .bind(&server.name)
                .bind(signed(expected_revision)?)
                .bind(&server.title)
                .bind(&server.connection)
                .bind(server.secrets.as_deref())
                .bind(server.enabled)
                .bind(&server.settings)
                .bind(server.info.as_deref())
                .bind(signed(server.generation)?)
                .bind(signed(server.revision)?)
                .bind(micros(server.updated_at)),
            )
            .await?;
        Ok(updated > 0)
    }

    async fn put_mcp_server_info(&mut self, name: &str, info: &str) -> Result<(), StoreError> {
        self.execute(sqlx::query("UPDATE mcp_servers SET info = $2 WHERE name = $1").bind(name).bind(info))
            .await?;
        Ok(())
    }

    async fn delete_mcp_server(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute(sqlx::query("DELETE FROM mcp_servers WHERE name = $1").bind(name)).await?;
        Ok(())
    }

    async fn list_upstream_tools(
        &mut self,
        server: Option<&str>,
    ) -> Result<Vec<UpstreamToolRow>, StoreError> {
        let rows = match server {
            None => {
                self.all(sqlx::query(select_tools!(
                    "ORDER BY upstream_tools.server, upstream_tools.original"
                )))
                .await?
            }
            Some(server) => {
                let statement = sqlx::query(select_tools!(
                    "WHERE upstream_tools.server = $1 ORDER BY upstream_tools.original"
                ));
                self.all(statement.bind(server)).await?
            }
        };
        rows.iter().map(read_tool).collect()
    }

    async fn put_upstream_tools(&mut self, tools: &[UpstreamToolRow]) -> Result<(), StoreError> {
        for tool in tools {
            self.execute(
                sqlx::query(
                    "INSERT INTO upstream_tools (server, original, accepted, accepted_generation, pending, \
                     pending_since, listed) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                     ON CONFLICT (server, original) DO UPDATE SET accepted = excluded.accepted, \
                     accepted_generation = excluded.accepted_generation, pending = excluded.pending, \
                     pending_since = excluded.pending_since, listed = excluded.listed",
                )
                .bind(&tool.server)
                .bind(&tool.original)
                .bind(tool.accepted.as_deref())
                .bind(signed(tool.accepted_generation)?)
                .bind(tool.pending.as_deref())
                .bind(tool.pending_since.map(micros))
                .bind(tool.listed),
            )
            .await?;
        }
        Ok(())
    }
}

#[async_trait]
impl LoadedTools for SqliteUnit {
    async fn list_loaded_tools(&mut self, conversation_id: &str) -> Result<Vec<LoadedToolRow>, StoreError> {
        let statement = sqlx::query(concat!(
            "SELECT ",
            columns!("loaded_tools": "conversation_id", "number", "tool", "definition"),
            " FROM loaded_tools WHERE loaded_tools.conversation_id = $1 ORDER BY loaded_tools.number"
        ));
        let rows = self.all(statement.bind(conversation_id)).await?;
        rows.iter()
            .map(|row| {
                let stored = Stored::new(row, &["loaded_tools.conversation_id", "loaded_tools.number"]);
                Ok(LoadedToolRow {
                    tool: stored.get("loaded_tools.tool")?,
                    definition: stored.get("loaded_tools.definition")?,
                })
            })
            .collect()
    }

    async fn list_loaded_tools_of(
        &mut self,
        user_id: &str,
        conversation_ids: &[&str],
    ) -> Result<HashMap<String, Vec<LoadedToolRow>>, StoreError> {
        let (Some(first), Some(last)) = (conversation_ids.iter().min(), conversation_ids.iter().max()) else {
            return Ok(HashMap::new());
        };
        // Pages are neighbours by id, so a range reads hardly more than what is named.
        let statement = sqlx::query(concat!(
            "SELECT ",
            columns!("loaded_tools": "conversation_id", "number", "tool", "definition"),
            " FROM loaded_tools JOIN conversations ON conversations.id = loaded_tools.conversation_id \
             WHERE conversations.user_id = $1 AND loaded_tools.conversation_id BETWEEN $2 AND $3 \
             ORDER BY loaded_tools.conversation_id, loaded_tools.number"
        ));
        let rows = self.all(statement.bind(user_id).bind(*first).bind(*last)).await?;
        let mut loaded: HashMap<String, Vec<LoadedToolRow>> = HashMap::new();
        for row in &rows {
            let stored = Stored::new(row, &["loaded_tools.conversation_id", "loaded_tools.number"]);
            let conversation: &str = stored.get("loaded_tools.conversation_id")?;
            if conversation_ids.contains(&conversation) {
                loaded.entry(conversation.to_owned()).or_default().push(LoadedToolRow {
                    tool: stored.get("loaded_tools.tool")?,
                    definition: stored.get("loaded_tools.definition")?,
                });
            }
        }
        Ok(loaded)
    }

    async fn put_loaded_tools(
        &mut self,
        conversation_id: &str,
        tools: &[LoadedToolRow],
    ) -> Result<(), StoreError> {
        let statement = sqlx::query("DELETE FROM loaded_tools WHERE conversation_id = $1");
        self.execute(statement.bind(conversation_id)).await?;
        for (number, tool) in (1_i64..).zip(tools) {
            let statement = sqlx::query(
                "INSERT INTO loaded_tools (conversation_id, number, tool, definition) VALUES ($1, $2, $3, $4)",
            );
            self.execute(
                statement.bind(conversation_id).bind(number).bind(&tool.tool).bind(&tool.definition),
            )
            .await?;
        }
        Ok(())
    }
}
