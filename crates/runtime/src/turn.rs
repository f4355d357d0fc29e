//! The agent loop: from a message to its answer.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use toolshelf_core::{
    Effect, Loaded, ModelLimits, OverLimit, Refusal, Request, RequestError, Snapshot, Verdict, explain,
    merge_loaded, resolve,
};

use crate::catalog::catalog_block;
use crate::model::{Model, Piece, Prompt, Round, Said, ToolCall, ToolResult};
use crate::registry::{CallRefused, Registry};

/// The most questions to the model in one turn.
const ITERATIONS_MAX: usize = 50;
/// How often the same call may fail.
const SAME_FAILURES_MAX: usize = 3;
/// How many calls run side by side.
const SIDE_BY_SIDE: usize = 8;
/// The most calls of one answer.
const CALLS_MAX: usize = 64;
/// The most calls of one turn.
const TURN_CALLS_MAX: usize = 500;
/// The longest answer, in bytes.
const ANSWER_MAX: usize = 400_000;
/// The longest name of a tool that is kept, in characters. No tool has a name of more than 64.
const NAME_MAX: usize = 100;

/// A part of a run that begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Begin<'a> {
    /// A question to the model.
    ModelCall,
    /// A call of a tool, asked for by a model call.
    ToolCall {
        /// The number of the model call.
        parent: u32,
        /// The call.
        call: &'a ToolCall,
    },
}

/// How a part of a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// The result of a tool. A model's text came in pieces.
    pub text: Option<String>,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
    /// Why the tool was refused.
    pub verdict: Option<Verdict>,
}

/// Keeps and shows what happens in a turn.
#[async_trait]
pub trait TurnLog: Send + Sync {
    /// A part begins; returns its number. It is kept before the part runs.
    async fn begin(&self, part: Begin<'_>) -> Result<u32, TurnError>;
    /// A model wrote more.
    fn wrote(&self, number: u32, text: &str);
    /// A part ended.
    async fn end(&self, number: u32, end: End) -> Result<(), TurnError>;
    /// The conversation has loaded these deferred tools now, in place of those that it had loaded.
    async fn loaded(&self, loaded: &[Loaded]) -> Result<(), TurnError>;
}

/// Says why a turn has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TurnError {
    /// No decision can be trusted now.
    #[error("The server cannot tell what is allowed now.")]
    Unready,
    /// The request cannot be answered any more.
    #[error("{0}")]
    Request(RequestError),
    /// The tools became more than the model takes.
    #[error("The tools are more than the model takes.")]
    OverLimit(OverLimit),
    /// The model failed.
    #[error("{0}")]
    Model(String),
    /// The model asked for calls again and again.
    #[error("The model asked {ITERATIONS_MAX} times for tools without an answer.")]
    TooManyIterations,
    /// The model asked for more calls than one turn may have.
    #[error("The model asked for more than {TURN_CALLS_MAX} calls.")]
    TooManyCalls,
    /// The model repeated a call that fails.
    #[error("The model repeated a call of {0} that fails.")]
    Repeats(String),
    /// Whoever asked no longer stands, so nothing more runs for them.
    #[error("The session or API key that asked for it ended.")]
    Ended,
    /// What happens cannot be kept.
    #[error("What happened could not be stored.")]
    Log(String),
}

impl TurnError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unready => "unready",
            Self::Request(_) => "invalid_request",
            Self::OverLimit(_) => "too_many_tools",
            Self::Model(_) => "model_failed",
            Self::TooManyIterations => "too_many_iterations",
            Self::TooManyCalls => "too_many_calls",
            Self::Repeats(_) => "repeated_failure",
            Self::Ended => "signed_out",
            Self::Log(_) => "store_failed",
        }
    }
}

