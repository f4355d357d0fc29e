//! Holds the snapshot of now. Readers take no lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use toolshelf_core::Snapshot;

/// Says that a committed change could not be put in force, so that no decision can be trusted until a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored change could not be put in force; restart the server")]
pub struct Unready;

/// The snapshot of now. Only the snapshot writer in `service` swaps it.
pub struct SnapshotCell {
    snapshot: ArcSwap<Snapshot>,
    unready: AtomicBool,
}

impl SnapshotCell {
    /// A cell that holds a first snapshot.
    pub fn new(snapshot: Snapshot) -> Self {
        Self { snapshot: ArcSwap::from_pointee(snapshot), unready: AtomicBool::new(false) }
    }

    /// The snapshot of now.
    pub fn load(&self) -> Result<Arc<Snapshot>, Unready> {
        if self.unready.load(Ordering::Acquire) { Err(Unready) } else { Ok(self.snapshot.load_full()) }
    }

    /// Puts a snapshot in force: every decision that starts after this sees it.
    pub fn swap(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// Says that the snapshot is behind the store. There is no way back but a restart.
    pub fn mark_unready(&self) {
        self.unready.store(true, Ordering::Release);
    }
}
