//! Profiles and toolsets, as they are shown.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolshelf_api::{Page, ProfileVersion, ToolsetSummary};
use toolshelf_core::{NewTools, Profile, RequestError, Role, Snapshot, Toolset};
use toolshelf_runtime::store::{ProfileRow, Store};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::paging::page;
use crate::profile_edits::uses::{Uses, all_uses, stored};
use crate::times::rfc3339;

/// Adds what the store remembers about profiles to the first snapshot, and remembers the tools that are seen for the
/// first time.
pub(crate) async fn load(
    store: &dyn Store,
    snapshot: Snapshot,
    now: DateTime<Utc>,
) -> Result<Snapshot, ServiceError> {
    let mut unit = store.begin().await?;
    let seen: HashSet<String> = unit.list_tool_sightings().await?.into_iter().map(|(name, _)| name).collect();
    let names = snapshot.catalog().map(|index| snapshot.tool(index).name().to_string());
    let first_seen: Vec<String> = names.filter(|name| !seen.contains(name)).collect();
    unit.add_tool_sightings(&first_seen).await?;
    let sightings: HashMap<Arc<str>, u64> = unit
        .list_tool_sightings()
        .await?
        .into_iter()
        .map(|(name, sighting)| (name.into(), sighting))
        .collect();
    let retired = unit.list_retired_names().await?;
    let mut snapshot = snapshot.with_sightings(sightings);
    for row in unit.list_profiles().await? {
        snapshot = snapshot.with_profile(Arc::new(in_force(&row)));
    }
    unit.commit().await?;
    let kept = retired.into_iter().filter(|name| name.until > now);
    Ok(snapshot.with_retired_names(kept.map(|name| (name.name, name.profile_id.map(Into::into)))))
}

/// A stored profile as snapshots hold it.
pub(crate) fn in_force(row: &ProfileRow) -> Profile {
    let names = |names: &[String]| names.iter().map(|name| Arc::from(name.as_str())).collect();
    Profile {
        id: row.id.as_str().into(),
        name: row.name.as_str().into(),
        description: row.description.as_str().into(),
        owner_id: row.owner_id.as_str().into(),
        tools: names(&row.tools),
        pinned: names(&row.pinned),
        new_tools: row.new_tools,
        new_tools_since: row.new_tools_since,
        revision: row.revision,
        created_at: rfc3339(row.created_at).into(),
        updated_at: rfc3339(row.updated_at).into(),
    }
}

/// Whether somebody may change a profile.
pub(crate) fn may_edit(actor: &Actor, profile: &Profile) -> bool {
    actor.role() == Role::Admin || actor.user_id() == profile.owner_id.as_ref()
}

/// Who is asking, and the names of owners.
pub(crate) struct Viewer<'a> {
    actor: &'a Actor,
    owners: HashMap<String, String>,
    uses: HashMap<String, Uses>,
}

impl Viewer<'_> {
    /// A profile as it is shown.
    pub(crate) fn shape(&self, snapshot: &Snapshot, profile: &Profile) -> toolshelf_api::Profile {
        let now = snapshot.profile_tools(profile);
        let uses = self.uses.get(&stored(&profile.id));
        let texts = |names: &[Arc<str>]| names.iter().map(ToString::to_string).collect();
        toolshelf_api::Profile {
            name: profile.name.to_string(),
            description: profile.description.to_string(),
            tools: texts(&now.tools),
            missing: texts(&now.missing),
            pinned: texts(&profile.pinned),
            new_tools: profile.new_tools,
            held: texts(&now.held),
            owner: self.owners.get(profile.owner_id.as_ref()).cloned(),
            can_edit: may_edit(self.actor, profile),
            used_by: uses.map(|uses| uses.shown(self.actor)).unwrap_or_default(),
            revision: profile.revision,
            tokens: now.tokens,
            created_at: Some(profile.created_at.to_string()),
            updated_at: Some(profile.updated_at.to_string()),
        }
    }
}

/// `default`: every exposed tool, computed now.
fn default_profile(snapshot: &Snapshot) -> toolshelf_api::Profile {
    let tools: Vec<_> = snapshot.catalog().map(|index| snapshot.tool(index)).collect();
    toolshelf_api::Profile {
        name: "default".to_owned(),
        description: "Every exposed tool".to_owned(),
        tools: tools.iter().map(|tool| tool.name().to_string()).collect(),
        missing: Vec::new(),
        pinned: Vec::new(),
        new_tools: NewTools::Include,
        held: Vec::new(),
        owner: None,
        can_edit: false,
        used_by: toolshelf_api::ProfileUse::default(),
        revision: 0,
        tokens: tools.iter().map(|tool| tool.tokens()).sum(),
        created_at: None,
        updated_at: None,
    }
}

