//! Adding, changing and removing servers.

use std::sync::Arc;

use toolshelf_api::{CreateMcpServer, McpServer, ServerSettings, UpdateMcpServer};
use toolshelf_core::{Snapshot, is_server_name};
use toolshelf_runtime::store::{McpServerRow, StoreError, UnitOfWork};

use crate::Service;
use crate::account_rules::Fields;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::writer::{Delta, Written};

use super::connection::{Complete, Stored, not_json, open_secrets};
use super::live::LiveServers;
use super::settings::merged;
use super::tools::server_tools;
use super::{intake, read_settings, to_json};

/// The most servers.
const SERVERS_MAX: usize = 500;
/// Names that no server can have, because they mean something else in front of a tool's name, in a pattern or in an address.
const RESERVED: [&str; 14] = [
    "all", "bundle", "builtin", "default", "full", "import", "list", "mcp", "none", "plugin", "preset",
    "profile", "test", "tools",
];

impl Service {
    /// Adds a server, and connects it unless it is switched off.
    pub async fn create_mcp_server(
        &self,
        actor: &Actor,
        new: CreateMcpServer,
    ) -> Result<McpServer, ServiceError> {
        let name = new.name.clone();
        let prepared = self.prepare(actor, new, "").await?;
        self.add(actor, vec![prepared]).await?;
        self.get_mcp_server(actor, &name).await
    }

    /// Checks a server that is to be added. Nothing is changed.
    pub(super) async fn prepare(
        &self,
        actor: &Actor,
        new: CreateMcpServer,
        pointer: &str,
    ) -> Result<(McpServerRow, Complete), ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let mut errors = Vec::new();
        if let Err(message) = check_name(&snapshot, &new.name) {
            errors.push(toolshelf_api::FieldError { pointer: format!("{pointer}/name"), message });
        }
        let title = new.title.as_deref().map_or(new.name.as_str(), str::trim).to_owned();
        let mut fields = Fields::default();
        if new.title.is_some() {
            fields.line(&format!("{pointer}/title"), &title, 100);
        }
        errors.extend(fields.take());
        let settings = match merged(ServerSettings::default(), new.settings, &format!("{pointer}/settings")) {
            Ok(settings) => settings,
            Err(wrong) => {
                errors.extend(wrong);
                ServerSettings::default()
            }
        };
        let complete = match Complete::check(new.connection, None, &format!("{pointer}/connection")) {
            Ok(complete) if errors.is_empty() => complete,
            Ok(_) => return Err(ServiceError::Invalid(errors)),
            Err(wrong) => {
                errors.extend(wrong);
                return Err(ServiceError::Invalid(errors));
            }
        };
        if complete.runs_a_program() {
            self.may_run_programs(actor).await?;
        }
        let now = self.now();
        let row = McpServerRow {
            connection: to_json(&complete.public)?,
            secrets: complete.sealed(&self.inner.sealer, self.environment(), &new.name)?,
            name: new.name,
            title,
            enabled: new.enabled.unwrap_or(true),
            settings: to_json(&settings)?,
            info: None,
            generation: 1,
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        Ok((row, complete))
    }

    /// Adds servers that were checked, all or none, and connects those that are switched on.
    pub(super) async fn add(
        &self,
        actor: &Actor,
        new: Vec<(McpServerRow, Complete)>,
    ) -> Result<(), ServiceError> {
        let _order = self.inner.servers_order.lock().await;
        let (author, now) = (actor.clone(), self.now());
        let rows = self
            .write(Some(actor), move |unit, _| {
                Box::pin(async move {
                    let count = unit.list_mcp_servers().await?.len() + new.len();
                    if count > SERVERS_MAX {
                        let detail =
                            format!("There can be {SERVERS_MAX} servers, and these would be {count}.");
                        return Err(ServiceError::conflict("too_many_servers", detail));
                    }
                    let (mut rows, mut deltas) = (Vec::new(), Vec::new());
                    for (mut row, complete) in new {
                        row.generation = next_generation(unit, &row.name, 0, now).await?;
                        match unit.insert_mcp_server(&row).await {
                            Ok(()) => {}
                            Err(StoreError::Taken(_)) => {
                                let detail = format!("There is a server named {} already.", row.name);
                                return Err(ServiceError::conflict("name_taken", detail));
                            }
                            Err(error) => return Err(error.into()),
                        }
                        let detail = complete.public.in_short();
                        unit.append_audit(&by_actor(&author, now, "mcp_server.added", &row.name, detail))
                            .await?;
                        let has = server_tools(&row, &read_settings(&row)?, &[], &[], None, None);
                        deltas.push((Arc::from(row.name.as_str()), has));
                        rows.push(row);
                    }
                    Ok(Written { value: rows, deltas: vec![Delta::Servers(deltas)] })
                })
            })
            .await?;
        for row in rows {
            self.live_servers().begin(&row.name, row.enabled, now);
            self.connect(&row).await?;
            self.tell_server_changed(&row.name);
        }
        // Functions that need a server can run now.
        self.refresh_checks().await
    }

