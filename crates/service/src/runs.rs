//! The runs that go on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::live_run::LiveRun;

/// The runs that go on, by id.
#[derive(Default)]
pub(crate) struct LiveRuns(Mutex<HashMap<String, Arc<LiveRun>>>);

impl LiveRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<LiveRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, id: String, run: Arc<LiveRun>) {
        self.lock().insert(id, run);
    }

    pub(crate) fn remove(&self, id: &str) {
        self.lock().remove(id);
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        self.lock().get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveRun>> {
        self.lock().values().cloned().collect()
    }
}
