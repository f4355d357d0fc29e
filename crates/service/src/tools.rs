//! The catalog: list, show, resolve, call, disable.

use std::collections::HashSet;
use std::sync::Arc;

use toolshelf_api::{
    Boot, Call, CallResult, HeavySource, OfferedTool, OverLimit, Page, Resolve, ResolveTokens, Resolved, Tool,
};
use toolshelf_core::{
    Disable, Layer, LimitKind, Loaded, Resolution, Snapshot, TOKEN_METHOD, Toolset, closest, merge_loaded,
    resolve, validate_tool_name,
};
use toolshelf_runtime::store::{LoadedToolRow, ToolStateRow};

use crate::Service;
use crate::account_rules::Fields;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::requests::Asked;
use crate::times::rfc3339;
use crate::writer::{Delta, Written};

/// Which tools of the catalog to list.
#[derive(Clone, Debug, Default)]
pub struct ToolQuery {
    /// A text that name, title, description or service must hold, in any letter case.
    pub query: Option<String>,
    /// The source as written.
    pub source: Option<String>,
    /// The name of a toolset that the tool must be in.
    pub toolset: Option<String>,
    /// Whether parameters are included.
    pub full: bool,
    /// The most tools of the page.
    pub limit: usize,
    /// The name of the last tool of the page before.
    pub cursor: Option<String>,
}