/// Runs a turn to its answer. Each question resolves in the snapshot of then, and each call is decided when it runs, so
/// a tool that is disabled in the middle is not called any more. Dropping the future stops model and tools.
pub async fn run_turn(
    registry: &Registry,
    model: &dyn Model,
    request: &Request,
    before: Vec<Said>,
    message: String,
    log: &dyn TurnLog,
) -> Result<String, TurnError> {
    let (before, message): (Arc<[Said]>, Arc<str>) = (before.into(), message.into());
    let mut request = request.clone();
    let mut catalog: Option<Arc<str>> = None;
    let mut rounds: Vec<Arc<Round>> = Vec::new();
    let room = room_for_results(model.info().limits);
    let mut called = 0;
    let mut failures = Failures::default();
    for _ in 0..ITERATIONS_MAX {
        let snapshot = registry.snapshot().load().map_err(|_| TurnError::Unready)?;
        let resolution = resolve(&snapshot, &request).map_err(TurnError::Request)?;
        if let Some(over) = resolution.over_limit {
            return Err(TurnError::OverLimit(over));
        }
        // Made once: it does not shrink when tools are loaded, so what the model was sent stays as it was.
        let catalog = catalog.get_or_insert_with(|| catalog_block(&resolution.deferred).into());
        let prompt = Prompt {
            resolution: Arc::new(resolution),
            catalog: Arc::clone(catalog),
            before: Arc::clone(&before),
            message: Arc::clone(&message),
            rounds: rounds.clone(),
        };
        let number = log.begin(Begin::ModelCall).await?;
        let answer = AssertUnwindSafe(ask(model, prompt, number, log)).catch_unwind().await;
        let answer = answer
            .unwrap_or_else(|_| Err(TurnError::Model("The model failed unexpectedly.".to_owned())))
            .and_then(|(text, calls)| {
                called += calls.len();
                if called > TURN_CALLS_MAX { Err(TurnError::TooManyCalls) } else { Ok((text, calls)) }
            });
        let (text, calls) = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let end = End { code: Some(error.code().to_owned()), ..End::default() };
                log.end(number, end).await?;
                return Err(error);
            }
        };
        log.end(number, End::default()).await?;
        if calls.is_empty() {
            return Ok(text);
        }
        let (results, loads) = run_calls(registry, &snapshot, &request, room, number, calls, log).await?;
        if let Some(conversation) = request.conversation().filter(|_| !loads.is_empty()) {
            let loaded = merge_loaded(&conversation.loaded, loads);
            log.loaded(&loaded).await?;
            request = request.with_loaded(loaded);
        }
        if let Some(name) = results.iter().find_map(|result| failures.count(result)) {
            return Err(TurnError::Repeats(name));
        }
        rounds.push(Arc::new(Round { text, results }));
    }
    Err(TurnError::TooManyIterations)
}

/// How many characters one result may have for a model, so that a few do not fill its context window: three tenths of it, at
/// four characters a token, and at least 2,000.
fn room_for_results(limits: ModelLimits) -> usize {
    let room = |window: u32| (u64::from(window) * 4 * 3 / 10).max(2_000);
    limits.context_window.map_or(usize::MAX, |window| usize::try_from(room(window)).unwrap_or(usize::MAX))
}

/// How often each call failed since it last worked.
#[derive(Default)]
struct Failures(HashMap<(String, String), usize>);

impl Failures {
    /// Counts a result; returns the tool's name when the call failed once too often.
    fn count(&mut self, result: &ToolResult) -> Option<String> {
        // The order of the members makes no other call of it.
        let mut arguments = result.call.read_arguments().map_or_else(Value::String, Value::Object);
        arguments.sort_all_objects();
        let call = (result.call.name.clone(), arguments.to_string());
        if result.code.is_none() {
            self.0.remove(&call);
            return None;
        }
        let failures = self.0.entry(call).or_default();
        *failures += 1;
        (*failures >= SAME_FAILURES_MAX).then(|| result.call.name.clone())
    }
}

async fn ask(
    model: &dyn Model,
    prompt: Prompt,
    number: u32,
    log: &dyn TurnLog,
) -> Result<(String, Vec<ToolCall>), TurnError> {
    let mut pieces = model.answer(prompt);
    let (mut text, mut calls) = (String::new(), Vec::new());
    while let Some(piece) = pieces.next().await {
        match piece.map_err(|error| TurnError::Model(error.0))? {
            Piece::Text(more) => {
                if text.len() + more.len() > ANSWER_MAX {
                    let most = ANSWER_MAX / 1_000;
                    return Err(TurnError::Model(format!("The answer is longer than {most} kB.")));
                }
                log.wrote(number, &more);
                text.push_str(&more);
            }
            Piece::Call(call) if calls.len() < CALLS_MAX => calls.push(bounded(call)),
            Piece::Call(_) => {
                return Err(TurnError::Model(format!(
                    "The model asked for more than {CALLS_MAX} calls at once."
                )));
            }
        }
    }
    Ok((text, calls))
}