    /// Changes a server. When its command or address changes, all its tools count as changed.
    pub async fn update_mcp_server(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        change: UpdateMcpServer,
    ) -> Result<McpServer, ServiceError> {
        let _order = self.inner.servers_order.lock().await;
        let before = self.store().read().await?.find_mcp_server(name).await?;
        let before = before.ok_or_else(|| ServiceError::not_found("server", name))?;
        if expected_revision.is_some_and(|expected| expected != before.revision) {
            let current = serde_json::to_value(self.get_mcp_server(actor, name).await?).map_err(not_json)?;
            return Err(ServiceError::Stale { current });
        }
        let mut row = before.clone();
        let mut errors = Vec::new();
        if let Some(title) = change.title.as_deref().map(str::trim) {
            let mut fields = Fields::default();
            fields.line("/title", title, 100);
            errors.extend(fields.take());
            title.clone_into(&mut row.title);
        }
        row.enabled = change.enabled.unwrap_or(row.enabled);
        if let Some(asked) = change.settings {
            match merged(read_settings(&before)?, asked, "/settings") {
                Ok(settings) => row.settings = to_json(&settings)?,
                Err(wrong) => errors.extend(wrong),
            }
        }
        let mut moved = false;
        if let Some(asked) = change.connection {
            let stored = Stored::read(&before)?;
            let secrets = open_secrets(&self.inner.sealer, &before);
            match Complete::check(asked, secrets.as_ref(), "/connection") {
                Err(wrong) => errors.extend(wrong),
                Ok(complete) => {
                    let same = complete.public == stored && secrets.as_ref() == Some(&complete.secrets);
                    if !same && errors.is_empty() {
                        if complete.runs_a_program() || matches!(stored, Stored::Stdio { .. }) {
                            self.may_run_programs(actor).await?;
                        }
                        moved = !complete.public.leads_to_the_same(&stored);
                        row.connection = to_json(&complete.public)?;
                        row.secrets = complete.sealed(&self.inner.sealer, self.environment(), name)?;
                    }
                }
            }
        }
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        if row != before {
            self.put(actor, before, row, moved).await?;
        }
        self.get_mcp_server(actor, name).await
    }

    async fn put(
        &self,
        actor: &Actor,
        before: McpServerRow,
        mut row: McpServerRow,
        moved: bool,
    ) -> Result<(), ServiceError> {
        let timeout =
            |row: &McpServerRow| read_settings(row).map(|settings| settings.limits.call_timeout_seconds);
        let reconnects = row.connection != before.connection
            || row.secrets != before.secrets
            || row.enabled != before.enabled
            || timeout(&row)? != timeout(&before)?;
        let (author, now, name) = (actor.clone(), self.now(), row.name.clone());
        let service = self.clone();
        let written = self
            .write(Some(actor), move |unit, _| {
                Box::pin(async move {
                    if moved {
                        row.generation = next_generation(unit, &row.name, before.generation, now).await?;
                    }
                    row.revision = before.revision + 1;
                    row.updated_at = now;
                    if !unit.update_mcp_server(&row, before.revision).await? {
                        return Err(ServiceError::conflict(
                            "changed",
                            "The server was changed or removed just now.",
                        ));
                    }
                    let detail = what_changed(&before, &row, moved);
                    unit.append_audit(&by_actor(&author, now, "mcp_server.changed", &row.name, detail))
                        .await?;
                    let rows = intake::known(unit, &row.name).await?;
                    let live = if reconnects {
                        // Until it answers again nothing is known of it.
                        LiveServers::new_one(row.enabled, now)
                    } else {
                        service.live_servers().get(&row.name, row.enabled, now)
                    };
                    let has =
                        server_tools(&row, &read_settings(&row)?, &rows, &live.rejected, None, live.down());
                    let mut deltas = vec![Delta::Servers(vec![(Arc::from(row.name.as_str()), has)])];
                    if reconnects {
                        let (name, enabled) = (row.name.clone(), row.enabled);
                        deltas.push(Delta::Then(Box::new(move || {
                            service.live_servers().begin(&name, enabled, now);
                        })));
                    }
                    Ok(Written { value: row, deltas })
                })
            })
            .await;
        let row = match written {
            Ok(row) => row,
            Err(error) => {
                // What is stored is as before, so it goes on as before.
                if reconnects && let Some(row) = self.store().read().await?.find_mcp_server(&name).await? {
                    self.connect(&row).await?;
                }
                return Err(error);
            }
        };
        if reconnects {
            if row.enabled {
                self.connect(&row).await?;
            } else {
                self.registry().upstreams().stop(&row.name).await;
            }
        }
        self.tell_server_changed(&row.name);
        self.refresh_checks().await
    }