impl Service {
    /// One page of the catalog, with a text that changes whenever the catalog does.
    pub async fn list_tools(
        &self,
        actor: &Actor,
        query: ToolQuery,
    ) -> Result<(String, Page<Tool>), ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let selected = match &query.toolset {
            None => None,
            Some(name) => Some(self.selected(actor, &snapshot, named(&snapshot, name)?).await?),
        };
        let start = match &query.cursor {
            None => None,
            Some(cursor) => Some(
                snapshot
                    .find(cursor)
                    .ok_or_else(|| ServiceError::invalid("cursor", "This is no cursor of this list."))?,
            ),
        };
        let needle = query.query.as_deref().map(str::to_lowercase);
        let matching: Vec<_> = snapshot
            .catalog()
            .filter(|index| {
                let tool = snapshot.tool(*index);
                selected.as_ref().is_none_or(|names| names.contains(tool.name()))
                    && query.source.as_ref().is_none_or(|source| tool.source().to_string() == *source)
                    && needle.as_ref().is_none_or(|needle| {
                        [
                            tool.name().as_ref(),
                            tool.title().unwrap_or_default(),
                            tool.description(),
                            tool.service(),
                        ]
                        .iter()
                        .any(|text| text.to_lowercase().contains(needle.as_str()))
                    })
            })
            .collect();
        let page: Vec<_> = matching
            .iter()
            .filter(|index| start.is_none_or(|start| **index > start))
            .take(query.limit + 1)
            .collect();
        let more = page.len() > query.limit;
        let items: Vec<Tool> =
            page.iter().take(query.limit).map(|index| snapshot.card(**index, query.full)).collect();
        let next_cursor = items.last().filter(|_| more).map(|tool| tool.name.clone());
        let state = format!("r{}-{:016x}", snapshot.revision(), snapshot.fingerprint());
        Ok((state, Page { items, next_cursor, total: matching.len() as u64 }))
    }

    /// The names of the tools that a toolset selects. The resolver says so; nothing else does.
    async fn selected(
        &self,
        actor: &Actor,
        snapshot: &Snapshot,
        toolset: Toolset,
    ) -> Result<HashSet<Arc<str>>, ServiceError> {
        let request = self.request(actor, Asked { toolset: Some(toolset), ..Asked::default() }).await?;
        let resolution = resolve(snapshot, &request)?;
        let selects = |verdict: &&toolshelf_core::Verdict| {
            verdict.layer != Some(Layer::L2b) && verdict.also.iter().all(|cause| cause.layer != Layer::L2b)
        };
        Ok(resolution.verdicts.iter().filter(selects).map(|verdict| Arc::clone(&verdict.tool)).collect())
    }

    /// One tool of the catalog, with its parameters.
    pub fn get_tool(&self, name: &str) -> Result<Tool, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let index = snapshot.find(name).filter(|index| snapshot.is_shown(*index));
        index.map(|index| snapshot.card(index, true)).ok_or_else(|| unknown_tool(&snapshot, name))
    }

    /// Which tools a request would get, and why.
    pub async fn resolve(&self, actor: &Actor, asked: Resolve) -> Result<Resolved, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let request = self.request(actor, Asked::from_resolve(&snapshot, asked)?).await?;
        Ok(shape(resolve(&snapshot, &request)?))
    }

    /// What the app shell needs for its first paint.
    pub async fn boot(&self, actor: &Actor, version: &str) -> Result<Boot, ServiceError> {
        let request = self.request(actor, Asked::default()).await?;
        let snapshot = self.registry().snapshot().load()?;
        let resolution = resolve(&snapshot, &request)?;
        Ok(Boot {
            version: version.to_owned(),
            me: actor.me(),
            revision: snapshot.revision(),
            tools: snapshot.catalog().map(|index| snapshot.card(index, false)).collect(),
            verdicts: resolution.verdicts,
            not_registered: resolution.not_registered,
            workspace: None,
        })
    }

    /// Calls a tool for the actor.
    pub async fn call_tool(&self, actor: &Actor, name: &str, call: Call) -> Result<CallResult, ServiceError> {
        let asked = Asked { conversation_id: call.conversation_id, ..Asked::default() };
        let request = self.request(actor, asked).await?;
        // A call ends with the standing of whoever made it, and its result goes to nobody else.
        let invoked = tokio::select! {
            biased;
            error = self.ended(actor) => return Err(error),
            invoked = self.registry().invoke(&request, name, call.arguments) => invoked.map_err(ServiceError::Call)?,
        };
        if let Some(conversation) = request.conversation().filter(|_| !invoked.loaded.is_empty()) {
            let loaded = merge_loaded(&conversation.loaded, invoked.loaded);
            self.keep_loaded(&conversation.id, &loaded).await?;
        }
        Ok(CallResult {
            is_error: invoked.output.is_error,
            code: invoked.code.map(str::to_owned),
            text: invoked.output.text,
            data: invoked.output.data,
            duration_ms: u64::try_from(invoked.duration.as_millis()).unwrap_or(u64::MAX),
            snapshot_revision: invoked.snapshot_revision,
        })
    }

    /// Keeps what a conversation has loaded. A conversation that was deleted meanwhile keeps nothing.
    pub(crate) async fn keep_loaded(
        &self,
        conversation: &str,
        loaded: &[Loaded],
    ) -> Result<(), ServiceError> {
        let rows: Vec<LoadedToolRow> = loaded
            .iter()
            .map(|loaded| LoadedToolRow {
                tool: loaded.tool.to_string(),
                definition: loaded.definition.to_string(),
            })
            .collect();
        let mut unit = self.store().begin().await?;
        if unit.find_conversation(conversation).await?.is_some() {
            unit.put_loaded_tools(conversation, &rows).await?;
            unit.commit().await?;
        }
        Ok(())
    }

    /// Disables a tool for everyone (L5). It works for tools that are missing now too. When it returns, no call
    /// that starts later can run the tool.
    pub async fn disable_tool(
        &self,
        actor: &Actor,
        name: &str,
        reason: &str,
        expected_revision: Option<u64>,
    ) -> Result<Tool, ServiceError> {
        let reason = reason.trim();
        let mut fields = Fields::default();
        fields.line("/reason", reason, 500);
        fields.finish()?;
        let now = self.now();
        let disable = Disable { by: actor.username().into(), reason: reason.into(), at: rfc3339(now).into() };
        self.put_tool_state(actor, name, Some(disable), expected_revision).await
    }

    /// Lifts the global disable of a tool. Lifting twice is no error.
    pub async fn enable_tool(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
    ) -> Result<Tool, ServiceError> {
        self.put_tool_state(actor, name, None, expected_revision).await
    }

    async fn put_tool_state(
        &self,
        actor: &Actor,
        name: &str,
        disable: Option<Disable>,
        expected_revision: Option<u64>,
    ) -> Result<Tool, ServiceError> {
        let (author, name, now) = (actor.clone(), name.to_owned(), self.now());
        self.write(Some(actor), move |unit, snapshot| {
            Box::pin(async move {
                let before = unit.find_tool_state(&name).await?;
                // A name that was never seen may be a missing tool's, if it could be a tool's at all. An author's
                // helper is in no catalog, and so not disabled by its name either.
                let hidden = snapshot.find(&name).is_some_and(|index| !snapshot.is_shown(index));
                if hidden || validate_tool_name(&name).is_err() {
                    return Err(unknown_tool(snapshot, &name));
                }
                let before =
                    before.unwrap_or(ToolStateRow { tool: name.clone(), disable: None, revision: 0 });
                if expected_revision.is_some_and(|expected| expected != before.revision) {
                    let current = serde_json::to_value(card(snapshot, &before)).map_err(|error| {
                        ServiceError::Internal(format!("a tool cannot be written as JSON: {error}"))
                    })?;
                    return Err(ServiceError::Stale { current });
                }
                if before.disable.is_none() && disable.is_none() {
                    return Ok(Written { value: card(snapshot, &before), deltas: Vec::new() });
                }
                let (action, detail) = match &disable {
                    Some(disable) => ("tool.disabled", disable.reason.to_string()),
                    None => ("tool.enabled", String::new()),
                };
                let state = ToolStateRow { tool: name.clone(), disable, revision: before.revision + 1 };
                unit.put_tool_state(&state).await?;
                unit.append_audit(&by_actor(&author, now, action, &name, detail)).await?;
                Ok(Written { value: card(snapshot, &state), deltas: vec![Delta::ToolState(state)] })
            })
        })
        .await
    }
}

