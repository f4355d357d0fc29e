//! Profiles in a snapshot: the names that lead to them, and what they come to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Found, Snapshot, ToolIndex};
use crate::bitset::BitSet;
use crate::profile::{NewTools, Placed, Profile, fold_name};

/// What a profile comes to in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileTools {
    /// Its tools, missing ones too: the list, then what its policy includes.
    pub tools: Vec<Arc<str>>,
    /// Those of them that are not registered now.
    pub missing: Vec<Arc<str>>,
    /// New tools that wait until somebody decides.
    pub held: Vec<Arc<str>>,
    /// Estimated tokens of its tools that are in the catalog.
    pub tokens: u32,
}

impl Snapshot {
    /// All profiles, by folded name.
    pub fn profiles(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.profiles.by_name.values().filter_map(|id| self.profile(id))
    }

    /// The profile with this id.
    pub fn profile(&self, id: &str) -> Option<&Arc<Profile>> {
        self.profiles.by_id.get(id).map(|placed| &placed.profile)
    }

    /// What a name leads to, in any letter case.
    pub(crate) fn find_profile(&self, name: &str) -> Found<'_> {
        let folded = fold_name(name);
        if let Some(profile) = self.profiles.by_name.get(&folded).and_then(|id| self.profile(id)) {
            return Found::Profile(profile);
        }
        match self.profiles.retired.get(&folded) {
            // What it was renamed to may have been deleted since.
            Some(Some(id)) => self.profile(id).map_or(Found::Retired, Found::Profile),
            Some(None) => Found::Retired,
            None => Found::Nothing,
        }
    }

    /// What a profile comes to.
    pub fn profile_tools(&self, profile: &Profile) -> ProfileTools {
        let listed: HashSet<&str> = profile.tools.iter().map(AsRef::as_ref).collect();
        let new: Vec<Arc<str>> = if profile.new_tools == NewTools::Ignore {
            Vec::new()
        } else {
            let catalog = self.catalog().map(|index| self.tool(index).name());
            catalog
                .filter(|name| self.is_new(profile, name) && !listed.contains(name.as_ref()))
                .cloned()
                .collect()
        };
        let (included, held) =
            if profile.new_tools == NewTools::Include { (new, Vec::new()) } else { (Vec::new(), new) };
        let tools: Vec<Arc<str>> = profile.tools.iter().cloned().chain(included).collect();
        let missing = tools.iter().filter(|name| self.find(name).is_none()).cloned().collect();
        let positions =
            tools.iter().filter_map(|name| self.find(name)).filter(|index| self.in_catalog(*index));
        let tokens = positions.map(|index| self.tool(index).tokens()).sum();
        ProfileTools { tools, missing, held, tokens }
    }

    /// The number of the last sighting.
    pub fn last_sighting(&self) -> u64 {
        self.sightings.values().copied().max().unwrap_or(0)
    }

    /// Whether a tool was ever seen here, registered now or not.
    pub fn was_seen(&self, name: &str) -> bool {
        self.sightings.contains_key(name) || self.find(name).is_some()
    }

    /// This snapshot with other sightings.
    #[must_use]
    pub fn with_sightings(&self, sightings: HashMap<Arc<str>, u64>) -> Self {
        let mut next = self.clone();
        next.sightings = Arc::new(sightings);
        next.place_profiles();
        next
    }

    /// When each tool was first seen.
    pub fn sightings(&self) -> &HashMap<Arc<str>, u64> {
        &self.sightings
    }

    pub(super) fn place_profiles(&mut self) {
        let placed = self.profiles.by_id.iter().map(|(id, before)| {
            let profile = Arc::clone(&before.profile);
            let (selection, pinned) = self.place(&profile);
            (Arc::clone(id), Placed { profile, selection: Arc::new(selection), pinned: Arc::new(pinned) })
        });
        let by_id = placed.collect();
        Arc::make_mut(&mut self.profiles).by_id = by_id;
    }

    /// This snapshot with a profile added or replaced.
    #[must_use]
    pub fn with_profile(&self, profile: Arc<Profile>) -> Self {
        let mut next = self.without_profile(&profile.id);
        let (selection, pinned) = next.place(&profile);
        let (selection, pinned) = (Arc::new(selection), Arc::new(pinned));
        let profiles = Arc::make_mut(&mut next.profiles);
        profiles.by_name.insert(fold_name(&profile.name), Arc::clone(&profile.id));
        profiles.by_id.insert(Arc::clone(&profile.id), Placed { profile, selection, pinned });
        next
    }

    /// This snapshot without a profile.
    #[must_use]
    pub fn without_profile(&self, id: &str) -> Self {
        let mut next = self.clone();
        if let Some(before) = self.profile(id) {
            let profiles = Arc::make_mut(&mut next.profiles);
            profiles.by_name.remove(&fold_name(&before.name));
            profiles.by_id.remove(id);
        }
        next
    }

    /// This snapshot with other names kept: each leads to the profile that was renamed, or to nothing.
    #[must_use]
    pub fn with_retired_names(&self, names: impl IntoIterator<Item = (String, Option<Arc<str>>)>) -> Self {
        let mut next = self.clone();
        Arc::make_mut(&mut next.profiles).retired =
            names.into_iter().map(|(name, id)| (fold_name(&name), id)).collect();
        next
    }

    pub(crate) fn selection_of(&self, id: &str) -> Option<&Arc<BitSet>> {
        self.profiles.by_id.get(id).map(|placed| &placed.selection)
    }

    pub(crate) fn pinned_in(&self, id: &str) -> Option<&Arc<BitSet>> {
        self.profiles.by_id.get(id).map(|placed| &placed.pinned)
    }

    fn is_new(&self, profile: &Profile, name: &str) -> bool {
        self.sightings.get(name).is_none_or(|sighting| *sighting > profile.new_tools_since)
    }

    /// A profile's tools, and those whose schema always ships, as positions.
    fn place(&self, profile: &Profile) -> (BitSet, BitSet) {
        let placed = |names: &[Arc<str>]| {
            let mut set = BitSet::with_capacity(self.tools.len());
            for ToolIndex(position) in names.iter().filter_map(|name| self.find(name)) {
                set.insert(position);
            }
            set
        };
        let mut set = placed(&profile.tools);
        if profile.new_tools == NewTools::Include {
            let new = self.indexes().filter(|index| self.is_new(profile, self.tool(*index).name()));
            new.for_each(|ToolIndex(position)| set.insert(position));
        }
        (set, placed(&profile.pinned))
    }
}
