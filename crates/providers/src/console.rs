//! The tool console: a deterministic model that shows and calls the tools of a conversation.

mod command;
#[cfg(test)]
mod tests;
mod words;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;
use toolshelf_core::ModelLimits;
use toolshelf_runtime::{Model, ModelError, ModelInfo, Piece, Prompt, ToolCall};

use self::command::Command;

/// The built-in model. The same message with the same tools always has the same answer.
pub struct Console {
    info: ModelInfo,
}

impl Console {
    /// The console with the limits of a model that it stands for, such as 128 tools.
    pub fn new(limits: ModelLimits) -> Self {
        let info = ModelInfo {
            name: "console".to_owned(),
            title: "Tool console".to_owned(),
            description: "Shows and calls the tools of this conversation. It is no language model."
                .to_owned(),
            limits,
        };
        Self { info }
    }
}

impl Model for Console {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answer(&self, prompt: Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let result = prompt.rounds.last().and_then(|round| round.results.last());
        let pieces = match (Command::parse(&prompt.message), result) {
            (Command::Call { .. }, Some(result)) => lines(&words::called(result)),
            (Command::Call { name, arguments: Ok(arguments) }, None) => {
                let arguments = Value::Object(arguments).to_string();
                vec![Piece::Call(ToolCall { id: "1".to_owned(), name, arguments })]
            }
            (Command::Call { name, arguments: Err(error) }, None) => {
                lines(&words::bad_arguments(&name, &error))
            }
            (Command::Search(query), _) => lines(&words::found(&prompt.resolution, &query)),
            (Command::Why(name), _) => lines(&words::why(&prompt.resolution, &name)),
            (Command::Tools, _) => lines(&words::tools(&prompt.resolution)),
            (Command::Help, _) => lines(&words::help()),
            (Command::Unknown(command), _) => lines(&words::unknown(&command)),
            (Command::Text, _) => lines(&words::plain(&prompt.resolution)),
        };
        stream::iter(pieces.into_iter().map(Ok)).boxed()
    }
}

/// A text in pieces of one line, as it is streamed.
fn lines(text: &str) -> Vec<Piece> {
    text.split_inclusive('\n').map(|line| Piece::Text(line.to_owned())).collect()
}