impl Service {
    /// What it takes to show profiles to somebody: all of them, or the one with this id.
    pub(crate) async fn viewer<'a>(
        &self,
        actor: &'a Actor,
        only: Option<&str>,
    ) -> Result<Viewer<'a>, ServiceError> {
        let mut unit = self.store().read().await?;
        let owners = unit.list_users().await?.into_iter().map(|user| (user.id, user.username)).collect();
        let uses = all_uses(&mut *unit, only.map(stored).as_deref()).await?;
        Ok(Viewer { actor, owners, uses })
    }

    /// One page of all profiles: `default` first, then by name. The cursor is the name of the last one of the page
    /// before.
    pub async fn list_profiles(
        &self,
        actor: &Actor,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<toolshelf_api::Profile>, ServiceError> {
        let viewer = self.viewer(actor, None).await?;
        let snapshot = self.registry().snapshot().load()?;
        let own = snapshot.profiles().map(|profile| viewer.shape(&snapshot, profile));
        let all = std::iter::once(default_profile(&snapshot)).chain(own).collect();
        page(all, |profile: &toolshelf_api::Profile| &profile.name, cursor, limit)
    }

    /// One profile by its name, or by one that it had before.
    pub async fn get_profile(
        &self,
        actor: &Actor,
        name: &str,
    ) -> Result<toolshelf_api::Profile, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        match Toolset::named(&snapshot, name) {
            Ok(Toolset::Default) => Ok(default_profile(&snapshot)),
            Ok(Toolset::None | Toolset::List(_)) => Err(ServiceError::not_found("profile", name)),
            Ok(Toolset::Profile(_)) | Err(_) => {
                let profile = find(&snapshot, name)?;
                let viewer = self.viewer(actor, Some(&profile.id)).await?;
                Ok(viewer.shape(&snapshot, &profile))
            }
        }
    }

    /// All names that resolve to a set of tools.
    pub fn list_toolsets(&self) -> Result<Page<ToolsetSummary>, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let default = default_profile(&snapshot);
        let reserved = |name: &str, count: usize, tokens| ToolsetSummary {
            name: name.to_owned(),
            kind: "reserved".to_owned(),
            count: count as u64,
            tokens,
        };
        let mut items =
            vec![reserved("default", default.tools.len(), default.tokens), reserved("none", 0, 0)];
        items.extend(snapshot.profiles().map(|profile| {
            let now = snapshot.profile_tools(profile);
            ToolsetSummary {
                name: profile.name.to_string(),
                kind: "profile".to_owned(),
                count: (now.tools.len() - now.missing.len()) as u64,
                tokens: now.tokens,
            }
        }));
        Ok(Page { total: items.len() as u64, items, next_cursor: None })
    }

    /// One page of a profile's history, newest first. The cursor is the revision of the last version of the page before.
    pub async fn profile_history(
        &self,
        name: &str,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<ProfileVersion>, ServiceError> {
        let before = match cursor.map(str::parse) {
            None => None,
            Some(Ok(revision)) => Some(revision),
            Some(Err(_)) => return Err(ServiceError::invalid("cursor", "This is no cursor of this list.")),
        };
        let profile = find(&*self.registry().snapshot().load()?, name)?;
        let mut unit = self.store().read().await?;
        let mut rows = unit.list_profile_versions(&profile.id, before, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.profile.revision.to_string());
        let total = unit.count_profile_versions(&profile.id).await?;
        let items = rows.into_iter().map(|row| ProfileVersion {
            revision: row.profile.revision,
            at: rfc3339(row.profile.updated_at),
            by: row.actor,
            name: row.profile.name,
            description: row.profile.description,
            tools: row.profile.tools,
            pinned: row.profile.pinned,
            new_tools: row.profile.new_tools,
        });
        Ok(Page { items: items.collect(), next_cursor, total })
    }
}

/// The profile that a name leads to. Reserved names lead to none: they are computed.
pub(crate) fn find(snapshot: &Snapshot, name: &str) -> Result<Arc<Profile>, ServiceError> {
    match Toolset::named(snapshot, name) {
        Ok(Toolset::Profile(id)) => {
            snapshot.profile(&id).cloned().ok_or_else(|| ServiceError::not_found("profile", name))
        }
        Ok(Toolset::Default | Toolset::None | Toolset::List(_)) => {
            Err(ServiceError::Reserved(name.to_owned()))
        }
        Err(RequestError::RetiredToolset { name }) => Err(ServiceError::Retired(name)),
        Err(RequestError::UnknownToolset { name, suggestions }) => {
            Err(ServiceError::NotFound { what: "profile", name, suggestions })
        }
        Err(error) => Err(error.into()),
    }
}
