//! Making, changing and deleting profiles. Each change is one revision, all or nothing, and kept in the history.

mod changes;
mod names;
pub(crate) mod uses;

use std::sync::Arc;

use toolshelf_api::{CloneProfile, CreateProfile, EditProfileTools, RestoreProfile, UpdateProfile};
use toolshelf_core::{Profile, Toolset, fold_name};
use toolshelf_runtime::store::{ProfileRow, ProfileVersionRow, UnitOfWork};

use self::changes::{
    described, difference, finish, known, members, named, refuse, restored, widens, with_fields, with_tools,
};
use self::names::{claim_name, name_taken};
pub(crate) use self::names::{kept_names, retire_name};
use self::uses::{repoint, uses_of};

use crate::Service;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::profiles::{find, in_force, may_edit};
use crate::references;
use crate::writer::{Delta, Written};

/// What to change in a stored profile.
enum Change {
    Fields(UpdateProfile),
    Tools(EditProfileTools),
    Restore(RestoreProfile),
}

impl Service {
    /// Makes a profile for the actor: a copy of `default`, of another toolset, or exactly the given tools.
    pub async fn create_profile(
        &self,
        actor: &Actor,
        new: CreateProfile,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        self.make_profile(actor, new, Vec::new()).await
    }

    /// The same, with those of the tools pinned that are in `pinned`.
    async fn make_profile(
        &self,
        actor: &Actor,
        new: CreateProfile,
        pinned: Vec<String>,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        let (author, now, id) = (actor.clone(), self.now(), self.environment().new_id());
        let id = self
            .write(Some(actor), move |unit, snapshot| {
                Box::pin(async move {
                    let mut errors = Vec::new();
                    let name = named(&new.name, "/name", &mut errors);
                    let description = described(new.description.as_deref().unwrap_or(""), &mut errors);
                    let tools = match (&new.from, &new.tools) {
                        (Some(_), Some(_)) => {
                            refuse(
                                &mut errors,
                                "/from",
                                "Give a toolset to copy or a list of tools, not both.",
                            );
                            Vec::new()
                        }
                        (_, Some(tools)) => known(snapshot, tools.clone(), &[], "/tools", &mut errors),
                        (from, None) => members(snapshot, from.as_deref().unwrap_or("default"))?,
                    };
                    finish(errors)?;
                    let pinned = pinned.into_iter().filter(|name| tools.contains(name)).collect();
                    let row = ProfileRow {
                        id: id.clone(),
                        name,
                        description,
                        owner_id: author.user_id().to_owned(),
                        tools,
                        pinned,
                        new_tools: new.new_tools.unwrap_or_default(),
                        new_tools_since: snapshot.last_sighting(),
                        revision: 1,
                        created_at: now,
                        updated_at: now,
                    };
                    let mut deltas = claim_name(unit, &author, &row).await?;
                    unit.insert_profile(&row).await.map_err(|error| name_taken(error, &row.name))?;
                    keep_version(unit, &author, &row).await?;
                    let detail = format!("{} tools.", row.tools.len());
                    unit.append_audit(&by_actor(&author, now, "profile.created", &row.name, detail)).await?;
                    deltas.push(Delta::Profile(Arc::new(in_force(&row))));
                    Ok(Written { value: id, deltas })
                })
            })
            .await?;
        self.show(actor, &id).await
    }

    /// Copies a profile, or `default`, under another name. The copy is the actor's.
    pub async fn clone_profile(
        &self,
        actor: &Actor,
        name: &str,
        clone: CloneProfile,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let (description, new_tools, pinned) = match find(&snapshot, name) {
            Ok(profile) => (
                Some(profile.description.to_string()),
                Some(profile.new_tools),
                profile.pinned.iter().map(ToString::to_string).collect(),
            ),
            Err(ServiceError::Reserved(_)) => (None, None, Vec::new()),
            Err(other) => return Err(other),
        };
        let new = CreateProfile {
            name: clone.name,
            description,
            from: Some(name.to_owned()),
            tools: None,
            new_tools,
        };
        self.make_profile(actor, new, pinned).await
    }

    /// Changes a profile's fields.
    pub async fn update_profile(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        change: UpdateProfile,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        self.change_profile(actor, name, expected_revision, Change::Fields(change)).await
    }

    /// Adds and removes tools. Such edits commute, so they need no revision.
    pub async fn edit_profile_tools(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        edit: EditProfileTools,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        self.change_profile(actor, name, expected_revision, Change::Tools(edit)).await
    }

    /// Makes a profile's tools, pins, description and policy as they were at a revision; its name stays.
    pub async fn restore_profile(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        restore: RestoreProfile,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        self.change_profile(actor, name, expected_revision, Change::Restore(restore)).await
    }

