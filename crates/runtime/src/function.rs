//! Functions: tools that are written in Rust and linked into the server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolshelf_core::{
    DefinitionError, Effect, Exposure, Identity, Kind, Request, Snapshot, Source, Tool, ToolDefinition,
};

use crate::output::{DEFAULT_MAX_CHARS, ToolReturn};
use crate::upstream::Upstreams;

/// What a running function may know of the call that it serves.
#[derive(Clone)]
pub struct CallContext {
    /// Who calls.
    pub caller: Identity,
    /// The id of the conversation that the call belongs to.
    pub conversation_id: Option<Arc<str>>,
    /// The request that the call was decided for, and the snapshot in which it was. What else the request could call is
    /// asked of `core` with these two.
    pub request: Request,
    /// See `request`.
    pub snapshot: Arc<Snapshot>,
    /// Upstream MCP servers, of which a function may read what the request reaches.
    pub upstreams: Arc<dyn Upstreams>,
    /// Cancelled when nobody waits for the result any more. Dropping the future ends asynchronous work; work on
    /// another thread asks this token.
    pub cancel: CancellationToken,
}

/// Says why a function failed. The text goes to the model and to the user who called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FunctionError(pub String);

impl FunctionError {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Says whether a tool can run now (L4): a quick question to the machine, answered without waiting.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What an author says about a function, besides its arguments and its body.
#[derive(Clone)]
pub struct FunctionSpec {
    /// The name on the wire.
    pub name: &'static str,
    /// The group.
    pub service: &'static str,
    /// A name for people.
    pub title: Option<&'static str>,
    /// What it does, for the model and for people.
    pub description: &'static str,
    /// Presets that it is in.
    pub toolsets: &'static [&'static str],
    /// Channels in which it must not be used (L3).
    pub unsafe_in: &'static [&'static str],
    /// Whether a model may see it at all (L2).
    pub expose: bool,
    /// Whether its schema comes on demand (L6).
    pub defer: bool,
    /// Whether it works only inside a conversation (L4).
    pub needs_conversation: bool,
    /// What it does, in one word.
    pub kind: Kind,
    /// What a call changes.
    pub effect: Effect,
    /// The most characters of its result.
    pub max_result_chars: usize,
    /// How much of a cut result is its beginning, 0.0 to 1.0.
    pub head_ratio: f64,
    /// How long a call may take.
    pub timeout: Duration,
    /// Variables that the server's environment must set, to something that is not empty (L4).
    pub requires_env: &'static [&'static str],
    /// Whether it can run now.
    pub check: Option<Check>,
}

impl FunctionSpec {
    /// An exposed function that reads, with the usual limits.
    pub fn new(name: &'static str, service: &'static str, description: &'static str) -> Self {
        Self {
            name,
            service,
            title: None,
            description,
            toolsets: &[],
            unsafe_in: &[],
            expose: true,
            defer: false,
            needs_conversation: false,
            kind: Kind::Read,
            effect: Effect::Read,
            max_result_chars: DEFAULT_MAX_CHARS,
            head_ratio: 0.7,
            timeout: Duration::from_mins(1),
            requires_env: &[],
            check: None,
        }
    }
}

type BodyFuture = Pin<Box<dyn Future<Output = Result<ToolReturn, FunctionError>> + Send>>;
type Body = Box<dyn Fn(CallContext, Map<String, Value>) -> Result<BodyFuture, String> + Send + Sync>;

/// A function that is ready to be registered.
pub struct Function {
    pub(crate) spec: FunctionSpec,
    pub(crate) tool: Arc<Tool>,
    body: Body,
}

impl Function {
    /// Builds a function from what its author says about it and its body.
    ///
    /// The parameters are derived from the argument type: its doc comments become the descriptions, and the object
    /// is closed, so that an argument nobody reads is an error and not a silent loss.
    pub fn new<A, F, Fut>(spec: FunctionSpec, body: F) -> Result<Self, DefinitionError>
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(CallContext, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolReturn, FunctionError>> + Send + 'static,
    {
        let tool = Tool::new(ToolDefinition {
            name: spec.name.to_owned(),
            title: spec.title.map(str::to_owned),
            description: spec.description.to_owned(),
            parameters: parameters_of::<A>(),
            source: Source::builtin(),
            service: spec.service.to_owned(),
            method: spec.name.to_owned(),
            toolsets: owned(spec.toolsets),
            unsafe_in: owned(spec.unsafe_in),
            exposure: if spec.expose { Exposure::Exposed } else { Exposure::Internal },
            defer: spec.defer,
            needs_conversation: spec.needs_conversation,
            kind: spec.kind,
            effect: spec.effect,
            held: None,
            upstream: None,
        })?;
        let body: Body = Box::new(move |context, arguments| {
            let arguments =
                serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())?;
            let future: BodyFuture = Box::pin(body(context, arguments));
            Ok(future)
        });
        Ok(Self { spec, tool: Arc::new(tool), body })
    }

    /// Whether it may be unable to run.
    pub(crate) fn may_be_unavailable(&self) -> bool {
        self.spec.check.is_some() || !self.spec.requires_env.is_empty()
    }

    /// Starts the body. Fails if the arguments do not fit the argument type although they fit the schema.
    pub(crate) fn start(
        &self,
        context: CallContext,
        arguments: Map<String, Value>,
    ) -> Result<BodyFuture, String> {
        (self.body)(context, arguments)
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn parameters_of<A: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            // One self-contained object reads better in a drawer and is what every provider accepts.
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut schema = generator.into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("title");
        // The type's own comment describes a Rust type, not the arguments.
        object.shift_remove("description");
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}
