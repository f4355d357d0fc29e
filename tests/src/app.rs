//! A real server in this process.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{Environment, SystemRandom};
use toolshelf_server::{Config, ProgramEnvironment, Timing};

use crate::client::Client;
use crate::clock::TestClock;
use crate::model::TestModel;

/// The name of the admin that [`TestApp::set_up`] makes.
pub const ADMIN: &str = "ada";

/// The password of everybody, unless a test says otherwise.
pub const PASSWORD: &str = "correct horse battery staple";

/// What a test may choose of the server.
#[derive(Clone, Debug, Default)]
pub struct AppOptions {
    /// How people reach the server.
    pub public_url: Option<String>,
    /// Hosts that `web_fetch` may reach although their address is private.
    pub web_allowed_hosts: Vec<String>,
    /// The limits of the console.
    pub console: toolshelf_server::ModelLimits,
    /// A model beside the console.
    pub model: Option<TestModel>,
    /// Whether API keys may add upstream servers that run a program.
    pub keys_may_add: bool,
}

/// What programs of upstream servers get of this process's environment.
fn program_environment() -> ProgramEnvironment {
    let text = |name: &str| std::env::var_os(name).and_then(|value| value.into_string().ok());
    ProgramEnvironment { path: text("PATH"), home: text("HOME"), lang: text("LANG") }
}

/// A real server in this process, with a data folder of its own and a clock that a test can move.
///
/// It trusts the loopback address as a proxy, so that requests can come from several addresses.
pub struct TestApp {
    /// Where it listens.
    pub address: SocketAddr,
    /// The token of the set-up link, while there is no account.
    pub setup_token: Option<String>,
    /// The clock, which stands still.
    pub clock: Arc<TestClock>,
    options: AppOptions,
    folder: TempDir,
    stopping: CancellationToken,
    running: JoinHandle<()>,
}

impl TestApp {
    /// A server with an empty data folder.
    pub async fn start() -> Self {
        Self::start_with(AppOptions::default()).await
    }

