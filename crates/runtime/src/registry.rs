//! The registry of functions, and the one pipeline in which a tool runs.

mod arguments;
mod bound;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolshelf_core::{
    Availability, DefinitionError, Layer, NotRegistered, Refusal, Request, Snapshot, SnapshotError,
    authorize_call,
};

use self::arguments::{refused, with_integers};
use self::bound::bounded;
use crate::function::{CallContext, Function, FunctionError, FunctionSpec};
use crate::output::{ToolReturn, cap};
use crate::snapshot_cell::{SnapshotCell, Unready};

/// Collects functions. A mistake in any of them is reported by [`RegistryBuilder::build`], which names them all.
#[derive(Default)]
pub struct RegistryBuilder {
    functions: Vec<Function>,
    not_registered: Vec<NotRegistered>,
    errors: Vec<RegistryError>,
}

/// Says why functions cannot form a registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// A definition is wrong.
    #[error(transparent)]
    Definition(DefinitionError),
    /// Two functions have one name.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl RegistryBuilder {
    /// Adds a function; see [`Function::new`].
    #[must_use]
    pub fn function<A, F, Fut>(mut self, spec: FunctionSpec, body: F) -> Self
    where
        A: serde::de::DeserializeOwned + schemars::JsonSchema,
        F: Fn(CallContext, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolReturn, FunctionError>> + Send + 'static,
    {
        match Function::new(spec, body) {
            Ok(function) => self.functions.push(function),
            Err(error) => self.errors.push(RegistryError::Definition(error)),
        }
        self
    }

    /// Says that a function exists and is not registered here (L1), and why.
    #[must_use]
    pub fn not_registered(mut self, name: &str, reason: &str) -> Self {
        self.not_registered.push(NotRegistered { name: name.into(), reason: reason.into() });
        self
    }

    /// The registry, with a first snapshot in which nothing was decided yet.
    pub fn build(self) -> Result<Registry, Vec<RegistryError>> {
        let tools = self.functions.iter().map(|function| Arc::clone(&function.tool)).collect();
        let mut errors = self.errors;
        let snapshot = match Snapshot::new(tools, self.not_registered) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                errors.push(error.into());
                return Err(errors);
            }
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let functions: HashMap<Arc<str>, Registered> = self
            .functions
            .into_iter()
            .map(|function| {
                (Arc::clone(function.tool.name()), Registered { function, validator: OnceLock::new() })
            })
            .collect();
        let registry = Registry { functions, snapshot: SnapshotCell::new(snapshot) };
        if let Ok(snapshot) = registry.snapshot.load() {
            registry.snapshot.swap(registry.with_checks(&snapshot));
        }
        Ok(registry)
    }
}

struct Registered {
    function: Function,
    /// Compiled at the first call: a catalog may be large, and most of its tools are never called.
    validator: OnceLock<Result<Validator, String>>,
}

/// All functions, and the snapshot of now.
pub struct Registry {
    functions: HashMap<Arc<str>, Registered>,
    snapshot: SnapshotCell,
}

/// What is wrong with one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The argument as a JSON Pointer into the arguments.
    pub pointer: String,
    /// What is wrong, as a sentence.
    pub message: String,
}

/// Says why a call did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRefused {
    /// No decision can be trusted now.
    Unready,
    /// The resolver refuses it.
    Refused(Refusal),
    /// The arguments do not fit the parameters.
    InvalidInput(Vec<ArgumentError>),
}

impl CallRefused {
    /// The stable code of the stage that refused.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unready => "unready",
            Self::Refused(Refusal::Unknown { .. }) => "unknown_tool",
            Self::Refused(Refusal::Request(_)) | Self::InvalidInput(_) => "invalid_input",
            Self::Refused(Refusal::Removed(verdict)) => match verdict.layer {
                Some(Layer::L1 | Layer::L4) => "inactive",
                _ => "unauthorized",
            },
        }
    }
}

/// What a call that ran gave back. A failure of the tool is a result for the model, never a crash.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoked {
    /// The result, cut to the function's limit.
    pub output: ToolReturn,
    /// The stable code of the stage that failed: `execution_failed`, `timed_out` or `cancelled`.
    pub code: Option<&'static str>,
    /// How long the body ran.
    pub duration: Duration,
    /// The revision of the snapshot that allowed the call.
    pub snapshot_revision: u64,
}

impl Registry {
    /// An empty collection of functions.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// The snapshot of now.
    pub fn snapshot(&self) -> &SnapshotCell {
        &self.snapshot
    }

    /// The snapshot with the result of each function's check as of now.
    pub fn with_checks(&self, snapshot: &Snapshot) -> Snapshot {
        let checked =
            self.functions.iter().filter_map(|(name, registered)| Some((name, check(&registered.function)?)));
        let mut next = snapshot.clone();
        for (name, availability) in checked {
            next = next.with_availability(name, availability);
        }
        next
    }

