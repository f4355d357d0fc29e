//! The interchange document of profiles: all of them out, and in again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolshelf_api::{FieldError, FunctionsMeta, ImportedFunctions, ProfileLists};
use toolshelf_core::{
    NewTools, Profile, Role, Snapshot, Toolset, fold_name, profile_name, validate_tool_name,
};
use toolshelf_runtime::store::{ActiveRow, NewAudit, ProfileRow, ProfileVersionRow, UnitOfWork};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::profile_edits::uses::{all_uses, stored};
use crate::profile_edits::{kept_names, retire_name};
use crate::profiles::in_force;
use crate::references;
use crate::starts::active;
use crate::writer::{Delta, Written};

/// The name that stands for every exposed tool. A document lists it for people to read.
const DEFAULT: &str = "default";

/// A document whose every part was checked, but for what only the store can tell.
#[derive(Clone, Debug)]
pub struct CheckedFunctions {
    profiles: Vec<(String, Vec<String>)>,
    active: String,
}

impl CheckedFunctions {
    /// Reports everything that is wrong with a document, each with a pointer.
    pub fn new(document: FunctionsMeta) -> Result<Self, ServiceError> {
        let mut errors = Vec::new();
        let mut wrong = |pointer: String, message: String| errors.push(FieldError { pointer, message });
        let mut profiles: Vec<(String, Vec<String>)> = Vec::new();
        let mut folded = HashMap::new();
        for (written, tools) in document.profiles.0 {
            if written == DEFAULT {
                continue;
            }
            let pointer = format!("/profiles/{}", written.replace('~', "~0").replace('/', "~1"));
            let name = match profile_name(&written) {
                Ok(name) => name,
                Err(error) => {
                    wrong(pointer, error.to_string());
                    continue;
                }
            };
            if let Some(other) = folded.insert(fold_name(&name), written) {
                wrong(pointer.clone(), format!("This name and {other:?} differ in letter case only."));
            }
            for (position, tool) in tools.iter().enumerate() {
                if let Err(error) = validate_tool_name(tool) {
                    wrong(format!("{pointer}/{position}"), error.to_string());
                }
            }
            let mut seen = HashSet::new();
            profiles.push((name, tools.into_iter().filter(|tool| seen.insert(tool.clone())).collect()));
        }
        if errors.is_empty() {
            Ok(Self { profiles, active: document.active })
        } else {
            Err(ServiceError::Invalid(errors))
        }
    }

    /// Whether there is nothing to bring in.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.active == DEFAULT
    }

    /// Reports an active toolset that the document does not bring along itself, for an installation that has nothing yet.
    pub fn stands_alone(&self) -> Result<(), ServiceError> {
        if self.holds(&self.active) || Toolset::RESERVED.contains(&self.active.as_str()) {
            return Ok(());
        }
        let message = format!("{:?} is none of the profiles in the document.", self.active);
        Err(ServiceError::invalid("/active", message))
    }

    fn holds(&self, name: &str) -> bool {
        let folded = fold_name(name);
        self.profiles.iter().any(|(known, _)| fold_name(known) == folded)
    }
}

/// Who an import is made by, and when.
pub(crate) struct Author {
    pub(crate) user_id: String,
    pub(crate) username: String,
    pub(crate) key: Option<String>,
    pub(crate) at: DateTime<Utc>,
    /// An id for each profile that may be made.
    pub(crate) new_ids: Vec<String>,
}

impl Author {
    fn audit(&self, action: &'static str, target: &str, detail: String) -> NewAudit {
        NewAudit {
            at: self.at,
            actor: Some(self.username.clone()),
            key: self.key.clone(),
            action,
            target: target.to_owned(),
            detail,
        }
    }
}

