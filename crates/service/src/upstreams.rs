//! Upstream MCP servers: list, show, add, change, remove, refresh, try.

mod changes;
mod connection;
mod diff;
mod edits;
mod import;
mod intake;
mod live;
mod settings;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use toolshelf_api::{CreateMcpServer, McpServer, Page, RejectedTool, ServerSettings, TriedConnection};
use toolshelf_core::{McpDefinition, Snapshot, is_server_name, mcp_tool_name};
use toolshelf_runtime::store::{McpServerRow, Store, UnitOfWork};

use crate::Service;
use crate::access::{Access, Denied, Standing};
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::times::rfc3339;

use connection::{Complete, Stored, damaged, not_json, open_secrets};
use intake::Intake;
pub(crate) use live::LiveServers;
use tools::{by_server, server_tools};

/// How long after the password was entered a session may change what runs on this machine, in minutes.
const CONFIRMED_MINUTES: i64 = 10;
/// Adds what is known of servers to the first snapshot. None of them is connected yet.
pub(crate) async fn load(store: &dyn Store, snapshot: Snapshot) -> Result<Snapshot, ServiceError> {
    let mut unit = store.read().await?;
    let servers = unit.list_mcp_servers().await?;
    if servers.is_empty() {
        return Ok(snapshot);
    }
    let mut known = by_server(unit.list_upstream_tools(None).await?);
    let mut all = Vec::with_capacity(servers.len());
    for row in &servers {
        // What cannot be read is told before anybody waits for the server.
        Stored::read(row)?;
        let rows = known.remove(&row.name).unwrap_or_default();
        let down = if row.enabled { "It is being connected." } else { "An admin switched it off." };
        let has = server_tools(row, &read_settings(row)?, &rows, &[], None, Some(down.to_owned()));
        all.push((Arc::from(row.name.as_str()), has));
    }
    Ok(snapshot.with_servers(all))
}

fn read_settings(row: &McpServerRow) -> Result<ServerSettings, ServiceError> {
    serde_json::from_str(&row.settings).map_err(|error| damaged(row, "settings", &error))
}

fn to_json(value: &impl Serialize) -> Result<String, ServiceError> {
    serde_json::to_string(value).map_err(not_json)
}

/// Whether somebody may know how servers are reached.
fn is_admin(actor: &Actor) -> bool {
    Access::Admin.check(actor.standing()).is_ok()
}

impl Service {
    pub(crate) fn live_servers(&self) -> &LiveServers {
        &self.inner.servers
    }

    /// Connects every server that is switched on. Returns at once; none of them delays anything.
    pub async fn start_upstreams(&self) -> Result<(), ServiceError> {
        let servers = self.store().read().await?.list_mcp_servers().await?;
        for row in servers {
            self.live_servers().begin(&row.name, row.enabled, self.now());
            self.connect(&row).await?;
        }
        Ok(())
    }

    /// Starts the task of a server that is switched on.
    async fn connect(&self, row: &McpServerRow) -> Result<(), ServiceError> {
        if !row.enabled {
            return Ok(());
        }
        let Some(secrets) = open_secrets(&self.inner.sealer, row) else {
            let report = toolshelf_runtime::Report::Down {
                reason: "Its secrets cannot be read with this installation's key. Enter them again."
                    .to_owned(),
                retry_in: std::time::Duration::MAX,
            };
            let intake = Intake(self.clone());
            toolshelf_runtime::UpstreamReports::report(&intake, &row.name, row.generation, report).await;
            return Ok(());
        };
        let complete = Complete { public: Stored::read(row)?, secrets };
        let spec = complete.spec(&row.name, row.generation, &read_settings(row)?);
        self.registry().upstreams().start(spec, Arc::new(Intake(self.clone())));
        Ok(())
    }

    /// Whether the actor may say which programs run on this machine: an admin who entered the password a short while ago, or
    /// a key with the scope where the configuration lets keys do it.
    async fn may_run_programs(&self, actor: &Actor) -> Result<(), ServiceError> {
        let Some(session) = actor.session() else {
            let allowed = self.inner.keys_may_add && matches!(actor.standing(), Standing::Key(..));
            return if allowed { Ok(()) } else { Err(ServiceError::Denied(Denied::KeysMayNotAdd)) };
        };
        let found = self.store().read().await?.find_session(&session.token_hash).await?;
        let entered = found.map(|(session, _)| session.created_at);
        let recent = chrono::TimeDelta::minutes(CONFIRMED_MINUTES);
        if entered.is_some_and(|entered| self.now() - entered <= recent) {
            Ok(())
        } else {
            Err(ServiceError::Denied(Denied::ConfirmPassword))
        }
    }

