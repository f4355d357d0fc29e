//! What new conversations start with: the workspace's active toolset, and each user's own.

use toolshelf_api::{ActiveProfile, ChosenToolset, StartProfile, StartsWith, ToolsetOrigin};
use toolshelf_core::{Snapshot, Toolset};
use toolshelf_runtime::store::{ActiveRow, FallbackOrigin, StoreError, UnitOfWork};

use crate::Service;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::references;

/// The active toolset, with the revision of the setting; 0 when it was never set.
pub(crate) async fn active(unit: &mut dyn UnitOfWork) -> Result<ActiveRow, ServiceError> {
    let row = unit.find_active_toolset().await?;
    Ok(row.unwrap_or_else(|| ActiveRow { reference: "default".to_owned(), revision: 0 }))
}

/// What a conversation that a user makes now starts with. `default` needs no choice, so it is none.
pub(crate) async fn starting(
    unit: &mut dyn UnitOfWork,
    user_id: &str,
) -> Result<Option<(String, FallbackOrigin)>, ServiceError> {
    let (reference, origin) = match unit.find_start_toolset(user_id).await? {
        Some(reference) => (reference, FallbackOrigin::Start),
        None => (active(unit).await?.reference, FallbackOrigin::Active),
    };
    if references::read(&reference).is_none() {
        // What cannot be read must not become no limit.
        return Err(StoreError::Corrupt(format!("{reference:?} is no toolset to start with")).into());
    }
    Ok((reference != "default" || origin == FallbackOrigin::Start).then_some((reference, origin)))
}

/// The stored reference of a toolset by its name. It is checked against the transaction too, so that a profile which is
/// deleted at the same moment is not chosen.
pub(crate) async fn chosen(
    unit: &mut dyn UnitOfWork,
    snapshot: &Snapshot,
    name: &str,
    pointer: &'static str,
) -> Result<String, ServiceError> {
    let toolset = Toolset::named(snapshot, name).map_err(|error| ServiceError::Request { error, pointer })?;
    if let Toolset::Profile(id) = &toolset
        && unit.find_profile(id).await?.is_none()
    {
        return Err(ServiceError::Retired(name.to_owned()));
    }
    references::stored(&toolset).ok_or_else(|| ServiceError::invalid(pointer, "Use the name of a toolset."))
}

impl Service {
    /// The workspace's active toolset, and the revision of the setting.
    pub async fn active_profile(&self) -> Result<(u64, ActiveProfile), ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let row = active(&mut *self.store().read().await?).await?;
        Ok((row.revision, ActiveProfile { name: references::shown(&snapshot, &row.reference) }))
    }

    /// Sets the workspace's active toolset. Conversations that exist are not touched.
    pub async fn set_active_profile(
        &self,
        actor: &Actor,
        expected_revision: Option<u64>,
        new: ActiveProfile,
    ) -> Result<(u64, ActiveProfile), ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.begin_for(actor).await?;
        let before = active(&mut *unit).await?;
        if expected_revision.is_some_and(|expected| expected != before.revision) {
            let name = references::shown(&snapshot, &before.reference);
            return Err(ServiceError::Stale {
                current: serde_json::json!({"name": name, "revision": before.revision}),
            });
        }
        let reference = chosen(&mut *unit, &snapshot, &new.name, "/name").await?;
        let name = references::shown(&snapshot, &reference);
        if reference == before.reference {
            return Ok((before.revision, ActiveProfile { name }));
        }
        let row = ActiveRow { reference, revision: before.revision + 1 };
        unit.put_active_toolset(&row).await?;
        let was = format!("before: {}", references::shown(&snapshot, &before.reference));
        unit.append_audit(&by_actor(actor, self.now(), "active_profile.changed", &name, was)).await?;
        unit.commit().await?;
        Ok((row.revision, ActiveProfile { name }))
    }

    /// What the actor's new conversations start with.
    pub async fn start_profile(&self, actor: &Actor) -> Result<StartsWith, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.store().read().await?;
        starts_with(&mut *unit, &snapshot, actor.user_id()).await
    }

    /// Sets what the actor's new conversations start with, or leaves it to the workspace.
    pub async fn set_start_profile(
        &self,
        actor: &Actor,
        new: StartProfile,
    ) -> Result<StartsWith, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.begin_for(actor).await?;
        let reference = match &new.name {
            Some(name) => Some(chosen(&mut *unit, &snapshot, name, "/name").await?),
            None => None,
        };
        unit.put_start_toolset(actor.user_id(), reference.as_deref()).await?;
        let now = starts_with(&mut *unit, &snapshot, actor.user_id()).await?;
        unit.commit().await?;
        Ok(now)
    }
}

async fn starts_with(
    unit: &mut dyn UnitOfWork,
    snapshot: &Snapshot,
    user_id: &str,
) -> Result<StartsWith, ServiceError> {
    let own = unit.find_start_toolset(user_id).await?;
    let (reference, origin) = match starting(unit, user_id).await? {
        Some((reference, FallbackOrigin::Start)) => (reference, ToolsetOrigin::Start),
        Some((reference, FallbackOrigin::Active)) => (reference, ToolsetOrigin::Active),
        None => ("default".to_owned(), ToolsetOrigin::Default),
    };
    let missing = references::is_missing(snapshot, &reference);
    let shown = |reference: &str| references::shown(snapshot, reference);
    Ok(StartsWith {
        name: own.as_deref().map(shown),
        in_force: ChosenToolset {
            name: if missing { String::new() } else { shown(&reference) },
            origin,
            missing,
        },
    })
}
