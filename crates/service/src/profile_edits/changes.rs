//! What a change makes of a profile: its fields checked, its tools added and removed.

use std::collections::HashSet;
use std::sync::Arc;

use toolshelf_api::{EditProfileTools, FieldError, UpdateProfile};
use toolshelf_core::{NewTools, Profile, Snapshot, Toolset, closest, profile_name};
use toolshelf_runtime::store::{ProfileRow, UnitOfWork};

use crate::error::ServiceError;
use crate::profiles::in_force;

/// The most characters of a description.
const DESCRIPTION_MAX: usize = 500;

pub(super) fn refuse(errors: &mut Vec<FieldError>, pointer: &str, message: impl Into<String>) {
    errors.push(FieldError { pointer: pointer.to_owned(), message: message.into() });
}

pub(super) fn finish(errors: Vec<FieldError>) -> Result<(), ServiceError> {
    if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
}

pub(super) fn named(text: &str, pointer: &str, errors: &mut Vec<FieldError>) -> String {
    profile_name(text).unwrap_or_else(|error| {
        refuse(errors, pointer, error.to_string());
        String::new()
    })
}

pub(super) fn described(text: &str, errors: &mut Vec<FieldError>) -> String {
    let text = text.trim();
    if text.chars().count() > DESCRIPTION_MAX || text.chars().any(char::is_control) {
        refuse(errors, "/description", format!("Use one line of at most {DESCRIPTION_MAX} characters."));
    }
    text.to_owned()
}

/// The names without repetitions, in the order of their first appearance.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}

/// Names of tools that were seen here once, or that the profile has already; any other is refused by its place.
/// Repetitions are left out.
pub(super) fn known(
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
pub(super) fn members(snapshot: &Snapshot, name: &str) -> Result<Vec<String>, ServiceError> {
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

pub(super) fn with_fields(
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

pub(super) fn with_tools(
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

pub(super) async fn restored(
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
pub(super) fn widens(snapshot: &Snapshot, profile: &Profile, row: &ProfileRow) -> bool {
    let before: HashSet<Arc<str>> = snapshot.profile_tools(profile).tools.into_iter().collect();
    let after = snapshot.profile_tools(&in_force(row)).tools;
    let adds = after.iter().any(|name| !before.contains(name));
    adds || row.new_tools == NewTools::Include && profile.new_tools != NewTools::Include
}

/// What a change did, for the audit log.
pub(super) fn difference(before: &ProfileRow, after: &ProfileRow) -> String {
    let count = |of: &ProfileRow, other: &ProfileRow| {
        let other: HashSet<&String> = other.tools.iter().collect();
        of.tools.iter().filter(|name| !other.contains(name)).count()
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
