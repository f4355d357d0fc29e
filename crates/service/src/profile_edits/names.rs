//! Names of profiles: taken, kept for their owners, given back.

use chrono::{DateTime, TimeDelta, Utc};
use toolshelf_core::{Role, fold_name};
use toolshelf_runtime::store::{ProfileRow, RetiredNameRow, StoreError, UnitOfWork};

use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::writer::Delta;

/// How long the name of a renamed or deleted profile is kept for its owner.
const NAME_KEPT_DAYS: i64 = 90;

pub(super) fn name_taken(error: StoreError, name: &str) -> ServiceError {
    match error {
        StoreError::Taken(_) => ServiceError::conflict(
            "name_taken",
            format!("There is a profile named {name:?} already. Choose another name."),
        ),
        other => other.into(),
    }
}

/// Takes a name that is kept for somebody, if the actor may. Names of others' profiles are theirs and admins'.
pub(super) async fn claim_name(
    unit: &mut dyn UnitOfWork,
    actor: &Actor,
    row: &ProfileRow,
) -> Result<Vec<Delta>, ServiceError> {
    let folded = fold_name(&row.name);
    let kept = unit.list_retired_names().await?;
    let Some(kept) = kept.iter().find(|kept| fold_name(&kept.name) == folded) else { return Ok(Vec::new()) };
    let own = kept.owner_id == actor.user_id() || actor.role() == Role::Admin;
    if !own && kept.until > row.updated_at {
        return Err(ServiceError::conflict(
            "name_kept",
            format!(
                "{:?} was the name of somebody's profile and is kept for a while. Choose another name.",
                kept.name
            ),
        ));
    }
    unit.delete_retired_name(&kept.name).await?;
    kept_names(unit, row.updated_at).await
}

/// Keeps the name that a profile had: for a rename it leads to the profile, after a delete to nothing.
pub(crate) async fn retire_name(
    unit: &mut dyn UnitOfWork,
    before: &ProfileRow,
    leads_to: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<Delta>, ServiceError> {
    let name = RetiredNameRow {
        name: before.name.clone(),
        profile_id: leads_to.map(str::to_owned),
        owner_id: before.owner_id.clone(),
        until: now + TimeDelta::days(NAME_KEPT_DAYS),
    };
    unit.put_retired_name(&name).await?;
    kept_names(unit, now).await
}

pub(crate) async fn kept_names(
    unit: &mut dyn UnitOfWork,
    now: DateTime<Utc>,
) -> Result<Vec<Delta>, ServiceError> {
    let kept = unit.list_retired_names().await?.into_iter().filter(|name| name.until > now);
    Ok(vec![Delta::RetiredNames(kept.map(|name| (name.name, name.profile_id.map(Into::into))).collect())])
}