    /// The same with other options.
    pub async fn start_with(options: AppOptions) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self::run(folder, Arc::new(TestClock::new()), options).await
    }

    /// A server whose first admin is signed in.
    pub async fn with_admin() -> (Self, Session) {
        let app = Self::start().await;
        let admin = app.set_up().await;
        (app, admin)
    }

    async fn run(folder: TempDir, clock: Arc<TestClock>, options: AppOptions) -> Self {
        let config = Config {
            public_url: options.public_url.as_ref().map(|url| url.parse().expect("a URL")),
            trusted_proxies: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            web_allowed_hosts: options.web_allowed_hosts.clone(),
            console: options.console,
            keys_may_add: options.keys_may_add,
            environment: program_environment(),
            upstream_timing: Timing {
                first_retry: Duration::from_millis(50),
                longest_retry: Duration::from_millis(200),
                close_grace: Duration::from_millis(500),
                settle: Duration::from_millis(20),
                between_lists: Duration::from_millis(50),
                ..Timing::default()
            },
            ..Config::new(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0), folder.path().to_owned())
        };
        let environment = Environment { clock: Arc::clone(&clock) as _, random: Arc::new(SystemRandom) };
        let models = options.model.iter().map(|model| Arc::new(model.clone()) as _).collect();
        let server = toolshelf_server::start_with_models(config, environment, |registry| registry, models)
            .await
            .expect("the server starts");
        let (address, setup_token, stopping) =
            (server.address, server.setup_token.clone(), server.stopping());
        let running = tokio::spawn(async move { server.run().await.expect("the server runs to its end") });
        Self { address, setup_token, clock, options, folder, stopping, running }
    }

    /// Stops the server and waits for its end.
    pub async fn stop(mut self) {
        self.end().await;
    }

    /// Stops the server and starts another on the same folder, a second later.
    pub async fn restart(mut self) -> Self {
        self.end().await;
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a temporary folder"));
        self.clock.advance(TimeDelta::seconds(1));
        Self::run(folder, Arc::clone(&self.clock), self.options.clone()).await
    }

    async fn end(&mut self) {
        self.stopping.cancel();
        crate::within("the server's end", &mut self.running).await.expect("the server ends without a panic");
    }

    /// Somebody who is not signed in, from an address that nobody used before, so that limits count anew.
    pub fn nobody(&self) -> Client {
        Client::new(self.address).with("x-forwarded-for", &new_address())
    }

    /// The data folder.
    pub fn data(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The folder of a user's files.
    pub fn workspace(&self, user_id: &str) -> PathBuf {
        let folder = self.folder.path().join("workspaces").join(user_id);
        std::fs::create_dir_all(&folder).expect("a workspace");
        folder
    }

    /// Makes the first account, an admin, and signs it in.
    pub async fn set_up(&self) -> Session {
        let token = self.setup_token.as_deref().expect("there is no account yet");
        let setup = json!({"token": token, "username": ADMIN, "password": PASSWORD});
        let answer = self.nobody().post("/api/v1/setup", setup).await.expect(201);
        Session::new(self.nobody(), &answer.session_token(), &answer.json())
    }

    /// Signs somebody in.
    pub async fn log_in(&self, username: &str, password: &str) -> Session {
        let login = json!({"username": username, "password": password});
        let answer = self.nobody().post("/api/v1/login", login).await.expect(200);
        Session::new(self.nobody(), &answer.session_token(), &answer.json())
    }

    /// Makes a user, and signs it in.
    pub async fn user(&self, admin: &Client, username: &str, role: &str) -> Session {
        let new = json!({"username": username, "password": PASSWORD, "role": role});
        admin.post("/api/v1/users", new).await.expect(201);
        self.log_in(username, PASSWORD).await
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

/// An address that no request of this process came from.
fn new_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + number).to_string()
}

/// Somebody who is signed in with a browser.
#[derive(Clone, Debug)]
pub struct Session {
    /// The user's id.
    pub id: String,
    /// What the cookie holds.
    pub token: String,
    /// What each write must send.
    pub csrf: String,
    client: Client,
}

impl Session {
    /// The session that a sign-in opened.
    pub fn new(client: Client, token: &str, me: &Value) -> Self {
        let text = |name: &str| me[name].as_str().expect("a session's me").to_owned();
        let csrf = text("csrf_token");
        let client = client.with("cookie", &format!("toolshelf_session={token}")).with("x-csrf-token", &csrf);
        Self { id: text("id"), token: token.to_owned(), csrf, client }
    }

    /// Makes an API key of this user.
    pub async fn key(&self, scopes: &[&str]) -> Key {
        self.key_as(json!({"name": format!("key for {}", scopes.join(" and ")), "scopes": scopes})).await
    }

    /// Makes an API key as described.
    pub async fn key_as(&self, new: Value) -> Key {
        let created = self.post("/api/v1/api-keys", new).await.expect(201).json();
        let text = |name: &str| created[name].as_str().expect("a key has an id and a token").to_owned();
        Key::new(self.address(), text("id"), text("token"))
    }

    /// Sends a form with the session's CSRF token in it.
    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> crate::Answer {
        let mut all = vec![("csrf_token", self.csrf.as_str())];
        all.extend_from_slice(fields);
        self.form(path, &all).without("x-csrf-token").await
    }
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// An API key.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key's id.
    pub id: String,
    /// What is sent as a bearer token.
    pub token: String,
    client: Client,
}

impl Key {
    /// A key that sends neither an origin nor a cookie, as programs do.
    pub fn new(address: SocketAddr, id: String, token: String) -> Self {
        let client = Client::new(address).without("origin").with("authorization", &format!("Bearer {token}"));
        Self { id, token, client }
    }
}

impl Deref for Key {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
