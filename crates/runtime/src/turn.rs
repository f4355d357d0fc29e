//! The agent loop: from a message to its answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use futures_util::{FutureExt as _, StreamExt as _};
use toolshelf_core::{OverLimit, Refusal, Request, RequestError, Verdict, explain, resolve};

use crate::model::{Model, Piece, Prompt, Said, ToolCall, ToolResult};
use crate::registry::{CallRefused, Registry};

/// The most questions to the model in one turn.
const ITERATIONS_MAX: usize = 50;
/// How often the same call may fail in the same way.
const SAME_FAILURES_MAX: usize = 3;
/// How many calls of one answer run side by side; the others of it are refused.
const CALLS_MAX: usize = 16;
/// The longest answer, in bytes.
const ANSWER_MAX: usize = 1_000_000;

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
    /// The model repeated a call that fails.
    #[error("The model repeated a call of {0} that fails.")]
    Repeats(String),
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
            Self::Repeats(_) => "repeated_failure",
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
    let mut results: Vec<ToolResult> = Vec::new();
    for _ in 0..ITERATIONS_MAX {
        let snapshot = registry.snapshot().load().map_err(|_| TurnError::Unready)?;
        let resolution = resolve(&snapshot, request).map_err(TurnError::Request)?;
        if let Some(over) = resolution.over_limit {
            return Err(TurnError::OverLimit(over));
        }
        let prompt = Prompt {
            resolution: Arc::new(resolution),
            before: before.clone(),
            message: message.clone(),
            results: results.clone(),
        };
        let number = log.begin(Begin::ModelCall).await?;
        let answer = AssertUnwindSafe(ask(model, prompt, number, log)).catch_unwind().await;
        let (text, calls) = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                let end = End { code: Some(error.code().to_owned()), ..End::default() };
                log.end(number, end).await?;
                return Err(error);
            }
            Err(_) => {
                log.end(number, End { code: Some("model_failed".to_owned()), ..End::default() }).await?;
                return Err(TurnError::Model("The model failed unexpectedly.".to_owned()));
            }
        };
        log.end(number, End::default()).await?;
        if calls.is_empty() {
            return Ok(text);
        }
        let ran = calls.into_iter().map(|call| run_call(registry, request, number, call, log));
        for result in join_all(ran).await {
            let result = result?;
            let same = results.iter().filter(|earlier| **earlier == result).count();
            if result.code.is_some() && same + 1 >= SAME_FAILURES_MAX {
                return Err(TurnError::Repeats(result.call.name));
            }
            results.push(result);
        }
    }
    Err(TurnError::TooManyIterations)
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
                    return Err(TurnError::Model("The answer is longer than 1 MB.".to_owned()));
                }
                log.wrote(number, &more);
                text.push_str(&more);
            }
            Piece::Call(call) if calls.len() < CALLS_MAX => calls.push(call),
            Piece::Call(_) => {
                return Err(TurnError::Model(format!(
                    "The model asked for more than {CALLS_MAX} calls at once."
                )));
            }
        }
    }
    Ok((text, calls))
}

async fn run_call(
    registry: &Registry,
    request: &Request,
    parent: u32,
    call: ToolCall,
    log: &dyn TurnLog,
) -> Result<ToolResult, TurnError> {
    let number = log.begin(Begin::ToolCall { parent, call: &call }).await?;
    let end = match registry.invoke(request, &call.name, call.arguments.clone()).await {
        Ok(invoked) => {
            let code = invoked.code.map(str::to_owned);
            End { text: Some(invoked.output.text), code, verdict: None }
        }
        Err(refused) => refusal(&call.name, refused),
    };
    let result = ToolResult { call, text: end.text.clone().unwrap_or_default(), code: end.code.clone() };
    log.end(number, end).await?;
    Ok(result)
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
                text = format!("{text} {}", explain::fix_sentence(fix));
            }
            End { text: Some(text), code, verdict: Some(*verdict) }
        }
    }
}
