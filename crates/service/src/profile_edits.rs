//! Making, changing and deleting profiles. Each change is one revision, all or nothing, and kept in the history.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::TimeDelta;
use toolshelf_api::{
    CloneProfile, CreateProfile, EditProfileTools, FieldError, RestoreProfile, UpdateProfile,
};
use toolshelf_core::{NewTools, Profile, Role, Snapshot, Toolset, closest, fold_name, profile_name};
use toolshelf_runtime::store::{ProfileRow, ProfileVersionRow, RetiredNameRow, StoreError, UnitOfWork};

use crate::Service;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::profiles::{find, in_force, may_edit};
use crate::references;
use crate::writer::{Delta, Written};

/// How long the name of a renamed or deleted profile is kept for its owner.
const NAME_KEPT_DAYS: i64 = 90;
const DESCRIPTION_MAX: usize = 500;

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
        let viewer = self.viewer(actor).await?;
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
            Err(profile) => {
                let snapshot = self.registry().snapshot().load()?;
                let current = serde_json::to_value(viewer.shape(&snapshot, &profile)).map_err(|error| {
                    ServiceError::Internal(format!("a profile cannot be written as JSON: {error}"))
                })?;
                Err(ServiceError::Stale { current })
            }
        }
    }

    /// Deletes a profile. One that API keys are pinned to is deleted only with a replacement: the actor's own keys are
    /// re-pointed to it, those of others by admins only.
    pub async fn delete_profile(
        &self,
        actor: &Actor,
        name: &str,
        expected_revision: Option<u64>,
        replacement: Option<&str>,
    ) -> Result<(), ServiceError> {
        let viewer = self.viewer(actor).await?;
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
                    let users = keys_of(unit, &profile.id).await?;
                    let others = users.iter().filter(|user| user.as_str() != author.user_id()).count();
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
                        None if !users.is_empty() => return Err(in_use(&profile.name, users.len())),
                        Some(_) if others > 0 && author.role() != Role::Admin => {
                            return Err(in_use(&profile.name, others));
                        }
                        Some(target) => unit.repoint_api_keys(&stored(&profile.id), &target).await?,
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
            Some(profile) => {
                let snapshot = self.registry().snapshot().load()?;
                let current = serde_json::to_value(viewer.shape(&snapshot, &profile)).map_err(|error| {
                    ServiceError::Internal(format!("a profile cannot be written as JSON: {error}"))
                })?;
                Err(ServiceError::Stale { current })
            }
        }
    }

    async fn show(&self, actor: &Actor, id: &str) -> Result<toolshelf_api::Profile, ServiceError> {
        let viewer = self.viewer(actor).await?;
        let snapshot = self.registry().snapshot().load()?;
        let profile = snapshot.profile(id).ok_or_else(|| ServiceError::not_found("profile", id))?;
        Ok(viewer.shape(&snapshot, profile))
    }
}

fn refuse(errors: &mut Vec<FieldError>, pointer: &str, message: impl Into<String>) {
    errors.push(FieldError { pointer: pointer.to_owned(), message: message.into() });
}

