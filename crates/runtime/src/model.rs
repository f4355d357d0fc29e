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

/// A call that a model wants.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The call.
    pub call: ToolCall,
    /// The text for the model.
    pub text: String,
    /// Why it failed, as a stable code.
    pub code: Option<String>,
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
    /// What was said before.
    pub before: Vec<Said>,
    /// What is said now.
    pub message: String,
    /// The calls that the model made for this message, with their results.
    pub results: Vec<ToolResult>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// A tool is to be called. Calls of one answer run side by side.
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