    /// Removes a server with its tools. Profiles keep their names, disables stay, and should a server of this name come back,
    /// all its tools count as changed.
    pub async fn delete_mcp_server(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
    ) -> Result<(), ServiceError> {
        let _order = self.inner.servers_order.lock().await;
        let (author, now, server) = (actor.clone(), self.now(), name.to_owned());
        let stale = self
            .write(Some(actor), move |unit, _| {
                Box::pin(async move {
                    let row = unit.find_mcp_server(&server).await?;
                    let row = row.ok_or_else(|| ServiceError::not_found("server", &server))?;
                    if expected_revision.is_some_and(|expected| expected != row.revision) {
                        return Ok(Written { value: true, deltas: Vec::new() });
                    }
                    let mut rows = unit.list_upstream_tools(Some(&server)).await?;
                    rows.retain_mut(|row| std::mem::replace(&mut row.listed, false));
                    unit.put_upstream_tools(&rows).await?;
                    unit.delete_mcp_server(&server).await?;
                    unit.append_audit(&by_actor(&author, now, "mcp_server.removed", &server, "")).await?;
                    let gone = (Arc::from(server.as_str()), toolshelf_core::ServerTools::default());
                    Ok(Written { value: false, deltas: vec![Delta::Servers(vec![gone])] })
                })
            })
            .await?;
        if stale {
            let current = serde_json::to_value(self.get_mcp_server(actor, name).await?).map_err(not_json)?;
            return Err(ServiceError::Stale { current });
        }
        self.registry().upstreams().stop(name).await;
        self.live_servers().forget(name);
        self.tell_server_changed(name);
        self.refresh_checks().await
    }
}

/// A generation that no earlier connection of this name had, removed ones included.
async fn next_generation(
    unit: &mut dyn UnitOfWork,
    server: &str,
    before: u64,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<u64, ServiceError> {
    let known = unit.list_upstream_tools(Some(server)).await?;
    let highest = known.iter().map(|row| row.accepted_generation).max().unwrap_or(0).max(before);
    Ok(u64::try_from(now.timestamp_micros()).unwrap_or(0).max(highest + 1))
}

/// Whether a new server may have this name.
pub(super) fn check_name(snapshot: &Snapshot, name: &str) -> Result<(), String> {
    if !is_server_name(name) {
        return Err("Use 1 to 31 small letters, digits or '-', beginning with a letter.".to_owned());
    }
    let builtin = snapshot
        .indexes()
        .map(|index| snapshot.tool(index))
        .filter(|tool| tool.source().server().is_none())
        .any(|tool| tool.name().as_ref() == name || tool.service() == name);
    if builtin {
        return Err("A built-in tool or group has this name. Choose another one.".to_owned());
    }
    if RESERVED.contains(&name) {
        return Err("This name is reserved. Choose another one.".to_owned());
    }
    Ok(())
}

/// What was changed of a server, for the audit log.
fn what_changed(before: &McpServerRow, after: &McpServerRow, moved: bool) -> String {
    let mut parts = Vec::new();
    if before.title != after.title {
        parts.push("title".to_owned());
    }
    if moved {
        parts.push(Stored::read(after).map(|stored| stored.in_short()).unwrap_or_default());
    } else if before.connection != after.connection || before.secrets != after.secrets {
        parts.push("secrets".to_owned());
    }
    if before.enabled != after.enabled {
        parts.push(if after.enabled { "switched on" } else { "switched off" }.to_owned());
    }
    if before.settings != after.settings {
        parts.push("settings".to_owned());
    }
    parts.join(", ")
}
