//! What servers say and do, put in force.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;
use toolshelf_api::{Event, RejectedTool, ServerDetails, ServerState};
use toolshelf_core::{Snapshot, visible_text};
use toolshelf_runtime::store::{McpServerRow, UnitOfWork, UpstreamToolRow};
use toolshelf_runtime::{Report, ServerInfo, UpstreamReports};

use crate::Service;
use crate::audit::by_system;
use crate::error::ServiceError;
use crate::writer::{Delta, Written};

use super::connection::Stored;
use super::tools::{Listing, Lists, read_list, server_tools};
use super::{read_settings, to_json};

/// The most characters that are kept of what a server says to models.
const INSTRUCTIONS_MAX: usize = 20_000;

/// Hears reports for a service.
pub(super) struct Intake(pub(super) Service);

#[async_trait]
impl UpstreamReports for Intake {
    async fn report(&self, server: &str, generation: u64, report: Report) {
        if let Err(error) = self.0.take_report(server, generation, report).await {
            // The next report of the server is taken anew; what is in force stays.
            tracing::error!(server, %error, "what a server reported could not be taken");
        }
    }
}

impl Service {
    async fn take_report(&self, server: &str, generation: u64, report: Report) -> Result<(), ServiceError> {
        let now = self.now();
        match report {
            Report::Connecting => {
                // While it is tried again it stays down, with the reason that people read.
                self.live_servers().change(server, now, |live| {
                    if live.state == ServerState::Down {
                        live.retry_at = None;
                    }
                });
            }
            Report::Down { reason, retry_in } => {
                let reason = toolshelf_core::visible_line(&reason, 500);
                let retry_at =
                    chrono::TimeDelta::from_std(retry_in).ok().and_then(|wait| now.checked_add_signed(wait));
                self.put_down(server, generation, reason, retry_at).await?;
            }
            Report::Ready { info, tools } => self.take_list(server, generation, Some(info), tools).await?,
            Report::Tools(tools) => self.take_list(server, generation, None, tools).await?,
        }
        self.tell_server_changed(server);
        Ok(())
    }

    /// Tells open tabs to read a server again.
    pub(super) fn tell_server_changed(&self, server: &str) {
        let revision = self.registry().snapshot().load().map_or(0, |snapshot| snapshot.revision());
        self.events().publish(Event::UpstreamChanged { revision, name: server.to_owned() });
    }

    /// Puts in force that a server cannot be reached. Nothing is written if that is in force already.
    ///
    /// What a server is doing changes only under the writer's lock, as everything does that is made of it.
    async fn put_down(
        &self,
        server: &str,
        generation: u64,
        reason: String,
        retry_at: Option<DateTime<Utc>>,
    ) -> Result<(), ServiceError> {
        let (service, server, now) = (self.clone(), server.to_owned(), self.now());
        self.write(None, move |unit, snapshot| {
            Box::pin(async move {
                let Some(row) = current(unit, &server, generation).await? else {
                    return Ok(Written { value: (), deltas: Vec::new() });
                };
                let public = Stored::read(&row)?.public_reason(&reason);
                let in_force = is_down_as(snapshot, &server, Some(&public));
                let (name, told) = (server.clone(), public.clone());
                let note = move || {
                    service.live_servers().change(&name, now, |live| {
                        if live.state != ServerState::Down {
                            live.since = now;
                        }
                        live.state = ServerState::Down;
                        live.reason = Some(reason.clone());
                        live.public_reason = Some(told.clone());
                        live.retry_at = retry_at;
                    });
                };
                if in_force {
                    note();
                    return Ok(Written { value: (), deltas: Vec::new() });
                }
                let down = Delta::ServerDown { server, down: Some(public) };
                let deltas = vec![down, Delta::Then(Box::new(note))];
                Ok(Written { value: (), deltas })
            })
        })
        .await
    }

