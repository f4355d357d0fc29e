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
use toolshelf_runtime::store::Store;
use toolshelf_runtime::{Environment, Registry};
use toolshelf_service::Service;
use toolshelf_store::SqliteStore;

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

/// Opens the data folder and starts to listen. Nothing is answered before [`Server::run`].
pub async fn start(config: Config, environment: Environment) -> anyhow::Result<Server> {
    let data = open_data_folder(&config.data)?;
    let store = Arc::new(SqliteStore::open(&data.join("toolshelf.db")).await?);
    let workspaces = Workspaces::open(&data.join("workspaces"))?;
    let builtins = Builtins {
        workspaces: workspaces.clone(),
        web: WebClient::new(WebConfig {
            allowed_hosts: config.web_allowed_hosts.clone(),
            ..WebConfig::default()
        })?,
        store: Arc::clone(&store) as Arc<dyn Store>,
        clock: Arc::clone(&environment.clock),
    };
    let registry =
        toolshelf_functions::register(Registry::builder(), builtins).build().map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            anyhow!("the functions cannot be registered: {}", errors.join("; "))
        })?;
    let service =
        Service::new(Arc::clone(&store) as Arc<dyn Store>, Arc::new(registry), environment.clone()).await?;
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
        tasks.spawn(keep_house(self.state.service.clone(), stopping.clone()));
        crate::accept::serve(self.listener, crate::http::router(self.state), stopping.clone()).await;
        stopping.cancel();
        tasks.close();
        tasks.wait().await;
        self.store.close().await;
        Ok(())
    }
}

/// Runs the server until the process is asked to stop.
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    start_log();
    let remote = !config.listen.ip().is_loopback();
    let tls = config.public_url.as_ref().is_some_and(|url| url.scheme() == "https");
    let server = start(config, Environment::system()).await?;
    say(&format!("Toolshelf is listening on http://{}", server.address));
    if let Some(link) = server.setup_link() {
        say(&format!("Set up: {link}"));
    }
    if remote && !tls {
        tracing::warn!(
            "other machines can connect without TLS, and passwords can be read on the way; put a proxy with TLS in front. Until server.public_url is set, requests to any name but a loopback one are refused"
        );
    }
    let stopping = server.stopping();
    tokio::spawn(async move {
        wait_for_signal().await;
        tracing::info!("stopping");
        stopping.cancel();
    });
    server.run().await
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
    let store = Arc::new(SqliteStore::open(&file).await?);
    let registry = Registry::builder().build().map_err(|_| anyhow!("an empty registry cannot be built"))?;
    let service =
        Service::new(Arc::clone(&store) as Arc<dyn Store>, Arc::new(registry), Environment::system()).await?;
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
    use tracing_subscriber::EnvFilter;
    let filter =
        EnvFilter::try_from_env("TOOLSHELF_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    // A second start in one process keeps the first log.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
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
