//! The registry of functions, and the one pipeline in which a tool runs.

mod arguments;
mod bound;
mod upstream;
mod validators;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolshelf_core::{
    Authorized, Availability, DefinitionError, LOADER, Layer, Loaded, NotRegistered, Refusal, Request,
    Snapshot, SnapshotError, Unavailable, authorize_call,
};

use self::arguments::{refused, with_integers};
use self::bound::bounded;
use self::validators::Validators;
use crate::function::{CallContext, Function, FunctionError, FunctionSpec};
use crate::output::{ToolReturn, cap};
use crate::snapshot_cell::{SnapshotCell, Unready};
use crate::upstream::{NoUpstreams, Upstreams};

/// Collects functions. A mistake in any of them is reported by [`RegistryBuilder::build`], which names them all.
pub struct RegistryBuilder {
    functions: Vec<Function>,
    not_registered: Vec<NotRegistered>,
    errors: Vec<RegistryError>,
    upstreams: Arc<dyn Upstreams>,
    is_set: IsSet,
}

/// Says whether a variable of the server's environment is set, to something that is not empty.
type IsSet = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl Default for RegistryBuilder {
    /// Without upstream servers, and with nothing set in the environment.
    fn default() -> Self {
        Self {
            functions: Vec::new(),
            not_registered: Vec::new(),
            errors: Vec::new(),
            upstreams: Arc::new(NoUpstreams),
            is_set: Arc::new(|_| false),
        }
    }
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

    /// Where the tools of upstream MCP servers run.
    #[must_use]
    pub fn upstreams(mut self, upstreams: Arc<dyn Upstreams>) -> Self {
        self.upstreams = upstreams;
        self
    }

    /// How to tell whether a variable of the server's environment is set, to something that is not empty.
    #[must_use]
    pub fn variables(mut self, is_set: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.is_set = Arc::new(is_set);
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
        let functions: HashMap<Arc<str>, Function> =
            self.functions.into_iter().map(|function| (Arc::clone(function.tool.name()), function)).collect();
        let registry = Registry {
            functions,
            snapshot: SnapshotCell::new(snapshot),
            upstreams: self.upstreams,
            is_set: self.is_set,
            validators: Validators::default(),
        };
        if let Ok(snapshot) = registry.snapshot.load() {
            registry.snapshot.swap(registry.with_checks(&snapshot));
        }
        Ok(registry)
    }
}

/// All functions, the way to the tools of upstream servers, and the snapshot of now.
pub struct Registry {
    functions: HashMap<Arc<str>, Function>,
    snapshot: SnapshotCell,
    upstreams: Arc<dyn Upstreams>,
    is_set: IsSet,
    validators: Validators,
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
    /// Deferred tools that the conversation has loaded by it: those that the loader found, or the called tool itself.
    pub loaded: Vec<Loaded>,
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
        let mut next = snapshot.clone();
        for (name, function) in self.functions.iter().filter(|(_, function)| function.may_be_unavailable()) {
            next = next.with_availability(name, self.check(function));
        }
        next
    }

    /// Upstream MCP servers.
    pub fn upstreams(&self) -> &Arc<dyn Upstreams> {
        &self.upstreams
    }

    /// What stands in a function's way. A check that panics counts as failed.
    fn check(&self, function: &Function) -> Availability {
        let failed =
            function.spec.check.as_ref().and_then(|check| match catch_unwind(AssertUnwindSafe(|| check())) {
                Ok(Ok(())) => None,
                Ok(Err(reason)) => Some(Unavailable::Check(reason.into())),
                Err(_) => Some(Unavailable::Check("its check failed unexpectedly".into())),
            });
        let missing: Vec<&str> =
            function.spec.requires_env.iter().copied().filter(|name| !(self.is_set)(name)).collect();
        let missing = (!missing.is_empty()).then(|| Unavailable::Environment(missing.join(", ").into()));
        Availability::of(failed.into_iter().chain(missing))
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
        let authorized = authorize_call(&snapshot, request, name).map_err(CallRefused::Refused)?;
        let mut invoked = if authorized.tool.upstream().is_some() {
            self.invoke_upstream(&snapshot, request, &authorized, arguments, room).await?
        } else {
            self.invoke_function(&snapshot, request, &authorized, arguments, room).await?
        };
        invoked.loaded = loaded(&snapshot, &authorized, &mut invoked.output);
        Ok(invoked)
    }

    async fn invoke_function(
        &self,
        snapshot: &Arc<Snapshot>,
        request: &Request,
        authorized: &Authorized,
        arguments: Map<String, Value>,
        room: usize,
    ) -> Result<Invoked, CallRefused> {
        let name = authorized.tool.name();
        let Some(function) = self.functions.get(name) else {
            // Every tool of a snapshot that is no server's comes from `functions`, so the snapshot is not of this registry.
            return Err(CallRefused::Unready);
        };
        if function.may_be_unavailable() {
            // What ran well when the snapshot was made may fail now; refuse with the verdict that the next snapshot gives.
            let now = snapshot.with_availability(name, self.check(function));
            authorize_call(&now, request, name).map_err(CallRefused::Refused)?;
        }
        self.validators.check(&authorized.tool, &arguments)?;
        let arguments = with_integers(arguments);

        let spec = &function.spec;
        let (most, ratio) = (spec.max_result_chars.min(room), spec.head_ratio);
        let cancel = CancellationToken::new();
        // Work on other threads ends too when this future is dropped.
        let _cancel_on_drop = cancel.clone().drop_guard();
        let context = CallContext {
            caller: request.caller().identity().clone(),
            conversation_id: request.conversation().map(|conversation| Arc::clone(&conversation.id)),
            request: request.clone(),
            snapshot: Arc::clone(snapshot),
            upstreams: Arc::clone(&self.upstreams),
            cancel,
        };
        let body = catch_unwind(AssertUnwindSafe(|| function.start(context, arguments)));
        let body = match body {
            Ok(Ok(body)) => body,
            Ok(Err(reason)) => {
                // An author's mistake. The reason may repeat arguments, so it is not for the log.
                tracing::warn!(tool = %name, "The schema of a tool allows what its argument type refuses.");
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
                loaded: Vec::new(),
            },
        })
    }
}

/// What a conversation has loaded by a call: what the loader found, or the deferred tool that was called.
fn loaded(snapshot: &Snapshot, authorized: &Authorized, output: &mut ToolReturn) -> Vec<Loaded> {
    let found = std::mem::take(&mut output.loads);
    let names = if authorized.tool.name().as_ref() == LOADER {
        found
    } else if authorized.deferred {
        vec![Arc::clone(authorized.tool.name())]
    } else {
        Vec::new()
    };
    let tools = names.iter().filter_map(|name| Some(snapshot.tool(snapshot.find(name)?)));
    tools.map(|tool| Loaded { tool: Arc::clone(tool.name()), definition: tool.definition().into() }).collect()
}

const PANICKED: &str = "The tool failed unexpectedly. The server's log has the details.";

fn failed(
    text: impl Into<String>,
    code: &'static str,
    duration: Duration,
    snapshot_revision: u64,
) -> Invoked {
    let output = ToolReturn { text: text.into(), is_error: true, ..ToolReturn::default() };
    Invoked { output, code: Some(code), duration, snapshot_revision, loaded: Vec::new() }
}
