//! Profiles, their history, the names that are kept for them, and when each tool was first seen.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use toolshelf_core::NewTools;

use super::StoreError;

/// A profile: a named set of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// The id, which a rename keeps.
    pub id: String,
    /// The name as written; unique by [`toolshelf_core::fold_name`].
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The id of the user who owns it.
    pub owner_id: String,
    /// The tools by name, in the order in which they were added; missing ones too.
    pub tools: Vec<String>,
    /// Those of `tools` whose schema always ships.
    pub pinned: Vec<String>,
    /// What happens with tools that are first seen after `new_tools_since`.
    pub new_tools: NewTools,
    /// The sighting (see [`Profiles::list_tool_sightings`]) after which a tool counts as new.
    pub new_tools_since: u64,
    /// Grows with each change.
    pub revision: u64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A profile as it was at one revision, and who made it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileVersionRow {
    /// The profile as it was.
    pub profile: ProfileRow,
    /// The name of the user who made it so; absent when the system did.
    pub actor: Option<String>,
}

/// A name that a profile had, kept for its owner for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredNameRow {
    /// The name as written; unique by [`toolshelf_core::fold_name`].
    pub name: String,
    /// The profile that was renamed; absent when it was deleted.
    pub profile_id: Option<String>,
    /// The id of the user who owned the profile.
    pub owner_id: String,
    /// Until when the name is kept.
    pub until: DateTime<Utc>,
}

/// Profiles.
#[async_trait]
pub trait Profiles {
    /// All profiles by id.
    async fn list_profiles(&mut self) -> Result<Vec<ProfileRow>, StoreError>;
    /// The profile with this id.
    async fn find_profile(&mut self, id: &str) -> Result<Option<ProfileRow>, StoreError>;
    /// Adds a profile. [`StoreError::Taken`] with `name` if its name is taken, in any letter case.
    async fn insert_profile(&mut self, profile: &ProfileRow) -> Result<(), StoreError>;
    /// Replaces everything but id, owner and `created_at`, if the stored revision is `expected_revision`; says whether
    /// it was. [`StoreError::Taken`] with `name` if its name is taken, in any letter case.
    async fn update_profile(
        &mut self,
        profile: &ProfileRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError>;
    /// Removes a profile with its history.
    async fn delete_profile(&mut self, id: &str) -> Result<(), StoreError>;

    /// Adds a version to a profile's history. A version of this revision that exists is replaced.
    async fn put_profile_version(&mut self, version: &ProfileVersionRow) -> Result<(), StoreError>;
    /// A profile's versions with a revision below `before` (all if absent), newest first, at most `limit`.
    async fn list_profile_versions(
        &mut self,
        id: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ProfileVersionRow>, StoreError>;
    /// How many versions a profile has.
    async fn count_profile_versions(&mut self, id: &str) -> Result<u64, StoreError>;
    /// A profile as it was at a revision.
    async fn find_profile_version(
        &mut self,
        id: &str,
        revision: u64,
    ) -> Result<Option<ProfileVersionRow>, StoreError>;

    /// All names that are kept, those whose time is over too.
    async fn list_retired_names(&mut self) -> Result<Vec<RetiredNameRow>, StoreError>;
    /// Keeps a name; replaces what was kept under it, in any letter case.
    async fn put_retired_name(&mut self, name: &RetiredNameRow) -> Result<(), StoreError>;
    /// Keeps a name no longer.
    async fn delete_retired_name(&mut self, name: &str) -> Result<(), StoreError>;

    /// When each tool was first seen, as a number that grows: 1, 2, 3.
    async fn list_tool_sightings(&mut self) -> Result<Vec<(String, u64)>, StoreError>;
    /// Remembers tools that are seen for the first time, all under the next number; those seen before keep theirs.
    async fn add_tool_sightings(&mut self, tools: &[String]) -> Result<(), StoreError>;
}