/// The toolset that the query parameter names.
fn named(snapshot: &Snapshot, name: &str) -> Result<Toolset, ServiceError> {
    Toolset::named(snapshot, name).map_err(|error| ServiceError::Request { error, pointer: "toolset" })
}

/// A tool as it is shown once this state is in force; a missing tool shows its name and state only.
fn card(snapshot: &Snapshot, state: &ToolStateRow) -> Tool {
    let snapshot = snapshot.with_disable(&state.tool, state.revision, state.disable.clone());
    match snapshot.find(&state.tool) {
        Some(index) => snapshot.card(index, true),
        None => snapshot.missing_card(&state.tool),
    }
}

fn unknown_tool(snapshot: &Snapshot, name: &str) -> ServiceError {
    let catalog = snapshot.catalog().map(|index| snapshot.tool(index).name().as_ref());
    ServiceError::NotFound { what: "tool", name: name.to_owned(), suggestions: closest(name, catalog) }
}

fn shape(resolution: Resolution) -> Resolved {
    Resolved {
        revision: resolution.revision,
        tools: resolution
            .offered
            .iter()
            .map(|tool| OfferedTool {
                name: tool.name().to_string(),
                description: tool.description().to_owned(),
                parameters: tool.parameters().clone(),
            })
            .collect(),
        deferred: resolution.deferred,
        verdicts: resolution.verdicts,
        not_registered: resolution.not_registered,
        tokens: ResolveTokens {
            total: resolution.tokens.total,
            offered: resolution.tokens.offered,
            deferred: resolution.tokens.deferred,
            method: TOKEN_METHOD.to_owned(),
        },
        over_limit: resolution.over_limit.map(over_limit),
    }
}

/// What exceeds a model's limits, as the API shows it.
pub(crate) fn over_limit(over: toolshelf_core::OverLimit) -> OverLimit {
    OverLimit {
        kind: match over.kind {
            LimitKind::MaxTools => "max_tools".to_owned(),
            LimitKind::ContextWindow => "context_window".to_owned(),
        },
        count: over.count.into(),
        limit: over.limit.into(),
        heaviest: over
            .heaviest
            .into_iter()
            .map(|(service, tools, tokens)| HeavySource { service, tools: tools.into(), tokens })
            .collect(),
    }
}
