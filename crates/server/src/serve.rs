//! Wires the adapters and runs the server.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolshelf_functions::{Builtins, WebClient, WebConfig, Workspaces};
use toolshelf_providers::Console;
use toolshelf_runtime::store::Store;
use toolshelf_runtime::{Environment, Model, NoUpstreams, Registry, RegistryBuilder, Upstreams};
use toolshelf_service::{Parts, Sealer, Service};
use toolshelf_store::SqliteStore;
use toolshelf_upstream::{McpEnvironment, McpUpstreams};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;

use crate::accept::Limits;
use crate::assets::Assets;
use crate::cli::say;
use crate::config::Config;
use crate::http::Origins;
use crate::state::AppState;

/// How often checks are asked again and sessions that ended are forgotten.
const CHECKS_EVERY: Duration = Duration::from_secs(5);
const TIDY_EVERY: Duration = Duration::from_hours(1);

/// A server that listens.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// The token of the set-up link, while there is no account.
    pub setup_token: Option<String>,
    origin: String,
    listener: TcpListener,
    state: AppState,
    store: Arc<SqliteStore>,
}

/// A data folder with everything that works on it.
pub(crate) struct Opened {
    pub(crate) service: Service,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) workspaces: Workspaces,
}

/// How a data folder is opened.
pub(crate) struct How<'a> {
    pub(crate) web_allowed_hosts: &'a [String],
    pub(crate) key_file: Option<&'a Path>,
    pub(crate) keys_may_add: bool,
    pub(crate) upstreams: Arc<dyn Upstreams>,
}

impl How<'_> {
    /// Without a server: nothing is connected and nobody asks.
    pub(crate) fn at_rest() -> Self {
        Self { web_allowed_hosts: &[], key_file: None, keys_may_add: false, upstreams: Arc::new(NoUpstreams) }
    }
}

/// Opens a data folder: database, workspaces, functions.
pub(crate) async fn open(
    data: &Path,
    how: How<'_>,
    models: Vec<Arc<dyn Model>>,
    environment: Environment,
    more: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
) -> anyhow::Result<Opened> {
    let sealer = Sealer::new(&crate::secret_key::load(how.key_file, data, &environment)?);
    let store = Arc::new(SqliteStore::open(&data.join("toolshelf.db")).await?);
    let workspaces = Workspaces::open(&data.join("workspaces"))?;
    let builtins = Builtins {
        workspaces: workspaces.clone(),
        web: WebClient::new(WebConfig {
            allowed_hosts: how.web_allowed_hosts.to_vec(),
            ..WebConfig::default()
        })?,
        store: Arc::clone(&store) as Arc<dyn Store>,
        clock: Arc::clone(&environment.clock),
        upstreams: Arc::clone(&how.upstreams),
    };
    let builder = Registry::builder().upstreams(how.upstreams).variables(is_set);
    let registry = more(toolshelf_functions::register(builder, builtins)).build().map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow!("the functions cannot be registered: {}", errors.join("; "))
    })?;
    let service = Service::new(Parts {
        store: Arc::clone(&store) as Arc<dyn Store>,
        registry: Arc::new(registry),
        models,
        environment,
        sealer,
        keys_may_add: how.keys_may_add,
    })
    .await?;
    Ok(Opened { service, store, workspaces })
}

/// Whether a variable of this process's environment is set, to something that is not empty.
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Opens the data folder and starts to listen. Nothing is answered before [`Server::run`].
pub async fn start(config: Config, environment: Environment) -> anyhow::Result<Server> {
    start_with(config, environment, |registry| registry).await
}

/// The same with functions beside the built-in ones.
pub async fn start_with(
    config: Config,
    environment: Environment,
    more: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
) -> anyhow::Result<Server> {
    start_with_models(config, environment, more, Vec::new()).await
}

