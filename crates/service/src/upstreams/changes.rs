//! Tools that wait for an admin: what would change, and accepting it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolshelf_api::{AcceptChanges, DecideChange, Page, ToolChange, ToolChangeKind};
use toolshelf_core::{HeldKind, mcp_tool_name};
use toolshelf_runtime::store::UpstreamToolRow;

use crate::Service;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::times::rfc3339;
use crate::writer::{Delta, Written};

use super::diff::diff;
use super::tools::{hash_of, held_kind, server_tools};
use super::{intake, read_settings};

fn waits(row: &UpstreamToolRow) -> bool {
    row.listed && row.pending.is_some()
}

fn shape(row: &UpstreamToolRow) -> Option<ToolChange> {
    let pending = row.pending.as_deref().filter(|_| row.listed)?;
    Some(ToolChange {
        tool: mcp_tool_name(&row.server, &row.original),
        original: toolshelf_core::visible_line(&row.original, 256),
        kind: match held_kind(row)? {
            HeldKind::New => ToolChangeKind::New,
            HeldKind::Changed => ToolChangeKind::Changed,
            HeldKind::Moved => ToolChangeKind::Moved,
        },
        since: row.pending_since.map(rfc3339).unwrap_or_default(),
        definition: hash_of(pending).unwrap_or_default(),
        diff: diff(row.accepted.as_deref(), pending),
    })
}

impl Service {
    /// One page of a server's tools that wait, by name at the server. The cursor is the tool of the last one of the page
    /// before.
    pub async fn list_tool_changes(
        &self,
        server: &str,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<ToolChange>, ServiceError> {
        let mut unit = self.store().read().await?;
        if unit.find_mcp_server(server).await?.is_none() {
            return Err(ServiceError::not_found("server", server));
        }
        let rows: Vec<UpstreamToolRow> =
            unit.list_upstream_tools(Some(server)).await?.into_iter().filter(waits).collect();
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let found = rows.iter().position(|row| mcp_tool_name(server, &row.original) == cursor);
                found.ok_or_else(|| ServiceError::invalid("cursor", "This is no cursor of this list."))? + 1
            }
        };
        let items: Vec<ToolChange> = rows.iter().skip(start).take(limit).filter_map(shape).collect();
        let more = rows.len() > start + items.len();
        let next_cursor = items.last().filter(|_| more).map(|change| change.tool.clone());
        Ok(Page { items, next_cursor, total: rows.len() as u64 })
    }

    /// Decides about one tool that waits.
    pub async fn decide_tool_change(
        &self,
        actor: &Actor,
        server: &str,
        tool: &str,
        decision: DecideChange,
    ) -> Result<(), ServiceError> {
        let DecideChange { decision: toolshelf_api::ChangeDecision::Accept, definition } = decision;
        self.accept(actor, server, BTreeMap::from([(tool.to_owned(), definition)])).await
    }

    /// Accepts several tools that wait, all or none.
    pub async fn accept_tool_changes(
        &self,
        actor: &Actor,
        server: &str,
        accepted: AcceptChanges,
    ) -> Result<(), ServiceError> {
        let definitions = accepted.definitions.into_iter().map(|(tool, definition)| (tool, Some(definition)));
        self.accept(actor, server, definitions.collect()).await
    }

    async fn accept(
        &self,
        actor: &Actor,
        server: &str,
        definitions: BTreeMap<String, Option<String>>,
    ) -> Result<(), ServiceError> {
        let (author, now, name) = (actor.clone(), self.now(), server.to_owned());
        let service = self.clone();
        self.write(Some(actor), move |unit, _| {
            Box::pin(async move {
                let row = unit.find_mcp_server(&name).await?;
                let row = row.ok_or_else(|| ServiceError::not_found("server", &name))?;
                let mut rows = intake::known(unit, &name).await?;
                let mut changed = Vec::new();
                for (tool, seen) in &definitions {
                    let found = rows
                        .iter_mut()
                        .find(|row| waits(row) && mcp_tool_name(&name, &row.original) == *tool);
                    let Some(found) = found else {
                        return Err(ServiceError::NotFound {
                            what: "waiting tool",
                            name: tool.clone(),
                            suggestions: Vec::new(),
                        });
                    };
                    let pending = found.pending.take();
                    let hash = pending.as_deref().and_then(hash_of);
                    if seen.is_some() && *seen != hash {
                        let detail =
                            format!("{tool} changed again. Look at its change before you accept it.");
                        return Err(ServiceError::conflict("changed_again", detail));
                    }
                    found.accepted = pending;
                    found.accepted_generation = row.generation;
                    found.pending_since = None;
                    changed.push(found.clone());
                    unit.append_audit(&by_actor(&author, now, "mcp_tool.accepted", tool, "")).await?;
                }
                if changed.is_empty() {
                    return Ok(Written { value: (), deltas: Vec::new() });
                }
                unit.put_upstream_tools(&changed).await?;
                let live = service.live_servers().get(&name, row.enabled, now);
                let has = server_tools(&row, &read_settings(&row)?, &rows, &live.rejected, None, live.down());
                let deltas = vec![Delta::Servers(vec![(Arc::from(name.as_str()), has)])];
                Ok(Written { value: (), deltas })
            })
        })
        .await?;
        self.tell_server_changed(server);
        Ok(())
    }
}