/// The call with a name that can be kept. A name that is cut is no tool's, before or after.
fn bounded(mut call: ToolCall) -> ToolCall {
    if let Some((end, _)) = call.name.char_indices().nth(NAME_MAX) {
        call.name.truncate(end);
        call.name.push('…');
    }
    call
}

/// Runs the calls of one answer; the results are in its order. Neighbours that only read run side by side. A call that
/// changes something runs alone, after those before it and before those after it, as the model wrote them.
async fn run_calls(
    registry: &Registry,
    snapshot: &Snapshot,
    request: &Request,
    room: usize,
    parent: u32,
    calls: Vec<ToolCall>,
    log: &dyn TurnLog,
) -> Result<(Vec<ToolResult>, Vec<Loaded>), TurnError> {
    // A name that is no tool's runs nothing.
    let only_reads = |call: &ToolCall| {
        snapshot.find(&call.name).is_none_or(|index| snapshot.tool(index).effect() == Effect::Read)
    };
    let (mut results, mut loads) = (Vec::with_capacity(calls.len()), Vec::new());
    let mut calls = calls.into_iter().peekable();
    while let Some(first) = calls.next() {
        let together = only_reads(&first);
        let mut group = vec![run_call(registry, request, room, parent, first, log)];
        while together && let Some(next) = calls.next_if(only_reads) {
            group.push(run_call(registry, request, room, parent, next, log));
        }
        let ended: Vec<_> = stream::iter(group).buffered(SIDE_BY_SIDE).try_collect().await?;
        for (result, loaded) in ended {
            results.push(result);
            loads.extend(loaded);
        }
    }
    Ok((results, loads))
}

async fn run_call(
    registry: &Registry,
    request: &Request,
    room: usize,
    parent: u32,
    call: ToolCall,
    log: &dyn TurnLog,
) -> Result<(ToolResult, Vec<Loaded>), TurnError> {
    let number = log.begin(Begin::ToolCall { parent, call: &call }).await?;
    let mut loaded = Vec::new();
    let end = match call.read_arguments() {
        Err(wrong) => End { text: Some(wrong), code: Some("invalid_input".to_owned()), verdict: None },
        Ok(arguments) => match registry.invoke_within(request, &call.name, arguments, room).await {
            Ok(invoked) => {
                let code = invoked.code.map(str::to_owned);
                loaded = invoked.loaded;
                End { text: Some(invoked.output.text), code, verdict: None }
            }
            Err(refused) => refusal(&call.name, refused),
        },
    };
    let result = ToolResult { call, text: end.text.clone().unwrap_or_default(), code: end.code.clone() };
    log.end(number, end).await?;
    Ok((result, loaded))
}

/// A refused call as a result: the model reads why, and so does the person.
fn refusal(name: &str, refused: CallRefused) -> End {
    let code = Some(refused.code().to_owned());
    match refused {
        CallRefused::Unready => {
            let text = "The server cannot tell what is allowed now and refuses everything.".to_owned();
            End { text: Some(text), code, verdict: None }
        }
        CallRefused::InvalidInput(errors) => {
            let lines = errors.iter().map(|error| {
                let place = error.pointer.trim_start_matches('/');
                if place.is_empty() { error.message.clone() } else { format!("{place}: {}", error.message) }
            });
            let lines: Vec<String> = lines.collect();
            let text = format!("The arguments do not fit {name}.\n{}", lines.join("\n"));
            End { text: Some(text), code, verdict: None }
        }
        CallRefused::Refused(Refusal::Request(error)) => {
            End { text: Some(error.to_string()), code, verdict: None }
        }
        CallRefused::Refused(Refusal::Unknown { name, suggestions }) => {
            let close = if suggestions.is_empty() {
                String::new()
            } else {
                format!(" Did you mean {}?", suggestions.join(", "))
            };
            End { text: Some(format!("There is no tool named {name:?}.{close}")), code, verdict: None }
        }
        CallRefused::Refused(Refusal::Removed(verdict)) => {
            let mut text = format!("{} cannot be called here. {}", verdict.tool, explain::sentence(&verdict));
            if let Some(fix) = &verdict.fix {
                // A reason that somebody gave may end without a sign.
                let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
                text = format!("{text}{end} {}", explain::fix_sentence(fix));
            }
            End { text: Some(text), code, verdict: Some(*verdict) }
        }
    }
}