/// The same with models beside the console, too.
pub async fn start_with_models(
    config: Config,
    environment: Environment,
    more: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
    further: Vec<Arc<dyn Model>>,
) -> anyhow::Result<Server> {
    let data = open_data_folder(&config.data)?;
    let mut models: Vec<Arc<dyn Model>> = vec![Arc::new(Console::new(config.console))];
    models.extend(further);
    let how = How {
        web_allowed_hosts: &config.web_allowed_hosts,
        key_file: config.key_file.as_deref(),
        keys_may_add: config.keys_may_add,
        upstreams: Arc::new(upstreams(&config)?),
    };
    let Opened { service, store, workspaces } = open(&data, how, models, environment.clone(), more).await?;
    crate::import::at_first_start(&service, &data).await?;
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}; choose another port with --listen", config.listen))?;
    let address = listener.local_addr()?;
    let origins = Origins::new(address, config.public_url.as_ref(), &config.trusted_proxies);
    let setup_token = service.new_setup_token().await?;
    let state = AppState {
        service,
        environment,
        assets: Arc::new(Assets::load()),
        workspaces,
        origins: Arc::new(origins),
        stopping: CancellationToken::new(),
    };
    let origin = state.origins.shown();
    Ok(Server { address, setup_token, origin, listener, state, store })
}

/// The adapter to upstream MCP servers.
fn upstreams(config: &Config) -> anyhow::Result<McpUpstreams> {
    let own = config.environment.clone();
    let environment = McpEnvironment {
        path: own.path,
        home: own.home,
        lang: own.lang,
        client_name: "toolshelf".to_owned(),
        client_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(McpUpstreams::with_timing(environment, config.upstream_timing)?)
}

impl Server {
    /// The set-up link, while there is no account.
    pub fn setup_link(&self) -> Option<String> {
        let token = self.setup_token.as_ref()?;
        Some(format!("{}/setup?token={token}", self.origin))
    }

    /// A token that stops the server when it is cancelled.
    pub fn stopping(&self) -> CancellationToken {
        self.state.stopping.clone()
    }

    /// Answers requests until it is stopped, then lets those in flight finish.
    pub async fn run(self) -> anyhow::Result<()> {
        let stopping = self.state.stopping.clone();
        let tasks = TaskTracker::new();
        let service = self.state.service.clone();
        tasks.spawn(keep_house(service.clone(), stopping.clone()));
        // Connecting delays nothing: each server has a task of its own.
        service.start_upstreams().await?;
        let limits = Limits::of_this_process();
        crate::accept::serve(self.listener, crate::http::router(self.state), limits, stopping.clone()).await;
        stopping.cancel();
        tasks.close();
        tasks.wait().await;
        service.stop_runs().await;
        service.registry().upstreams().stop_all().await;
        self.store.close().await;
        Ok(())
    }
}

/// Runs the server until the process is asked to stop.
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    start_log();
    let warnings = warnings(&config);
    let server = start(config, Environment::system()).await?;
    say(&format!("Toolshelf is listening on http://{}", server.address));
    if let Some(link) = server.setup_link() {
        say(&format!("Set up: {link}"));
    }
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let stopping = server.stopping();
    tokio::spawn(async move {
        wait_for_signal().await;
        tracing::info!("stopping");
        stopping.cancel();
    });
    server.run().await
}

/// What whoever starts a server that other machines can reach must know.
fn warnings(config: &Config) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    if config.listen.ip().to_canonical().is_loopback() {
        return warnings;
    }
    if config.public_url.is_none() {
        warnings.push(
            "other machines can connect but are answered 403 (foreign_host) until server.public_url says under which \
             address they reach this server",
        );
    }
    if config.public_url.as_ref().is_none_or(|url| url.scheme() != "https") {
        warnings.push(
            "other machines connect without TLS, so passwords can be read on the way; put a proxy with TLS in front",
        );
    }
    warnings
}

/// Gives a user a new random password, in a data folder that no server uses.
pub(crate) async fn reset_password(username: &str, data: &Path) -> anyhow::Result<String> {
    let file = data.join("toolshelf.db");
    // Opening would make an empty database, which is not what somebody who lost a password wants.
    anyhow::ensure!(
        file.exists(),
        "there is no database at {}; name the data folder with --data",
        file.display()
    );
    let no_functions = |_: RegistryBuilder| Registry::builder();
    let Opened { service, store, .. } =
        open(data, How::at_rest(), Vec::new(), Environment::system(), no_functions).await?;
    let password = service.reset_password(username).await?;
    store.close().await;
    Ok(password)
}