    /// Runs a tool: authorize, validate, execute within its budget, normalise, cap.
    ///
    /// The decision is made here and in the snapshot of now, whatever was listed before. Dropping the future
    /// cancels the call.
    pub async fn invoke(
        &self,
        request: &Request,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Invoked, CallRefused> {
        self.invoke_within(request, name, arguments, usize::MAX).await
    }

    /// The same for a reader who has room for so many characters of result. The function's own limit holds as well.
    pub async fn invoke_within(
        &self,
        request: &Request,
        name: &str,
        arguments: Map<String, Value>,
        room: usize,
    ) -> Result<Invoked, CallRefused> {
        let snapshot = self.snapshot.load().map_err(|Unready| CallRefused::Unready)?;
        let tool = authorize_call(&snapshot, request, name).map_err(CallRefused::Refused)?;
        let Some(registered) = self.functions.get(tool.name()) else {
            // Every tool of a snapshot comes from `functions`, so the snapshot is not of this registry.
            return Err(CallRefused::Unready);
        };
        if let Some(Availability::Failed(reason)) = check(&registered.function) {
            // The check ran well when the snapshot was made and fails now; refuse with the verdict that the next
            // snapshot will give.
            let now = snapshot.with_availability(name, Availability::Failed(reason));
            authorize_call(&now, request, name).map_err(CallRefused::Refused)?;
        }
        registered.validate(&arguments)?;
        let arguments = with_integers(arguments);

        let spec = &registered.function.spec;
        let (most, ratio) = (spec.max_result_chars.min(room), spec.head_ratio);
        let cancel = CancellationToken::new();
        // Work on other threads ends too when this future is dropped.
        let _cancel_on_drop = cancel.clone().drop_guard();
        let context = CallContext {
            caller: request.caller().identity().clone(),
            conversation_id: request.conversation().map(|conversation| Arc::clone(&conversation.id)),
            cancel,
        };
        let body = catch_unwind(AssertUnwindSafe(|| registered.function.start(context, arguments)));
        let body = match body {
            Ok(Ok(body)) => body,
            Ok(Err(reason)) => {
                // An author's mistake. The reason may repeat arguments, so it is not for the log.
                tracing::warn!(tool = name, "The schema of a tool allows what its argument type refuses.");
                let message = refused(&reason);
                return Err(CallRefused::InvalidInput(vec![ArgumentError {
                    pointer: String::new(),
                    message,
                }]));
            }
            Err(_) => return Ok(failed(PANICKED, "execution_failed", Duration::ZERO, snapshot.revision())),
        };
        let started = Instant::now();
        let ended = tokio::time::timeout(spec.timeout, AssertUnwindSafe(body).catch_unwind()).await;
        let duration = started.elapsed();
        let revision = snapshot.revision();
        Ok(match ended {
            Err(_) => {
                let text = format!("{name} did not finish within {} seconds.", spec.timeout.as_secs_f64());
                failed(text, "timed_out", duration, revision)
            }
            Ok(Err(_)) => failed(PANICKED, "execution_failed", duration, revision),
            Ok(Ok(Err(FunctionError(text)))) => {
                failed(cap(text, most, ratio), "execution_failed", duration, revision)
            }
            Ok(Ok(Ok(output))) => Invoked {
                code: output.is_error.then_some("execution_failed"),
                output: bounded(output, most, ratio),
                duration,
                snapshot_revision: revision,
            },
        })
    }
}

const PANICKED: &str = "The tool failed unexpectedly. The server's log has the details.";

fn failed(
    text: impl Into<String>,
    code: &'static str,
    duration: Duration,
    snapshot_revision: u64,
) -> Invoked {
    let output = ToolReturn { text: text.into(), data: None, is_error: true };
    Invoked { output, code: Some(code), duration, snapshot_revision }
}

/// The result of a function's check; none if it has no check. A check that panics counts as failed.
fn check(function: &Function) -> Option<Availability> {
    let check = function.spec.check.as_ref()?;
    Some(match catch_unwind(AssertUnwindSafe(|| check())) {
        Ok(Ok(())) => Availability::Ready,
        Ok(Err(reason)) => Availability::Failed(reason.into()),
        Err(_) => Availability::Failed("its check failed unexpectedly".into()),
    })
}

impl Registered {
    /// Checks arguments against the parameters; reports every error, at most twenty.
    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), CallRefused> {
        let validator = self.validator.get_or_init(|| {
            jsonschema::options()
                // This engine takes time linear in the text, whatever the pattern.
                .with_pattern_options(PatternOptions::regex())
                .build(self.function.tool.parameters())
                .map_err(|error| error.to_string())
        });
        let invalid = |pointer: String, message: String| ArgumentError { pointer, message };
        let errors = match validator {
            Err(message) => {
                vec![invalid(String::new(), format!("The tool's parameters cannot be read: {message}"))]
            }
            Ok(validator) => validator
                .iter_errors(&Value::Object(arguments.clone()))
                .take(20)
                .map(|error| invalid(pointer_of(&error), error.masked().to_string()))
                .collect(),
        };
        if errors.is_empty() { Ok(()) } else { Err(CallRefused::InvalidInput(errors)) }
    }
}

/// Where the error is; a missing or surplus argument is itself the place, not the object around it.
fn pointer_of(error: &jsonschema::ValidationError<'_>) -> String {
    use jsonschema::error::ValidationErrorKind;
    let parent = error.instance_path().to_string();
    let child = match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.first().map(String::as_str),
        _ => None,
    };
    match child {
        Some(name) => format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
        None => parent,
    }
}
