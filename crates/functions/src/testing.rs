//! What tests share: a data folder, a registry with all built-in functions, and a caller.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tempfile::TempDir;
use toolshelf_core::{Caller, Conversation, Identity, Request, Role, Scope};
use toolshelf_runtime::store::{Store, StoreError, UnitOfWork};
use toolshelf_runtime::{CallRefused, NoUpstreams, Registry, SystemClock, ToolReturn};

use crate::{Builtins, WebClient, WebConfig, Workspaces, register};

/// A registry over a data folder of its own.
pub(crate) struct Bench {
    data: TempDir,
    registry: Registry,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_web(WebClient::new(WebConfig::default()).unwrap())
    }

    pub(crate) fn with_web(web: WebClient) -> Self {
        let data = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::open(&data.path().join("workspaces")).unwrap();
        workspaces.of("alice").unwrap();
        let builtins = Builtins {
            workspaces,
            web,
            store: Arc::new(NoStore),
            clock: Arc::new(SystemClock),
            upstreams: Arc::new(NoUpstreams),
        };
        let registry = register(Registry::builder(), builtins).build().unwrap();
        Self { data, registry }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The data folder, of which the workspace is a part.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// The caller's workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.data.path().join("workspaces/alice")
    }

    /// Writes a file of the workspace, with the folders above it.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.workspace().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Says when a file was changed, so that no test has to wait for the clock.
    pub(crate) fn touch(&self, path: &str, seconds: u64) {
        let file = std::fs::File::options().write(true).open(self.workspace().join(path)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    /// Calls a function the way every caller does.
    pub(crate) async fn invoke(&self, name: &str, arguments: Value) -> Result<ToolReturn, CallRefused> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        self.registry
            .invoke(&request(Some("conversation")), name, arguments)
            .await
            .map(|invoked| invoked.output)
    }

    /// Calls a function that succeeds.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolReturn {
        let output = self.invoke(name, arguments).await.unwrap();
        assert!(!output.is_error, "{}", output.text);
        output
    }

    /// Calls a function that fails, and returns what it says.
    pub(crate) async fn fail(&self, name: &str, arguments: Value) -> String {
        let output = self.invoke(name, arguments.clone()).await.unwrap();
        assert!(output.is_error, "{arguments}: {}", output.text);
        // Nothing may tell where on the machine the workspace is.
        assert!(!output.text.contains(self.data().to_str().unwrap()), "{}", output.text);
        assert!(output.text.ends_with(['.', '…']), "not a sentence: {}", output.text);
        output.text
    }

    /// Makes a call that the parameters refuse.
    pub(crate) async fn refuse(&self, name: &str, arguments: Value) {
        let result = self.invoke(name, arguments.clone()).await;
        assert!(matches!(result, Err(CallRefused::InvalidInput(_))), "{name} {arguments}: {result:?}");
    }
}

/// A request of a user.
pub(crate) fn request(conversation: Option<&str>) -> Request {
    let identity =
        Identity { user_id: "alice".into(), username: "alice".into(), role: Role::User, key: None };
    let conversation = conversation.map(Conversation::new);
    #[expect(clippy::disallowed_methods, reason = "tests prove nobody's identity")]
    Request::new(Caller::authenticated(identity), Scope { conversation, ..Scope::default() })
}

/// A store that does not answer. What todo lists do with one that does is tested with the real store.
struct NoStore;

#[async_trait]
impl Store for NoStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Err(StoreError::Corrupt("secret detail".to_owned()))
    }

    async fn read(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        self.begin().await
    }
}
