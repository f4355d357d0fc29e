//! Authentication, the only request builder, use cases, the snapshot writer and events.
//!
//! This crate knows ports only: no database, no web framework, no model is named here. Each file holds the use
//! cases of one kind of thing; [`Service`] is what they share.

mod access;
mod account_rules;
mod api_keys;
mod audit;
mod authenticator;
mod conversations;
mod error;
mod events;
mod functions_meta;
mod limits;
mod live_run;
mod messages;
mod models;
mod paging;
mod passwords;
mod profile_edits;
mod profiles;
mod references;
mod requests;
mod run_shapes;
mod run_task;
mod runs;
mod sealing;
mod searches;
mod secrets;
mod sessions;
mod setup;
mod standing;
mod starts;
mod times;
mod tools;
mod turns;
mod upstreams;
mod users;
mod writer;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolshelf_runtime::store::Store;
use toolshelf_runtime::{Environment, Model, Registry};

pub use access::{Access, Denied, Standing};
pub use authenticator::{Actor, SessionProof};
pub use error::ServiceError;
pub use events::{EventId, Events, Numbered, Subscription};
pub use functions_meta::CheckedFunctions;
pub use live_run::{NumberedRun, RunSubscription};
pub use requests::Asked;
pub use sealing::Sealer;
pub use sessions::SignedIn;
pub use standing::StandingWatch;
pub use times::rfc3339;
pub use tools::ToolQuery;

/// How long the set-up link works.
pub const SETUP_LINK_MINUTES: i64 = 60;

/// What all use cases share. Cloning is cheap.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    environment: Environment,
    registry: Arc<Registry>,
    models: Vec<Arc<dyn Model>>,
    runs: runs::LiveRuns,
    /// The tasks of runs, so that the end of the server waits for theirs.
    tasks: TaskTracker,
    /// Cancelled when all runs are to stop.
    stop_runs: CancellationToken,
    /// Held from BEGIN to swap, so that swaps are in commit order.
    writer: tokio::sync::Mutex<()>,
    events: Events,
    passwords: passwords::Passwords,
    limits: limits::Limits,
    /// Counts the changes to accounts, sessions and keys.
    accounts_changed: tokio::sync::watch::Sender<u64>,
    /// What upstream servers are doing.
    servers: upstreams::LiveServers,
    /// Held while an admin changes servers, so that what is connected follows what is stored.
    servers_order: tokio::sync::Mutex<()>,
    /// Seals what must be kept secret and read again.
    sealer: Sealer,
    /// Whether API keys may say which programs run on this machine.
    keys_may_add: bool,
    /// What is imported when the first account is made.
    waiting_import: std::sync::Mutex<Option<CheckedFunctions>>,
}

/// What a service is made of.
pub struct Parts {
    /// Keeps rows.
    pub store: Arc<dyn Store>,
    /// Holds functions and runs tools.
    pub registry: Arc<Registry>,
    /// Answer messages.
    pub models: Vec<Arc<dyn Model>>,
    /// Time and randomness.
    pub environment: Environment,
    /// Seals what must be kept secret and read again.
    pub sealer: Sealer,
    /// Whether API keys with the scope `admin` may add upstream servers that run a program.
    pub keys_may_add: bool,
}

impl Service {
    /// A service with what the store remembers about tools in force. No upstream server is connected before
    /// [`Service::start_upstreams`].
    pub async fn new(parts: Parts) -> Result<Self, ServiceError> {
        let Parts { store, registry, models, environment, sealer, keys_may_add } = parts;
        let mut unit = store.read().await?;
        let mut snapshot = toolshelf_core::Snapshot::clone(&*registry.snapshot().load()?);
        for state in unit.list_tool_states().await? {
            snapshot = snapshot.with_disable(&state.tool, state.revision, state.disable);
        }
        let revision = unit.snapshot_revision().await?;
        drop(unit);
        snapshot = upstreams::load(&*store, snapshot).await?;
        snapshot = profiles::load(&*store, snapshot, environment.now()).await?;
        runs::cut_off_all(&*store, &environment).await?;
        registry.snapshot().swap(snapshot.at_revision(revision));
        let inner = Inner {
            events: Events::new(environment.now().timestamp_micros()),
            passwords: passwords::Passwords::new(),
            limits: limits::Limits::new(),
            accounts_changed: tokio::sync::watch::Sender::new(0),
            waiting_import: std::sync::Mutex::new(None),
            writer: tokio::sync::Mutex::new(()),
            runs: runs::LiveRuns::default(),
            tasks: TaskTracker::new(),
            stop_runs: CancellationToken::new(),
            servers: upstreams::LiveServers::default(),
            servers_order: tokio::sync::Mutex::new(()),
            sealer,
            keys_may_add,
            store,
            environment,
            registry,
            models,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The registry, whose [`Registry::invoke`] runs tools.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// Notices of change.
    pub fn events(&self) -> &Events {
        &self.inner.events
    }

    /// Whether decisions can be trusted and the store answers.
    pub async fn is_ready(&self) -> bool {
        let stored = async { self.store().read().await?.snapshot_revision().await };
        match (self.registry().snapshot().load(), stored.await) {
            (Ok(snapshot), Ok(revision)) => snapshot.revision() <= revision,
            _ => false,
        }
    }

    /// Asks each function's check again and puts a changed answer in force. Meant to be called every few seconds,
    /// off the request path.
    pub async fn refresh_checks(&self) -> Result<(), ServiceError> {
        let before = self.registry().snapshot().load()?;
        let checked = self.registry().with_checks(&before);
        let changed: Vec<writer::Delta> = before
            .indexes()
            .filter(|index| before.availability(*index) != checked.availability(*index))
            .map(|index| writer::Delta::Availability {
                name: before.tool(index).name().to_string(),
                now: checked.availability(index).clone(),
            })
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        self.write(None, move |_, _| {
            Box::pin(async move { Ok(writer::Written { value: (), deltas: changed }) })
        })
        .await
    }

    /// Forgets what ended by itself: sessions, and addresses that no limit remembers.
    pub async fn tidy(&self) -> Result<(), ServiceError> {
        self.inner.limits.forget_idle();
        let mut unit = self.store().begin().await?;
        unit.delete_sessions_expired_at(self.now()).await?;
        unit.commit().await?;
        Ok(())
    }

    fn runs(&self) -> &runs::LiveRuns {
        &self.inner.runs
    }

    fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    fn environment(&self) -> &Environment {
        &self.inner.environment
    }

    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.inner.environment.now()
    }
}