    async fn take_list(
        &self,
        server: &str,
        generation: u64,
        info: Option<ServerInfo>,
        listed: Vec<Value>,
    ) -> Result<(), ServiceError> {
        let (service, name, now) = (self.clone(), server.to_owned(), self.now());
        let lists = tokio::task::spawn_blocking(move || Lists::read(&listed));
        let lists = lists.await.map_err(|error| ServiceError::Internal(format!("a list: {error}")))?;
        let began = Instant::now();
        let happened = self
            .write(None, move |unit, snapshot| {
                Box::pin(async move {
                    let nothing = Written { value: String::new(), deltas: Vec::new() };
                    let Some(row) = current(unit, &name, generation).await? else { return Ok(nothing) };
                    let settings = read_settings(&row)?;
                    let known = unit.list_upstream_tools(Some(&name)).await?;
                    let Listing { rows, changed, refused, happened } =
                        read_list(&row, settings.hold, known, &lists, now);
                    let rejected: Vec<RejectedTool> =
                        lists.rejected().iter().cloned().chain(refused).collect();
                    let live = service.live_servers().get(&name, row.enabled, now);
                    let told_before = live.state == ServerState::Ready && live.rejected == rejected;
                    if told_before && changed.is_empty() {
                        return Ok(nothing);
                    }
                    if let Some(info) = info {
                        let info = to_json(&details(info))?;
                        if row.info.as_deref() != Some(&info) {
                            unit.put_mcp_server_info(&name, &info).await?;
                        }
                    }
                    unit.put_upstream_tools(&changed).await?;
                    if !happened.is_empty() {
                        let entry = by_system(now, "mcp_server.tools_changed", &name, happened.clone());
                        unit.append_audit(&entry).await?;
                    }
                    let has = server_tools(&row, &settings, &rows, &rejected, Some(&lists), None);
                    let mut deltas = seen_first(unit, snapshot, &has.tools).await?;
                    deltas.push(Delta::Servers(vec![(Arc::from(name.as_str()), has)]));
                    // It is shown as ready when its tools are there, and not before.
                    deltas.push(Delta::Then(Box::new(move || {
                        service.live_servers().change(&name, now, |live| {
                            if live.state != ServerState::Ready {
                                live.since = now;
                            }
                            (live.state, live.reason, live.retry_at) = (ServerState::Ready, None, None);
                            live.rejected.clone_from(&rejected);
                        });
                    })));
                    Ok(Written { value: happened, deltas })
                })
            })
            .await?;
        if !happened.is_empty() {
            let milliseconds = began.elapsed().as_secs_f64() * 1_000.0;
            tracing::info!(server, milliseconds, "tools of a server: {happened}");
        }
        Ok(())
    }
}

/// The server's row, if the report is about how it is reached now.
async fn current(
    unit: &mut dyn UnitOfWork,
    server: &str,
    generation: u64,
) -> Result<Option<McpServerRow>, ServiceError> {
    let row = unit.find_mcp_server(server).await?;
    Ok(row.filter(|row| row.enabled && row.generation == generation))
}

/// Remembers tools that are seen for the first time.
pub(super) async fn seen_first(
    unit: &mut dyn UnitOfWork,
    snapshot: &Snapshot,
    tools: &[Arc<toolshelf_core::Tool>],
) -> Result<Vec<Delta>, ServiceError> {
    let seen = snapshot.sightings();
    let first: HashSet<&str> =
        tools.iter().map(|tool| tool.name().as_ref()).filter(|name| !seen.contains_key(*name)).collect();
    if first.is_empty() {
        return Ok(Vec::new());
    }
    // In the order of the list, which is the order in which people see them.
    let names: Vec<String> = tools
        .iter()
        .map(|tool| tool.name().to_string())
        .filter(|name| first.contains(name.as_str()))
        .collect();
    unit.add_tool_sightings(&names).await?;
    let sightings: HashMap<Arc<str>, u64> = unit
        .list_tool_sightings()
        .await?
        .into_iter()
        .map(|(name, sighting)| (name.into(), sighting))
        .collect();
    Ok(vec![Delta::Sightings(sightings)])
}

fn is_down_as(snapshot: &Snapshot, server: &str, down: Option<&str>) -> bool {
    let own = snapshot.indexes().find(|index| snapshot.tool(*index).source().server() == Some(server));
    // A server without tools has nothing that could be unavailable.
    own.is_none_or(|index| {
        let shown = snapshot.card(index, false).available;
        shown.reason.as_deref() == down
    })
}

/// What a server says of itself, safe to show.
pub(super) fn details(info: ServerInfo) -> ServerDetails {
    let line = |text: &str| toolshelf_core::visible_line(text, 200);
    let instructions = info.instructions.map(|text| {
        let text: String = text.chars().take(INSTRUCTIONS_MAX).collect();
        visible_text(&text)
    });
    ServerDetails {
        name: line(&info.name),
        version: line(&info.version),
        protocol: line(&info.protocol),
        instructions: instructions.filter(|text| !text.trim().is_empty()),
        resources: info.resources,
        prompts: info.prompts,
    }
}

/// What is known of tools, of a server whose row changed.
pub(super) async fn known(
    unit: &mut dyn UnitOfWork,
    server: &str,
) -> Result<Vec<UpstreamToolRow>, ServiceError> {
    Ok(unit.list_upstream_tools(Some(server)).await?)
}
