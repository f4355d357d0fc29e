//! Whether somebody still is who they were when the request began.
//!
//! A request can take a while: its password is hashed, its tool runs. In the meantime the key may be revoked, the user
//! disabled, or the password changed. Each write asks again in its own transaction, and what runs for somebody ends
//! when that somebody no longer stands.

use tokio::sync::watch;
use toolshelf_runtime::store::UnitOfWork;

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;

const ENDED: ServiceError = ServiceError::Unauthenticated(
    "The session or API key ended while the request was under way. Sign in again.",
);

/// Asks whether somebody still stands, as often as that may have changed.
pub struct StandingWatch {
    service: Service,
    actor: Actor,
    changes: watch::Receiver<u64>,
}

impl StandingWatch {
    /// Whether the actor still stands after every change that was answered before this was asked. [`Service::ended`] tells
    /// of an end soon; this is for what must not be told any more at all. If it cannot be known, nobody stands.
    pub async fn stands(&mut self) -> bool {
        // Without a sender nothing is known, so it is asked.
        if !self.changes.has_changed().unwrap_or(true) {
            return true;
        }
        self.changes.mark_unchanged();
        let asked = async {
            let mut unit = self.service.store().read().await?;
            self.service.check_standing(&mut *unit, &self.actor).await
        };
        asked.await.is_ok()
    }
}

impl Service {
    /// Watches whether an actor still stands.
    pub fn watch_standing(&self, actor: &Actor) -> StandingWatch {
        let mut changes = self.inner.accounts_changed.subscribe();
        // It may have changed since the actor was authenticated.
        changes.mark_changed();
        StandingWatch { service: self.clone(), actor: actor.clone(), changes }
    }

    /// A unit of work for somebody who still stands in it.
    pub(crate) async fn begin_for(&self, actor: &Actor) -> Result<Box<dyn UnitOfWork>, ServiceError> {
        let mut unit = self.store().begin().await?;
        self.check_standing(&mut *unit, actor).await?;
        Ok(unit)
    }

    /// An error unless the actor's session or key, user and role are as they were.
    pub(crate) async fn check_standing(
        &self,
        unit: &mut dyn UnitOfWork,
        actor: &Actor,
    ) -> Result<(), ServiceError> {
        let now = self.now();
        let user = match (actor.session(), actor.key_id()) {
            (Some(session), _) => unit
                .find_session(&session.token_hash)
                .await?
                .filter(|(row, _)| row.expires_at > now)
                .map(|(_, user)| user),
            (None, Some(key)) => {
                let found = unit.find_api_key(key).await?.map(|(row, _)| row);
                let live = |at: Option<chrono::DateTime<chrono::Utc>>| at.is_none_or(|at| at > now);
                match found.filter(|row| row.revoked_at.is_none() && live(row.expires_at)) {
                    Some(row) => unit.find_user(&row.user_id).await?,
                    None => None,
                }
            }
            (None, None) => None,
        };
        match user {
            Some(user) if !user.disabled && user.role == actor.role() && user.id == actor.user_id() => Ok(()),
            _ => Err(ENDED),
        }
    }

    /// Tells whatever runs for somebody to ask again whether they still stand. Called after each change to accounts.
    pub(crate) fn accounts_changed(&self) {
        self.inner.accounts_changed.send_modify(|changes| *changes += 1);
    }

    /// Completes when the actor no longer stands: the key was revoked, the session ended, the user was disabled, or the
    /// role or password changed. An end by time alone is noticed at the next change, or when the actor asks again.
    pub async fn ended(&self, actor: &Actor) -> ServiceError {
        let mut changes = self.inner.accounts_changed.subscribe();
        loop {
            let standing = async {
                let mut unit = self.store().read().await?;
                self.check_standing(&mut *unit, actor).await
            };
            if let Err(error @ ServiceError::Unauthenticated(_)) = standing.await {
                return error;
            }
            // Any other error is the store's, which the next question tells apart.
            if changes.changed().await.is_err() {
                return ENDED;
            }
        }
    }
}
