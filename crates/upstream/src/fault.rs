//! Why a connection is over.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// Set once by whoever notices that a connection cannot go on; its task waits for it.
///
/// `rmcp` says only that a transport is closed. The reason is known where the bytes are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fault {
    reason: Arc<OnceLock<String>>,
    is_set: CancellationToken,
}

impl Fault {
    /// Ends the connection. The first reason stays.
    pub(crate) fn set(&self, reason: impl Into<String>) {
        // A later reason is most often a consequence of the first.
        let _ = self.reason.set(reason.into());
        self.is_set.cancel();
    }

    /// The reason, once there is one.
    pub(crate) fn reason(&self) -> Option<String> {
        self.reason.get().cloned()
    }

    /// Waits until there is a reason.
    pub(crate) async fn wait(&self) {
        self.is_set.cancelled().await;
    }
}
