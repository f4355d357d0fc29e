//! The snapshot writer: the one way in which what decides visibility changes.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolshelf_api::Event;
use toolshelf_core::{Availability, Profile, ServerTools, Snapshot};
use toolshelf_runtime::SnapshotCell;
use toolshelf_runtime::store::{ToolStateRow, UnitOfWork};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;

/// A change to the snapshot.
pub(crate) enum Delta {
    /// What was decided about a tool.
    ToolState(ToolStateRow),
    /// Whether a tool can run.
    Availability {
        /// The tool's name.
        name: String,
        /// The answer of its check.
        now: Availability,
    },
    /// A profile was made or changed.
    Profile(Arc<Profile>),
    /// A profile was deleted.
    ProfileGone(String),
    /// What upstream servers have now, in place of all that they had.
    Servers(Vec<(Arc<str>, ServerTools)>),
    /// An upstream server can be reached, or cannot and why.
    ServerDown {
        /// Its name.
        server: String,
        /// Why it cannot.
        down: Option<String>,
    },
    /// When each tool was first seen.
    Sightings(HashMap<Arc<str>, u64>),
    /// The names that are kept, each with the profile that it leads to.
    RetiredNames(Vec<(String, Option<Arc<str>>)>),
    /// What is to be done once the rest is in force, before anybody can write again.
    Then(Box<dyn Fn() + Send + Sync>),
}

impl Delta {
    fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        match self {
            Self::Servers(now) => snapshot.with_servers(now.iter().cloned()),
            Self::ServerDown { server, down } => {
                let down = down.as_deref().map(Arc::from);
                snapshot.with_servers_down(vec![(server.as_str().into(), down)])
            }
            Self::Sightings(sightings) => snapshot.with_sightings(sightings.clone()),
            Self::ToolState(state) => {
                snapshot.with_disable(&state.tool, state.revision, state.disable.clone())
            }
            Self::Availability { name, now } => snapshot.with_availability(name, now.clone()),
            Self::Profile(profile) => snapshot.with_profile(Arc::clone(profile)),
            Self::ProfileGone(id) => snapshot.without_profile(id),
            Self::RetiredNames(names) => snapshot.with_retired_names(names.iter().cloned()),
            Self::Then(_) => snapshot.clone(),
        }
    }

    /// What to tell open tabs; nothing for what no tab shows.
    fn event(&self, snapshot: &Snapshot) -> Option<Event> {
        let revision = snapshot.revision();
        match self {
            Self::ToolState(ToolStateRow { tool: name, .. }) | Self::Availability { name, .. } => {
                let index = snapshot.find(name).filter(|index| snapshot.in_catalog(*index));
                let tool = index.map(|index| Box::new(snapshot.card(index, false)));
                Some(Event::ToolChanged { revision, tool, name: name.clone() })
            }
            Self::Profile(profile) => {
                let (id, name) = (profile.id.to_string(), Some(profile.name.to_string()));
                Some(Event::ProfileChanged { revision, id, name })
            }
            Self::ProfileGone(id) => Some(Event::ProfileChanged { revision, id: id.clone(), name: None }),
            Self::Servers(_) | Self::ServerDown { .. } => Some(Event::CatalogChanged { revision }),
            Self::RetiredNames(_) | Self::Sightings(_) | Self::Then(_) => None,
        }
    }
}

/// What a change came to: its answer, and what to put in force. Without deltas nothing is stored.
pub(crate) struct Written<T> {
    /// The answer.
    pub(crate) value: T,
    /// What to put in force.
    pub(crate) deltas: Vec<Delta>,
}

/// Makes the node unready unless it was shown that the snapshot is not behind the store.
struct UpToDateOrUnready<'a> {
    cell: &'a SnapshotCell,
    up_to_date: bool,
}

impl Drop for UpToDateOrUnready<'_> {
    fn drop(&mut self) {
        if !self.up_to_date {
            self.cell.mark_unready();
        }
    }
}

impl Service {
    /// Lock, BEGIN, standing, change, revision, COMMIT, apply, swap, unlock, notice. `actor` is who makes the change; none for
    /// the system.
    ///
    /// The lock is held from BEGIN to swap, so swaps are in commit order and a change is in force when it is
    /// answered. It runs as its own task: a caller who goes away cannot part the commit from the swap.
    pub(crate) async fn write<T, W>(&self, actor: Option<&Actor>, work: W) -> Result<T, ServiceError>
    where
        T: Send + 'static,
        W: for<'a> FnOnce(
                &'a mut dyn UnitOfWork,
                &'a Snapshot,
            ) -> BoxFuture<'a, Result<Written<T>, ServiceError>>
            + Send
            + 'static,
    {
        let (service, actor) = (self.clone(), actor.cloned());
        let task = tokio::spawn(async move {
            let inner = &service.inner;
            let _lock = inner.writer.lock().await;
            let cell = inner.registry.snapshot();
            let before = cell.load()?;
            let mut unit = match &actor {
                Some(actor) => service.begin_for(actor).await?,
                None => inner.store.begin().await?,
            };
            let Written { value, deltas } = work(&mut *unit, &before).await?;
            if deltas.is_empty() {
                return Ok(value);
            }
            let revision = unit.raise_snapshot_revision().await?;
            // From here on a failure leaves it open what is stored.
            let mut guard = UpToDateOrUnready { cell, up_to_date: false };
            if let Err(error) = unit.commit().await {
                // A commit that failed for good, such as on a full disk, left everything as it was.
                let stored = inner.store.read().await?.snapshot_revision().await?;
                guard.up_to_date = stored < revision;
                return Err(error.into());
            }
            let mut next = Snapshot::clone(&before);
            for delta in &deltas {
                next = delta.apply(&next);
            }
            let next = next.at_revision(revision);
            let events: Vec<Event> = deltas.iter().filter_map(|delta| delta.event(&next)).collect();
            cell.swap(next);
            guard.up_to_date = true;
            for delta in &deltas {
                if let Delta::Then(work) = delta {
                    work();
                }
            }
            for event in events {
                inner.events.publish(event);
            }
            Ok(value)
        });
        task.await.map_err(|error| ServiceError::Internal(format!("a write failed: {error}")))?
    }
}
