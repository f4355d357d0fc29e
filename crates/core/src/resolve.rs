//! Decides all tools for one request, and the one that is about to run.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::card::NotRegistered;
use crate::compiled::Compiled;
use crate::evaluate::evaluate;
use crate::names::{closest, visible_line};
use crate::request::{ModelLimits, Request, RequestError};
use crate::snapshot::Snapshot;
use crate::tokens::estimate_text;
use crate::tool::{LOADER, Tool};
use crate::verdict::{By, ByKind, Cause, Code, Fix, FixAction, FixWho, Layer, Outcome, Verdict};

/// A deferred tool: the model sees this and can ask for the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CatalogEntry {
    /// The tool's name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Arc<str>,
    /// What it does, in one line.
    pub description: String,
    /// What deferred it: [`Layer::L6`] or [`Layer::Retention`].
    pub via: Layer,
}

impl CatalogEntry {
    /// The longest description in a catalog, in characters.
    const LINE_MAX: usize = 120;

    fn new(tool: &Tool) -> Self {
        let description = visible_line(tool.description(), Self::LINE_MAX);
        Self { name: Arc::clone(tool.name()), description, via: Layer::L6 }
    }
}

/// Estimated tokens of a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tokens {
    /// Offered and deferred together.
    pub total: u32,
    /// Names, descriptions and schemas of the offered tools.
    pub offered: u32,
    /// The catalog lines of the deferred tools.
    pub deferred: u32,
}

/// What a request gets, and why.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The revision of the snapshot.
    pub revision: u64,
    /// Tools whose schema ships, in the order of lists.
    pub offered: Vec<Arc<Tool>>,
    /// Tools whose schema comes on demand.
    pub deferred: Vec<CatalogEntry>,
    /// Exactly one verdict for each registered tool and each tool that was not registered.
    pub verdicts: Vec<Verdict>,
    /// Tools that did not enter the registry.
    pub not_registered: Vec<NotRegistered>,
    /// What the tools cost.
    pub tokens: Tokens,
    /// What exceeds the model's limits, so that it must not be sent.
    pub over_limit: Option<OverLimit>,
}

/// A limit of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// The number of tools.
    MaxTools,
    /// The tokens of one request.
    ContextWindow,
}

/// What exceeds a model's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The limit.
    pub kind: LimitKind,
    /// How much would be sent: tools, or tokens of tools.
    pub count: u32,
    /// How much the model takes.
    pub limit: u32,
    /// The three services that weigh most: name, tools, tokens.
    pub heaviest: Vec<(String, u32, u32)>,
}

/// The first limit that the tools exceed.
fn over_limit(limits: ModelLimits, offered: &[Arc<Tool>], tokens: u32) -> Option<OverLimit> {
    let count = u32::try_from(offered.len()).unwrap_or(u32::MAX);
    let exceeded = |limit: Option<u32>, count| limit.filter(|limit| count > *limit);
    let (kind, count, limit) = match exceeded(limits.max_tools, count) {
        Some(limit) => (LimitKind::MaxTools, count, limit),
        None => (LimitKind::ContextWindow, tokens, exceeded(limits.context_window, tokens)?),
    };
    let mut services: Vec<(String, u32, u32)> = Vec::new();
    for tool in offered {
        match services.iter_mut().find(|(service, ..)| service == tool.service()) {
            Some((_, tools, tokens)) => (*tools, *tokens) = (*tools + 1, *tokens + tool.tokens()),
            None => services.push((tool.service().to_owned(), 1, tool.tokens())),
        }
    }
    services.sort_by_key(|(_, tools, tokens)| {
        std::cmp::Reverse(if kind == LimitKind::MaxTools { *tools } else { *tokens })
    });
    services.truncate(3);
    Some(OverLimit { kind, count, limit, heaviest: services })
}

