//! What servers are doing right now. It is in memory only: after a restart every server is asked again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use toolshelf_api::{RejectedTool, ServerState, ServerStatus};

use crate::times::rfc3339;

/// What a server is doing.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(super) state: ServerState,
    pub(super) reason: Option<String>,
    /// The same as everybody may read it.
    pub(super) public_reason: Option<String>,
    pub(super) since: DateTime<Utc>,
    pub(super) retry_at: Option<DateTime<Utc>>,
    /// Tools of its last list that did not enter the registry.
    pub(super) rejected: Vec<RejectedTool>,
}

impl Live {
    fn new(state: ServerState, now: DateTime<Utc>) -> Self {
        Self { state, reason: None, public_reason: None, since: now, retry_at: None, rejected: Vec::new() }
    }

    pub(super) fn shown(&self) -> ServerStatus {
        ServerStatus {
            state: self.state,
            reason: self.reason.clone(),
            since: rfc3339(self.since),
            retry_at: self.retry_at.map(rfc3339),
        }
    }

    /// Why no tool of the server can run, as everybody may read it; none while it answers.
    pub(super) fn down(&self) -> Option<String> {
        match self.state {
            ServerState::Ready => None,
            ServerState::Connecting => Some("It is being connected.".to_owned()),
            ServerState::Disabled => Some("An admin switched it off.".to_owned()),
            ServerState::Down => Some(self.public_reason.clone().unwrap_or_default()),
        }
    }
}

/// What all servers are doing.
#[derive(Default)]
pub(crate) struct LiveServers(Mutex<HashMap<String, Live>>);

impl LiveServers {
    /// A server of which nothing is known yet: it is being connected, or switched off.
    pub(super) fn new_one(enabled: bool, now: DateTime<Utc>) -> Live {
        Live::new(if enabled { ServerState::Connecting } else { ServerState::Disabled }, now)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a server is doing; one of which nothing is known yet is being connected, or switched off.
    pub(super) fn get(&self, server: &str, enabled: bool, now: DateTime<Utc>) -> Live {
        self.all().get(server).cloned().unwrap_or_else(|| Self::new_one(enabled, now))
    }

    /// Changes what is known of a server.
    pub(super) fn change(&self, server: &str, now: DateTime<Utc>, change: impl FnOnce(&mut Live)) {
        let mut all = self.all();
        let live = all.entry(server.to_owned()).or_insert_with(|| Live::new(ServerState::Connecting, now));
        change(live);
    }

    /// Begins anew with a server that is connected, or switched off.
    pub(super) fn begin(&self, server: &str, enabled: bool, now: DateTime<Utc>) {
        self.all().insert(server.to_owned(), Self::new_one(enabled, now));
    }

    pub(super) fn forget(&self, server: &str) {
        self.all().remove(server);
    }
}