fn finish(errors: Vec<FieldError>) -> Result<(), ServiceError> {
    if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
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

fn named(text: &str, pointer: &str, errors: &mut Vec<FieldError>) -> String {
    profile_name(text).unwrap_or_else(|error| {
        refuse(errors, pointer, error.to_string());
        String::new()
    })
}

fn described(text: &str, errors: &mut Vec<FieldError>) -> String {
    let text = text.trim();
    if text.chars().count() > DESCRIPTION_MAX || text.chars().any(char::is_control) {
        refuse(errors, "/description", format!("Use one line of at most {DESCRIPTION_MAX} characters."));
    }
    text.to_owned()
}

/// The names without repetitions, in the order of their first appearance.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}

/// Names of tools that were seen here once, or that the profile has already; any other is refused by its place.
/// Repetitions are left out.
fn known(
    snapshot: &Snapshot,
    names: Vec<String>,
    already: &[String],
    pointer: &str,
    errors: &mut Vec<FieldError>,
) -> Vec<String> {
    for (position, name) in names.iter().enumerate() {
        let internal = snapshot.find(name).is_some_and(|index| !snapshot.in_catalog(index));
        if (internal || !snapshot.was_seen(name)) && !already.contains(name) {
            let close = closest(name, snapshot.catalog().map(|index| snapshot.tool(index).name().as_ref()));
            let hint =
                if close.is_empty() { String::new() } else { format!(" Did you mean {}?", close.join(", ")) };
            refuse(
                errors,
                &format!("{pointer}/{position}"),
                format!("There is no tool named {name:?}.{hint}"),
            );
        }
    }
    unique(names)
}

/// The tools of a toolset, missing ones too.
fn members(snapshot: &Snapshot, name: &str) -> Result<Vec<String>, ServiceError> {
    let toolset =
        Toolset::named(snapshot, name).map_err(|error| ServiceError::Request { error, pointer: "/from" })?;
    Ok(match toolset {
        Toolset::Default => snapshot.catalog().map(|index| snapshot.tool(index).name().to_string()).collect(),
        Toolset::None | Toolset::List(_) => Vec::new(),
        Toolset::Profile(id) => {
            let profile = snapshot.profile(&id).ok_or_else(|| ServiceError::not_found("profile", name))?;
            snapshot.profile_tools(profile).tools.iter().map(ToString::to_string).collect()
        }
    })
}

fn with_fields(
    snapshot: &Snapshot,
    before: &ProfileRow,
    change: UpdateProfile,
) -> Result<ProfileRow, ServiceError> {
    let mut row = before.clone();
    let mut errors = Vec::new();
    if let Some(name) = &change.name {
        row.name = named(name, "/name", &mut errors);
    }
    if let Some(description) = &change.description {
        row.description = described(description, &mut errors);
    }
    let exact = change.tools.is_some();
    if let Some(tools) = change.tools {
        row.tools = known(snapshot, tools, &before.tools, "/tools", &mut errors);
        let included = snapshot.profile_tools(&in_force(before)).tools;
        let is_in = |tools: &[String], name: &str| tools.iter().any(|listed| listed == name);
        if included.iter().any(|name| !is_in(&row.tools, name) && !is_in(&before.tools, name)) {
            // A tool that the policy let in is left out: later tools count as new.
            row.new_tools_since = snapshot.last_sighting();
        }
        row.pinned.retain(|name| row.tools.contains(name));
    }
    if let Some(pinned) = change.pinned {
        for (position, name) in pinned.iter().enumerate() {
            if !row.tools.contains(name) {
                refuse(&mut errors, &format!("/pinned/{position}"), format!("{name} is not in the profile."));
            }
        }
        row.pinned = unique(pinned);
    }
    if let Some(new_tools) = change.new_tools.filter(|new_tools| *new_tools != before.new_tools) {
        // What the old policy let in stays in; the new one is about tools from now on.
        if before.new_tools == NewTools::Include && !exact {
            row.tools =
                snapshot.profile_tools(&in_force(before)).tools.iter().map(ToString::to_string).collect();
        }
        row.new_tools = new_tools;
        row.new_tools_since = snapshot.last_sighting();
    }
    finish(errors)?;
    Ok(row)
}

fn with_tools(
    snapshot: &Snapshot,
    before: &ProfileRow,
    edit: EditProfileTools,
) -> Result<ProfileRow, ServiceError> {
    let mut errors = Vec::new();
    let EditProfileTools { add, remove } = edit;
    for (position, name) in add.iter().enumerate() {
        if remove.contains(name) {
            refuse(&mut errors, &format!("/add/{position}"), format!("{name} is in both lists."));
        }
    }
    // To remove what is not in is no error, so only names that were never heard of are.
    let remove = known(snapshot, remove, &before.tools, "/remove", &mut errors);
    let add = known(snapshot, add, &before.tools, "/add", &mut errors);
    finish(errors)?;

    let mut row = before.clone();
    let undecided = snapshot.profile_tools(&in_force(before));
    if before.new_tools != NewTools::Ignore
        && undecided.held.iter().chain(&undecided.tools).any(|name| {
            remove.iter().any(|removed| **removed == **name)
                && !before.tools.iter().any(|listed| **listed == **name)
        })
    {
        // A new tool that is turned down: what is in now becomes the list, and later tools count as new.
        row.tools = undecided.tools.iter().map(ToString::to_string).collect();
        row.new_tools_since = snapshot.last_sighting();
    }
    row.tools.retain(|name| !remove.contains(name));
    let missing: Vec<String> = add.into_iter().filter(|name| !row.tools.contains(name)).collect();
    row.tools.extend(missing);
    row.pinned.retain(|name| row.tools.contains(name));
    Ok(row)
}

async fn restored(
    unit: &mut dyn UnitOfWork,
    before: &ProfileRow,
    revision: u64,
) -> Result<ProfileRow, ServiceError> {
    let version = unit.find_profile_version(&before.id, revision).await?;
    let version = version
        .ok_or_else(|| ServiceError::invalid("/revision", "The history has no such revision."))?
        .profile;
    Ok(ProfileRow {
        description: version.description,
        tools: version.tools,
        pinned: version.pinned,
        new_tools: version.new_tools,
        new_tools_since: version.new_tools_since,
        ..before.clone()
    })
}

/// Whether a change lets something in that was not in.
fn widens(snapshot: &Snapshot, profile: &Profile, row: &ProfileRow) -> bool {
    let before: HashSet<Arc<str>> = snapshot.profile_tools(profile).tools.into_iter().collect();
    let after = snapshot.profile_tools(&in_force(row)).tools;
    let adds = after.iter().any(|name| !before.contains(name));
    adds || row.new_tools == NewTools::Include && profile.new_tools != NewTools::Include
}

/// Widening what other people's keys may do is an admin's business.
async fn check_widening(unit: &mut dyn UnitOfWork, actor: &Actor, id: &str) -> Result<(), ServiceError> {
    if actor.role() == Role::Admin {
        return Ok(());
    }
    let others = keys_of(unit, id).await?.iter().any(|user| user.as_str() != actor.user_id());
    if others { Err(ServiceError::Denied(crate::access::Denied::UsedByOthers)) } else { Ok(()) }
}

fn stored(id: &Arc<str>) -> String {
    format!("profile:{id}")
}

/// The owners of the keys that are pinned to a profile and still work.
async fn keys_of(unit: &mut dyn UnitOfWork, id: &str) -> Result<Vec<String>, ServiceError> {
    let pinned = format!("profile:{id}");
    let keys = unit.list_api_keys(None).await?.into_iter();
    let live = keys.filter(|(key, _)| key.revoked_at.is_none() && key.pinned.as_deref() == Some(&pinned));
    Ok(live.map(|(key, _)| key.user_id).collect())
}

fn in_use(name: &str, keys: usize) -> ServiceError {
    let what = if keys == 1 { "1 API key is".to_owned() } else { format!("{keys} API keys are") };
    ServiceError::conflict(
        "in_use",
        format!("{what} pinned to {name}. Name a replacement, or revoke them first."),
    )
}

fn name_taken(error: StoreError, name: &str) -> ServiceError {
    match error {
        StoreError::Taken(_) => ServiceError::conflict(
            "name_taken",
            format!("There is a profile named {name:?} already. Choose another name."),
        ),
        other => other.into(),
    }
}

/// Takes a name that is kept for somebody, if the actor may. Names of others' profiles are theirs and admins'.
async fn claim_name(
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
async fn retire_name(
    unit: &mut dyn UnitOfWork,
    before: &ProfileRow,
    leads_to: Option<&str>,
    now: chrono::DateTime<chrono::Utc>,
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

async fn kept_names(
    unit: &mut dyn UnitOfWork,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<Vec<Delta>, ServiceError> {
    let kept = unit.list_retired_names().await?.into_iter().filter(|name| name.until > now);
    Ok(vec![Delta::RetiredNames(kept.map(|name| (name.name, name.profile_id.map(Into::into))).collect())])
}

async fn keep_version(
    unit: &mut dyn UnitOfWork,
    actor: &Actor,
    row: &ProfileRow,
) -> Result<(), ServiceError> {
    let version = ProfileVersionRow { profile: row.clone(), actor: Some(actor.username().to_owned()) };
    Ok(unit.put_profile_version(&version).await?)
}

/// What a change did, for the audit log.
fn difference(before: &ProfileRow, after: &ProfileRow) -> String {
    let count = |of: &ProfileRow, other: &ProfileRow| {
        of.tools.iter().filter(|name| !other.tools.contains(name)).count()
    };
    let mut parts = Vec::new();
    if before.name != after.name {
        parts.push(format!("renamed from {}", before.name));
    }
    match (count(after, before), count(before, after)) {
        (0, 0) => {}
        (added, removed) => parts.push(format!("{added} tools added, {removed} removed")),
    }
    if before.new_tools != after.new_tools {
        parts.push("another policy for new tools".to_owned());
    }
    if parts.is_empty() { "description, order or pins".to_owned() } else { parts.join(", ") }
}