/// Decides every tool for a request.
///
/// What is offered stands in two parts: the loader and what the selection shows, in the order of lists; then what became
/// visible later in the conversation, by first appearance. While the loader cannot be used nothing is deferred: a schema
/// that nobody could ask for would make its tool useless, so it ships.
pub fn resolve(snapshot: &Snapshot, request: &Request) -> Result<Resolution, RequestError> {
    let compiled = Compiled::new(snapshot, request)?;
    let (mut offered, mut late, mut deferred) = (Vec::new(), Vec::new(), Vec::new());
    let mut verdicts = Vec::with_capacity(snapshot.len() + snapshot.not_registered().len());
    let mut loader = None;
    let (mut offered_tokens, mut deferred_tokens) = (0, 0);
    for index in snapshot.indexes() {
        let verdict = evaluate(snapshot, &compiled, index);
        let tool = snapshot.tool(index);
        match verdict.outcome {
            Outcome::Offered if tool.is_loader() => loader = Some(index),
            Outcome::Offered => {
                offered_tokens += tool.tokens();
                match compiled.late(index) {
                    None => offered.push(Arc::clone(tool)),
                    Some(place) => late.push((place, Arc::clone(tool))),
                }
            }
            Outcome::Deferred => {
                let entry = CatalogEntry::new(tool);
                deferred_tokens += estimate_text(&entry.name) + estimate_text(&entry.description) + 2;
                deferred.push(entry);
            }
            Outcome::Removed => {}
        }
        verdicts.push(verdict);
    }
    if let Some(index) = loader {
        if deferred.is_empty() {
            verdicts[index.0].remove(nothing_deferred());
        } else {
            offered_tokens += snapshot.tool(index).tokens();
            offered.insert(0, Arc::clone(snapshot.tool(index)));
        }
    }
    late.sort_by_key(|(place, _)| *place);
    offered.extend(late.into_iter().map(|(_, tool)| tool));
    verdicts.extend(snapshot.not_registered().iter().map(not_registered));
    let tokens = Tokens {
        total: offered_tokens + deferred_tokens,
        offered: offered_tokens,
        deferred: deferred_tokens,
    };
    Ok(Resolution {
        over_limit: over_limit(request.scope.limits, &offered, tokens.total),
        revision: snapshot.revision(),
        offered,
        deferred,
        verdicts,
        not_registered: snapshot.not_registered().to_vec(),
        tokens,
    })
}

/// L6: the loader at rest.
fn nothing_deferred() -> Cause {
    Cause {
        layer: Layer::L6,
        code: Code::NothingDeferred,
        by: By { kind: ByKind::System, name: LOADER.into() },
        reason: None,
        fix: Fix { action: FixAction::LoadTool, target: LOADER.into(), who: FixWho::Nobody },
    }
}

/// The upstream MCP servers whose resources and prompts a request reaches: those of which it could call a tool.
pub fn reachable_upstreams<'a>(snapshot: &'a Snapshot, resolution: &Resolution) -> BTreeSet<&'a str> {
    let callable = resolution.verdicts.iter().filter(|verdict| verdict.outcome.is_callable());
    callable.filter_map(|verdict| snapshot.tool(snapshot.find(&verdict.tool)?).source().server()).collect()
}

/// L1: the verdict of a tool that was declared and did not enter the registry.
fn not_registered(tool: &NotRegistered) -> Verdict {
    let mut verdict = Verdict::offered(Arc::clone(&tool.name));
    verdict.remove(Cause {
        layer: Layer::L1,
        code: Code::NotRegistered,
        by: By { kind: ByKind::Author, name: Arc::clone(&tool.name) },
        reason: Some(Arc::clone(&tool.reason)),
        fix: Fix { action: FixAction::ChangeCode, target: Arc::clone(&tool.name), who: FixWho::Author },
    });
    verdict
}

/// Says why a call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request itself cannot be answered.
    Request(RequestError),
    /// No such tool is registered.
    Unknown {
        /// The name as given.
        name: String,
        /// Close names in the catalog.
        suggestions: Vec<String>,
    },
    /// The tool exists and is removed for this request.
    Removed(Box<Verdict>),
}

/// A tool that may run now.
#[derive(Clone, Debug)]
pub struct Authorized {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Whether its schema was deferred, so that calling it loads it.
    pub deferred: bool,
}

/// Decides the one tool that is about to run, in the snapshot of now.
pub fn authorize_call(snapshot: &Snapshot, request: &Request, name: &str) -> Result<Authorized, Refusal> {
    let compiled = Compiled::new(snapshot, request).map_err(Refusal::Request)?.for_call();
    let Some(index) = snapshot.find(name) else {
        if let Some(tool) = snapshot.not_registered().iter().find(|tool| tool.name.as_ref() == name) {
            return Err(Refusal::Removed(Box::new(not_registered(tool))));
        }
        let suggestions = closest(name, snapshot.catalog_names());
        return Err(Refusal::Unknown { name: name.to_owned(), suggestions });
    };
    let verdict = evaluate(snapshot, &compiled, index);
    if verdict.outcome.is_callable() {
        let deferred = verdict.outcome == Outcome::Deferred;
        Ok(Authorized { tool: Arc::clone(snapshot.tool(index)), deferred })
    } else {
        Err(Refusal::Removed(Box::new(verdict)))
    }
}
