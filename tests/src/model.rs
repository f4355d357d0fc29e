//! A model that does what a test says, when the test says it.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;
use tokio::sync::mpsc;
use toolshelf_runtime::{Model, ModelError, ModelInfo, Piece, Prompt, ToolCall};

type Pieces = mpsc::UnboundedSender<Result<Piece, ModelError>>;

/// A model named `test` that hands every question to the test. Clones are one model.
#[derive(Clone)]
pub struct TestModel {
    info: ModelInfo,
    asks: mpsc::UnboundedSender<ModelCall>,
    asked: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<ModelCall>>>,
    panics: Arc<Mutex<bool>>,
}

impl std::fmt::Debug for TestModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TestModel")
    }
}

/// A question to the model. Dropping it ends the answer.
#[derive(Debug)]
pub struct ModelCall {
    /// What the model is told.
    pub prompt: Prompt,
    pieces: Pieces,
}

impl TestModel {
    /// A model that nobody asked yet.
    pub fn new() -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        let info = ModelInfo {
            name: "test".to_owned(),
            title: "Test".to_owned(),
            description: "Does what a test says.".to_owned(),
            limits: toolshelf_server::ModelLimits::default(),
        };
        Self { info, asks, asked: Arc::new(tokio::sync::Mutex::new(asked)), panics: Arc::default() }
    }

    /// The next question.
    pub async fn asked(&self) -> ModelCall {
        let mut asked = self.asked.lock().await;
        crate::within("a question to the model", asked.recv()).await.expect("the model lives")
    }

    /// Makes the next question panic.
    pub fn panic_next(&self) {
        *self.panics.lock().expect("no holder of this lock panics") = true;
    }
}

impl Default for TestModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for TestModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answer(&self, prompt: Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let panics = std::mem::take(&mut *self.panics.lock().expect("no holder of this lock panics"));
        assert!(!panics, "the test wants it");
        let (pieces, answer) = mpsc::unbounded_channel();
        self.asks.send(ModelCall { prompt, pieces }).expect("the test holds the model");
        stream::unfold(answer, async |mut answer| Some((answer.recv().await?, answer))).boxed()
    }
}

impl ModelCall {
    /// Writes a piece of text.
    pub fn write(&self, text: &str) {
        self.send(Ok(Piece::Text(text.to_owned())));
    }

    /// Asks for a call.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes json!(…) here")]
    pub fn call(&self, tool: &str, arguments: Value) {
        let call = ToolCall { id: tool.to_owned(), name: tool.to_owned(), arguments: arguments.to_string() };
        self.send(Ok(Piece::Call(call)));
    }

    /// Fails with this error.
    pub fn fail(&self, error: &str) {
        self.send(Err(ModelError(error.to_owned())));
    }

    /// Writes a text and ends the answer.
    pub fn answer(self, text: &str) {
        self.write(text);
    }

    /// Waits until nobody wants the answer any more.
    pub async fn dropped(&self) {
        crate::within("the end of the question", self.pieces.closed()).await;
    }

    fn send(&self, piece: Result<Piece, ModelError>) {
        self.pieces.send(piece).expect("somebody waits for the answer");
    }
}
