//! The port to models.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use serde_json::{Map, Value};
use toolshelf_core::{ModelLimits, Resolution};

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// What to write as `model`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it is, in one sentence.
    pub description: String,
    /// How much it takes.
    pub limits: ModelLimits,
}

/// The longest arguments of a call that are read, in bytes.
const ARGUMENTS_MAX: usize = 400_000;
/// How much of longer ones is kept, in characters.
const ARGUMENTS_KEPT: usize = 1_000;

/// A call that a model wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// What the model calls the call, so that it knows its result again.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them. They may be no JSON.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments, or a sentence that says what is wrong with them and where. Nothing written means none.
    pub fn read_arguments(&self) -> Result<Map<String, Value>, String> {
        if self.arguments.len() > ARGUMENTS_MAX {
            return Err(format!("The arguments are longer than {} kB.", ARGUMENTS_MAX / 1_000));
        }
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            Ok(_) => Err("The arguments are JSON, but no object.".to_owned()),
            Err(error) => Err(format!("The arguments are no JSON: {error}.")),
        }
    }

    /// The arguments as they are kept and shown: what was written, as text, if they cannot be read.
    pub fn shown_arguments(&self) -> Value {
        match self.read_arguments() {
            Ok(arguments) => Value::Object(arguments),
            Err(_) if self.arguments.len() > ARGUMENTS_MAX => {
                let kept: String = self.arguments.chars().take(ARGUMENTS_KEPT).collect();
                Value::String(format!("{kept}…"))
            }
            Err(_) => Value::String(self.arguments.clone()),
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub call: ToolCall,
    /// The text for the model.
    pub text: String,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
}

/// One answer of a model that asked for calls, with their results in the order in which it asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// What the model wrote beside the calls.
    pub text: String,
    /// The calls with their results.
    pub results: Vec<ToolResult>,
}

/// A message of an earlier turn. Tool calls and results of earlier turns are not told again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// By the person.
    User(String),
    /// By the model.
    Assistant(String),
}

/// A question to a model.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The tools, with the verdict of each.
    pub resolution: Arc<Resolution>,
    /// The deferred tools as text, for the system prompt; empty when nothing is deferred. It is the same in the whole turn.
    pub catalog: Arc<str>,
    /// What was said before.
    pub before: Arc<[Said]>,
    /// What is said now.
    pub message: Arc<str>,
    /// What the model wrote and called for this message so far.
    pub rounds: Vec<Arc<Round>>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// A tool is to be called. Calls of one answer that only read run side by side, the others in order.
    Call(ToolCall),
}

/// Says why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);

/// A model. Dropping the stream stops it.
pub trait Model: Send + Sync {
    /// What it is.
    fn info(&self) -> &ModelInfo;
    /// Its answer, piece by piece.
    fn answer(&self, prompt: Prompt) -> BoxStream<'static, Result<Piece, ModelError>>;
}
