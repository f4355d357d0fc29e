//! What all routes share.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolshelf_functions::Workspaces;
use toolshelf_runtime::Environment;
use toolshelf_service::Service;

use crate::assets::Assets;
use crate::http::Origins;

/// What all routes share. Cloning is cheap.
#[derive(Clone)]
pub struct AppState {
    pub(crate) service: Service,
    pub(crate) environment: Environment,
    pub(crate) assets: Arc<Assets>,
    pub(crate) workspaces: Workspaces,
    pub(crate) origins: Arc<Origins>,
    /// Cancelled when the server stops, so that streams end.
    pub(crate) stopping: CancellationToken,
}