    /// One page of all servers by name. The cursor is the name of the last one of the page before.
    pub async fn list_mcp_servers(
        &self,
        actor: &Actor,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<McpServer>, ServiceError> {
        let mut unit = self.store().read().await?;
        let rows = unit.list_mcp_servers().await?;
        let waiting = waiting(&mut *unit, None).await?;
        let snapshot = self.registry().snapshot().load()?;
        let counts = counts(&snapshot);
        let all = rows
            .iter()
            .map(|row| self.shape(actor, row, &counts, &waiting))
            .collect::<Result<Vec<_>, _>>()?;
        crate::paging::page(all, |server: &McpServer| &server.name, cursor, limit)
    }

    /// One server.
    pub async fn get_mcp_server(&self, actor: &Actor, name: &str) -> Result<McpServer, ServiceError> {
        let mut unit = self.store().read().await?;
        let row = unit.find_mcp_server(name).await?.ok_or_else(|| ServiceError::not_found("server", name))?;
        let waiting = waiting(&mut *unit, Some(name)).await?;
        let snapshot = self.registry().snapshot().load()?;
        self.shape(actor, &row, &counts(&snapshot), &waiting)
    }

    fn shape(
        &self,
        actor: &Actor,
        row: &McpServerRow,
        counts: &HashMap<String, u64>,
        waiting: &HashMap<String, u64>,
    ) -> Result<McpServer, ServiceError> {
        let live = self.live_servers().get(&row.name, row.enabled, self.now());
        let admin = is_admin(actor);
        let connection = if admin {
            Some(Stored::read(row)?.shown(open_secrets(&self.inner.sealer, row).is_some()))
        } else {
            None
        };
        let mut status = live.shown();
        if !admin {
            status.reason.clone_from(&live.public_reason);
        }
        Ok(McpServer {
            name: row.name.clone(),
            title: row.title.clone(),
            connection,
            enabled: row.enabled,
            settings: read_settings(row)?,
            status,
            tool_count: counts.get(&row.name).copied().unwrap_or(0),
            rejected: live.rejected,
            change_count: waiting.get(&row.name).copied().unwrap_or(0),
            info: row.info.as_deref().filter(|_| admin).and_then(|info| serde_json::from_str(info).ok()),
            log: if admin { self.registry().upstreams().log(&row.name) } else { Vec::new() },
            revision: row.revision,
            created_at: rfc3339(row.created_at),
            updated_at: rfc3339(row.updated_at),
        })
    }

    /// Connects a server now if it is down, and asks it for its tools if it is not.
    pub async fn refresh_mcp_server(&self, name: &str) -> Result<(), ServiceError> {
        let row = self.store().read().await?.find_mcp_server(name).await?;
        let row = row.ok_or_else(|| ServiceError::not_found("server", name))?;
        if !row.enabled {
            return Err(ServiceError::conflict(
                "server_disabled",
                "The server is switched off. Switch it on first.",
            ));
        }
        self.registry().upstreams().refresh(name);
        Ok(())
    }

    /// Connects once, as the server would be, and says what came of it. Nothing is stored.
    pub async fn try_mcp_server(
        &self,
        actor: &Actor,
        new: CreateMcpServer,
    ) -> Result<TriedConnection, ServiceError> {
        let known = self.store().read().await?.find_mcp_server(&new.name).await?;
        let secrets = known.as_ref().and_then(|row| open_secrets(&self.inner.sealer, row));
        let complete = Complete::check(new.connection, secrets.as_ref(), "/connection")
            .map_err(ServiceError::Invalid)?;
        if complete.runs_a_program() {
            self.may_run_programs(actor).await?;
        }
        let name = if is_server_name(&new.name) { new.name } else { "server".to_owned() };
        let began = Instant::now();
        let spec = complete.spec(&name, 0, &ServerSettings::default());
        let trial = self.registry().upstreams().try_connection(spec).await;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut tried = TriedConnection {
            ok: trial.outcome.is_ok(),
            reason: None,
            info: None,
            tools: Vec::new(),
            rejected: Vec::new(),
            log: trial.log,
            duration_ms,
        };
        match trial.outcome {
            Err(reason) => tried.reason = Some(reason),
            Ok((info, tools)) => {
                tried.info = Some(intake::details(info));
                for tool in &tools {
                    match McpDefinition::read(tool) {
                        Ok(definition) => tried.tools.push(mcp_tool_name(&name, definition.original())),
                        Err(refused) => {
                            tried.rejected.push(RejectedTool { name: refused.name, reason: refused.reason });
                        }
                    }
                }
            }
        }
        Ok(tried)
    }
}

/// How many tools each server has in the registry.
fn counts(snapshot: &Snapshot) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for server in snapshot.indexes().filter_map(|index| snapshot.tool(index).source().server()) {
        *counts.entry(server.to_owned()).or_default() += 1;
    }
    counts
}

/// How many tools of each server wait for a decision.
async fn waiting(
    unit: &mut dyn UnitOfWork,
    server: Option<&str>,
) -> Result<HashMap<String, u64>, ServiceError> {
    let mut waiting = HashMap::new();
    for row in
        unit.list_upstream_tools(server).await?.into_iter().filter(|row| row.listed && row.pending.is_some())
    {
        *waiting.entry(row.server).or_default() += 1;
    }
    Ok(waiting)
}