impl Service {
    /// Every profile as the interchange document: `default` first, then by name.
    pub async fn functions_meta(&self) -> Result<FunctionsMeta, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let active = active(&mut *self.store().read().await?).await?;
        let default = snapshot.catalog_names().map(str::to_owned).collect();
        let profiles =
            snapshot.profiles().map(|profile| (profile.name.to_string(), tools(&snapshot, profile)));
        Ok(FunctionsMeta {
            profiles: ProfileLists(std::iter::once((DEFAULT.to_owned(), default)).chain(profiles).collect()),
            active: references::shown(&snapshot, &active.reference),
        })
    }

    /// Makes profiles as a document has them: all of it or nothing. With `replace`, profiles that it does not name are
    /// removed, unless somebody uses them.
    pub async fn put_functions_meta(
        &self,
        actor: &Actor,
        document: FunctionsMeta,
        replace: bool,
    ) -> Result<ImportedFunctions, ServiceError> {
        let document = CheckedFunctions::new(document)?;
        let author = Author {
            user_id: actor.user_id().to_owned(),
            username: actor.username().to_owned(),
            key: actor.key_name().map(str::to_owned),
            at: self.now(),
            new_ids: document.profiles.iter().map(|_| self.environment().new_id()).collect(),
        };
        self.write(Some(actor), move |unit, snapshot| {
            Box::pin(async move { import(unit, snapshot, &author, &document, replace).await })
        })
        .await
    }

    /// The same in a data folder that no server uses, for its first admin.
    pub async fn import_functions(
        &self,
        document: FunctionsMeta,
        replace: bool,
    ) -> Result<ImportedFunctions, ServiceError> {
        let document = CheckedFunctions::new(document)?;
        let users = self.store().read().await?.list_users().await?;
        let admins = users.into_iter().filter(|user| user.role == Role::Admin && !user.disabled);
        let owner = admins.min_by_key(|user| (user.created_at, user.id.clone())).ok_or_else(|| {
            ServiceError::conflict(
                "no_account",
                "There is no admin yet who could own the profiles. Put the file into the data folder as \
                 functions_meta.json: it is imported when the first account is made.",
            )
        })?;
        let author = self.author(owner.id, owner.username, &document);
        self.write(None, move |unit, snapshot| {
            Box::pin(async move { import(unit, snapshot, &author, &document, replace).await })
        })
        .await
    }

    /// An author without a key, who acts now.
    pub(crate) fn author(&self, user_id: String, username: String, document: &CheckedFunctions) -> Author {
        Author {
            user_id,
            username,
            key: None,
            at: self.now(),
            new_ids: document.profiles.iter().map(|_| self.environment().new_id()).collect(),
        }
    }
}

fn tools(snapshot: &Snapshot, profile: &Profile) -> Vec<String> {
    snapshot.profile_tools(profile).tools.iter().map(ToString::to_string).collect()
}