    async fn change_profile(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        change: Change,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        let (author, name, now) = (actor.clone(), name.to_owned(), self.now());
        let done = self
            .write(Some(actor), move |unit, snapshot| {
                Box::pin(async move {
                    let profile = find(snapshot, &name)?;
                    editable(&author, &profile)?;
                    if expected_revision.is_some_and(|expected| expected != profile.revision) {
                        return Ok(Written { value: Err(profile), deltas: Vec::new() });
                    }
                    let before = unit.find_profile(&profile.id).await?.ok_or_else(|| {
                        ServiceError::Internal(format!("the profile {} is not stored", profile.id))
                    })?;
                    let mut row = match change {
                        Change::Fields(change) => with_fields(snapshot, &before, change)?,
                        Change::Tools(edit) => with_tools(snapshot, &before, edit)?,
                        Change::Restore(restore) => restored(unit, &before, restore.revision).await?,
                    };
                    if row == before {
                        return Ok(Written { value: Ok(before.id), deltas: Vec::new() });
                    }
                    if widens(snapshot, &profile, &row) {
                        check_widening(unit, &author, &before.id).await?;
                    }
                    row.revision += 1;
                    row.updated_at = now;
                    let mut deltas = Vec::new();
                    if row.name != before.name {
                        deltas = claim_name(unit, &author, &row).await?;
                        if fold_name(&row.name) != fold_name(&before.name) {
                            deltas = retire_name(unit, &before, Some(&before.id), now).await?;
                        }
                    }
                    let updated = unit.update_profile(&row, before.revision).await;
                    if !updated.map_err(|error| name_taken(error, &row.name))? {
                        return Err(ServiceError::Internal(format!(
                            "the profile {} changed under the lock",
                            row.id
                        )));
                    }
                    keep_version(unit, &author, &row).await?;
                    let detail = difference(&before, &row);
                    unit.append_audit(&by_actor(&author, now, "profile.updated", &row.name, detail)).await?;
                    deltas.push(Delta::Profile(Arc::new(in_force(&row))));
                    Ok(Written { value: Ok(row.id), deltas })
                })
            })
            .await?;
        match done {
            Ok(id) => self.show(actor, &id).await,
            Err(profile) => Err(self.stale(actor, &profile).await?),
        }
    }

    /// Deletes a profile. One that is used is deleted only with a replacement: the actor's own keys, conversations and
    /// start are re-pointed to it, those of others by admins only.
    pub async fn delete_profile(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        replacement: Option<&str>,
    ) -> Result<(), ServiceError> {
        let (author, name, now) = (actor.clone(), name.to_owned(), self.now());
        let replacement = replacement.map(str::to_owned);
        let stale = self
            .write(Some(actor), move |unit, snapshot| {
                Box::pin(async move {
                    let profile = find(snapshot, &name)?;
                    editable(&author, &profile)?;
                    if expected_revision.is_some_and(|expected| expected != profile.revision) {
                        return Ok(Written { value: Some(profile), deltas: Vec::new() });
                    }
                    let uses = uses_of(unit, &profile.id).await?;
                    let target = match &replacement {
                        None => None,
                        Some(name) => {
                            let toolset = Toolset::named(snapshot, name)
                                .map_err(|error| ServiceError::Request { error, pointer: "replacement" })?;
                            if toolset == Toolset::Profile(Arc::clone(&profile.id)) {
                                return Err(ServiceError::invalid("replacement", "Name another toolset."));
                            }
                            references::stored(&toolset)
                        }
                    };
                    match target {
                        None if !uses.is_empty() => return Err(uses.in_use(&profile.name)),
                        Some(_) if !uses.beyond(&author).is_empty() => {
                            return Err(uses.beyond(&author).in_use(&profile.name));
                        }
                        Some(target) => repoint(unit, &profile.id, &target).await?,
                        None => {}
                    }
                    let row = unit.find_profile(&profile.id).await?;
                    let row = row.ok_or_else(|| {
                        ServiceError::Internal(format!("the profile {} is not stored", profile.id))
                    })?;
                    unit.delete_profile(&profile.id).await?;
                    let mut deltas = vec![Delta::ProfileGone(profile.id.to_string())];
                    deltas.extend(retire_name(unit, &row, None, now).await?);
                    unit.append_audit(&by_actor(&author, now, "profile.deleted", &row.name, "")).await?;
                    Ok(Written { value: None, deltas })
                })
            })
            .await?;
        match stale {
            None => Ok(()),
            Some(profile) => Err(self.stale(actor, &profile).await?),
        }
    }

    /// The refusal of a change to an old revision.
    async fn stale(&self, actor: &Actor, profile: &Profile) -> Result<ServiceError, ServiceError> {
        let viewer = self.viewer(actor, Some(&profile.id)).await?;
        let snapshot = self.registry().snapshot().load()?;
        let current = serde_json::to_value(viewer.shape(&snapshot, profile)).map_err(|error| {
            ServiceError::Internal(format!("a profile cannot be written as JSON: {error}"))
        })?;
        Ok(ServiceError::Stale { current })
    }

    async fn show(&self, actor: &Actor, id: &str) -> Result<toolshelf_api::Profile, ServiceError> {
        let viewer = self.viewer(actor, Some(id)).await?;
        let snapshot = self.registry().snapshot().load()?;
        let profile = snapshot.profile(id).ok_or_else(|| ServiceError::not_found("profile", id))?;
        Ok(viewer.shape(&snapshot, profile))
    }
}

fn editable(actor: &Actor, profile: &Profile) -> Result<(), ServiceError> {
    let pinned = actor.caller().identity().key.as_ref().and_then(|key| key.pinned.as_ref());
    if pinned == Some(&Toolset::Profile(Arc::clone(&profile.id))) {
        return Err(ServiceError::Denied(crate::access::Denied::OwnPin));
    }
    if may_edit(actor, profile) {
        Ok(())
    } else {
        Err(ServiceError::Denied(crate::access::Denied::OwnersOnly))
    }
}

/// Widening what other people's conversations and keys get is an admin's business.
async fn check_widening(unit: &mut dyn UnitOfWork, actor: &Actor, id: &str) -> Result<(), ServiceError> {
    if uses_of(unit, id).await?.beyond(actor).is_empty() {
        Ok(())
    } else {
        Err(ServiceError::Denied(crate::access::Denied::UsedByOthers))
    }
}

async fn keep_version(
    unit: &mut dyn UnitOfWork,
    actor: &Actor,
    row: &ProfileRow,
) -> Result<(), ServiceError> {
    let version = ProfileVersionRow { profile: row.clone(), actor: Some(actor.username().to_owned()) };
    Ok(unit.put_profile_version(&version).await?)
}