async fn keep_house(service: Service, stopping: CancellationToken) {
    let mut checks = tokio::time::interval(CHECKS_EVERY);
    let mut tidy = tokio::time::interval(TIDY_EVERY);
    loop {
        let done = tokio::select! {
            () = stopping.cancelled() => return,
            _ = checks.tick() => service.refresh_checks().await,
            _ = tidy.tick() => service.tidy().await,
        };
        if let Err(error) = done {
            tracing::error!(%error, "housekeeping failed");
        }
    }
}

fn open_data_folder(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("the data folder {} cannot be made", path.display()))?;
    path.canonicalize().with_context(|| format!("the data folder {} cannot be opened", path.display()))
}

/// Logs go to stderr, so that stdout holds the two lines that scripts read.
fn start_log() {
    use tracing_subscriber::util::SubscriberInitExt as _;
    let filter = EnvFilter::try_from_env("TOOLSHELF_LOG")
        .unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn,rmcp=off"));
    // A second start in one process keeps the first log.
    let _ = log(filter, std::io::stderr).try_init();
}

/// A log of what the filter lets through, except for what [`is_discreet`] forbids.
fn log<W>(filter: EnvFilter, writer: W) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    use tracing_subscriber::layer::SubscriberExt as _;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .finish()
        .with(filter_fn(|metadata| is_discreet(metadata.target(), *metadata.level())))
}

/// Whether a message may be logged if somebody asks for it. The details of HTTP clients name the hosts that `web_fetch`
/// reaches, and those are arguments of calls, which are never logged.
fn is_discreet(target: &str, level: tracing::Level) -> bool {
    // The client of MCP tells what servers say and are sent, from its informative messages on.
    if target.starts_with("rmcp") && level > tracing::Level::WARN {
        return false;
    }
    let of_a_client = ["hyper", "reqwest", "rustls"].iter().any(|name| target.starts_with(name));
    !of_a_client || level <= tracing::Level::INFO
}

async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    if let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    {
        tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
    } else {
        tracing::error!("signals cannot be received; end the process to stop the server");
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::EnvFilter;

    use super::{Config, log, warnings};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_level_of_the_log_shows_where_a_client_connects() {
        for asked in
            ["trace", "trace,hyper_util::client=trace", "off,hyper=trace,reqwest=debug,hyper_util=trace"]
        {
            let written = Written::default();
            let writer = written.clone();
            let subscriber = log(EnvFilter::new(asked), move || writer.clone());
            tracing::subscriber::with_default(subscriber, || {
                let span =
                    tracing::trace_span!(target: "hyper_util::client", "connect", host = "secret.example");
                let _inside = span.enter();
                tracing::debug!(target: "reqwest::connect", "secret.example");
                tracing::warn!(target: "hyper", "a warning");
                tracing::info!(target: "rmcp::service", "secret.example");
                tracing::trace!(target: "toolshelf_server", "ours");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            assert!(!text.contains("secret.example"), "{asked}: {text}");
            assert!(text.contains("a warning"), "{asked}: {text}");
            assert_eq!(text.contains("ours"), !asked.starts_with("off"), "{asked}: {text}");
        }
    }

    #[test]
    fn who_lets_other_machines_connect_is_told_what_is_missing() {
        for (listen, public_url, told) in [
            ("127.0.0.1:1", None, &[][..]),
            ("[::1]:1", None, &[]),
            ("0.0.0.0:1", None, &["403", "TLS"]),
            ("[::]:1", None, &["403", "TLS"]),
            ("0.0.0.0:1", Some("http://tools.example"), &["TLS"]),
            ("0.0.0.0:1", Some("https://tools.example"), &[]),
        ] {
            let config = Config {
                public_url: public_url.map(|url: &str| url.parse().unwrap()),
                ..Config::new(listen.parse().unwrap(), "data".into())
            };
            let warnings = warnings(&config);
            assert_eq!(warnings.len(), told.len(), "{listen} {public_url:?}: {warnings:?}");
            assert!(warnings.iter().zip(told).all(|(warning, word)| warning.contains(word)), "{warnings:?}");
        }
    }
}