/// Writes a document. What is as the document says stays untouched, so putting what was got changes nothing.
pub(crate) async fn import(
    unit: &mut dyn UnitOfWork,
    snapshot: &Snapshot,
    author: &Author,
    document: &CheckedFunctions,
    replace: bool,
) -> Result<Written<ImportedFunctions>, ServiceError> {
    let mut done = ImportedFunctions::default();
    let mut deltas = Vec::new();
    let gone: Vec<Arc<Profile>> = if replace {
        snapshot.profiles().filter(|profile| !document.holds(&profile.name)).cloned().collect()
    } else {
        Vec::new()
    };
    let by_name: HashMap<String, &Arc<Profile>> =
        snapshot.profiles().map(|profile| (fold_name(&profile.name), profile)).collect();
    let mut ids = HashMap::new();
    for ((name, wanted), new_id) in document.profiles.iter().zip(&author.new_ids) {
        let row = match by_name.get(&fold_name(name)) {
            None => {
                let row = ProfileRow {
                    id: new_id.clone(),
                    name: name.clone(),
                    description: String::new(),
                    owner_id: author.user_id.clone(),
                    tools: wanted.clone(),
                    pinned: Vec::new(),
                    new_tools: NewTools::Ignore,
                    new_tools_since: snapshot.last_sighting(),
                    revision: 1,
                    created_at: author.at,
                    updated_at: author.at,
                };
                // Whoever imports is an admin, and so may take a name that is kept for somebody.
                unit.delete_retired_name(name).await?;
                unit.insert_profile(&row).await?;
                let detail = format!("{} tools, imported.", row.tools.len());
                unit.append_audit(&author.audit("profile.created", name, detail)).await?;
                done.created.push(name.clone());
                Some(row)
            }
            Some(profile) if tools(snapshot, profile) == *wanted => {
                ids.insert(fold_name(name), profile.id.to_string());
                None
            }
            Some(profile) => {
                let before = unit.find_profile(&profile.id).await?.ok_or_else(|| {
                    ServiceError::Internal(format!("the profile {} is not stored", profile.id))
                })?;
                let mut row = ProfileRow {
                    tools: wanted.clone(),
                    new_tools_since: snapshot.last_sighting(),
                    revision: before.revision + 1,
                    updated_at: author.at,
                    ..before.clone()
                };
                row.pinned.retain(|tool| row.tools.contains(tool));
                if !unit.update_profile(&row, before.revision).await? {
                    return Err(ServiceError::Internal(format!(
                        "the profile {} changed under the lock",
                        row.id
                    )));
                }
                let detail =
                    format!("{} tools before, {} now, imported.", before.tools.len(), row.tools.len());
                unit.append_audit(&author.audit("profile.updated", &row.name, detail)).await?;
                done.changed.push(row.name.clone());
                Some(row)
            }
        };
        if let Some(row) = row {
            let version = ProfileVersionRow { profile: row.clone(), actor: Some(author.username.clone()) };
            unit.put_profile_version(&version).await?;
            ids.insert(fold_name(name), row.id.clone());
            deltas.push(Delta::Profile(Arc::new(in_force(&row))));
        }
    }
    let (active, activated) = put_active(unit, snapshot, author, document, &ids, &gone).await?;
    done.active = active;
    if !gone.is_empty() {
        let uses = all_uses(unit, None).await?;
        for profile in gone {
            if let Some(uses) = uses.get(&stored(&profile.id)).filter(|uses| !uses.is_empty()) {
                return Err(uses.in_use(&profile.name));
            }
            let row = unit
                .find_profile(&profile.id)
                .await?
                .ok_or_else(|| ServiceError::Internal(format!("the profile {} is not stored", profile.id)))?;
            unit.delete_profile(&profile.id).await?;
            retire_name(unit, &row, None, author.at).await?;
            unit.append_audit(&author.audit("profile.deleted", &row.name, "By an import.".to_owned()))
                .await?;
            done.deleted.push(row.name);
            deltas.push(Delta::ProfileGone(row.id));
        }
    }
    let here: HashSet<&str> = snapshot.catalog_names().collect();
    let mut missing: Vec<String> = document
        .profiles
        .iter()
        .flat_map(|(_, tools)| tools)
        .filter(|tool| !here.contains(tool.as_str()))
        .cloned()
        .collect();
    missing.sort_unstable();
    missing.dedup();
    done.missing = missing;
    if !deltas.is_empty() || activated {
        // Names that were kept may have been taken, and names of deleted profiles are kept now. It also makes the write
        // last when only the active toolset changed.
        deltas.extend(kept_names(unit, author.at).await?);
    }
    Ok(Written { value: done, deltas })
}

/// Sets the active toolset, which may be a profile of the document; returns its name, and whether it changed.
async fn put_active(
    unit: &mut dyn UnitOfWork,
    snapshot: &Snapshot,
    author: &Author,
    document: &CheckedFunctions,
    ids: &HashMap<String, String>,
    gone: &[Arc<Profile>],
) -> Result<(String, bool), ServiceError> {
    let mut name = document.active.clone();
    let reference = if let Some(id) = ids.get(&fold_name(&name)) {
        stored(id)
    } else {
        let toolset = Toolset::named(snapshot, &name)
            .map_err(|error| ServiceError::Request { error, pointer: "/active" })?;
        if let Toolset::Profile(id) = &toolset
            && gone.iter().any(|profile| profile.id == *id)
        {
            let message = "This profile is not in the document, and so would be removed.";
            return Err(ServiceError::invalid("/active", message));
        }
        let reference = references::stored(&toolset)
            .ok_or_else(|| ServiceError::invalid("/active", "Use the name of a toolset."))?;
        name = references::shown(snapshot, &reference);
        reference
    };
    let before = active(unit).await?;
    let changes = before.reference != reference;
    if changes {
        unit.put_active_toolset(&ActiveRow { reference, revision: before.revision + 1 }).await?;
        let detail = format!("before: {}", references::shown(snapshot, &before.reference));
        unit.append_audit(&author.audit("active_profile.changed", &name, detail)).await?;
    }
    Ok((name, changes))
}
