//! A snapshot: everything that decides visibility at one revision, immutable.

mod profiles;
mod servers;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::availability::Availability;
use crate::bitset::BitSet;
use crate::card::{Disabled, NotRegistered, ToolCard};
use crate::profile::{Placed, Profile};
use crate::tool::Tool;

pub use profiles::ProfileTools;
pub use servers::ServerTools;

/// The position of a tool in one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolIndex(pub(crate) usize);

/// A global disable (L5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disable {
    /// The admin's user name.
    pub by: Arc<str>,
    /// The admin's reason.
    pub reason: Arc<str>,
    /// When, as RFC 3339 in UTC.
    pub at: Arc<str>,
}

/// What admins decided about a tool by name. It outlives the tool, and its revision outlives the disable, so that
/// a write on an old state is noticed.
#[derive(Clone, Debug)]
struct State {
    revision: u64,
    disable: Option<Disable>,
}

/// An immutable, revisioned view of the registry and of what was decided about it.
///
/// Reading takes no lock. Changing makes a new snapshot that shares every part which did not change.
#[derive(Clone, Debug)]
pub struct Snapshot {
    revision: u64,
    fingerprint: u64,
    tools: Arc<[Arc<Tool>]>,
    positions: Arc<HashMap<Arc<str>, ToolIndex>>,
    loader: Option<ToolIndex>,
    /// What functions declared that did not enter the registry.
    declared: Arc<[NotRegistered]>,
    not_registered: Arc<[NotRegistered]>,
    /// Those of them that come from servers.
    rejected: Arc<BTreeMap<Arc<str>, Vec<NotRegistered>>>,
    availability: Arc<[Availability]>,
    /// Policy is keyed by the name on the wire: a name depends on the tool's original only and two originals never
    /// share one, so a changed title or a re-registration never evades a rule.
    states: Arc<HashMap<Arc<str>, State>>,
    disabled: BitSet,
    /// The `web` group: what the web switch of a conversation or message adds and takes away.
    web: Arc<BitSet>,
    profiles: Arc<Profiles>,
    /// When each tool was first seen, as a number that grows. A tool that was never seen counts as the newest.
    sightings: Arc<HashMap<Arc<str>, u64>>,
}

/// Profiles by id, and the names that lead to them.
#[derive(Clone, Debug, Default)]
struct Profiles {
    by_id: HashMap<Arc<str>, Placed>,
    /// Ids by folded name.
    by_name: BTreeMap<String, Arc<str>>,
    /// Names that are kept, folded: the id of the renamed profile, or none for a deleted one.
    retired: HashMap<String, Option<Arc<str>>>,
}

/// What a name leads to.
pub(crate) enum Found<'a> {
    /// A profile that has this name, or had it before it was renamed.
    Profile(&'a Arc<Profile>),
    /// A profile had this name and was deleted.
    Retired,
    /// No profile has or had this name.
    Nothing,
}

/// Says why tools cannot form a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// Two tools have one name.
    DuplicateName {
        /// The name.
        name: Arc<str>,
        /// Where the two come from.
        sources: [String; 2],
    },
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DuplicateName { name, sources: [first, second] } => {
                write!(f, "two tools are named {name}: {first} and {second}")
            }
        }
    }
}

impl std::error::Error for SnapshotError {}

impl Snapshot {
    /// The snapshot of a registry about which nothing was decided yet.
    pub fn new(tools: Vec<Arc<Tool>>, not_registered: Vec<NotRegistered>) -> Result<Self, SnapshotError> {
        let mut not_registered = not_registered;
        not_registered.sort_by(|a, b| a.name.cmp(&b.name));
        let declared: Arc<[NotRegistered]> = not_registered.into();
        let empty = Self {
            revision: 0,
            fingerprint: 0,
            availability: Arc::default(),
            disabled: BitSet::default(),
            web: Arc::default(),
            profiles: Arc::default(),
            sightings: Arc::default(),
            tools: Arc::default(),
            positions: Arc::default(),
            loader: None,
            not_registered: Arc::clone(&declared),
            declared,
            rejected: Arc::default(),
            states: Arc::default(),
        };
        empty.with_tools(tools)
    }

    /// This snapshot with other tools. What was decided about names, and what is known of tools that stay, is kept.
    fn with_tools(&self, tools: Vec<Arc<Tool>>) -> Result<Self, SnapshotError> {
        let mut tools = tools;
        tools.sort_by(|a, b| a.order().cmp(&b.order()));
        let mut positions = HashMap::with_capacity(tools.len());
        for (position, tool) in tools.iter().enumerate() {
            if let Some(ToolIndex(other)) = positions.insert(Arc::clone(tool.name()), ToolIndex(position)) {
                let place = |tool: &Tool| format!("{} ({})", tool.source(), tool.service());
                return Err(SnapshotError::DuplicateName {
                    name: Arc::clone(tool.name()),
                    sources: [place(&tools[other]), place(tool)],
                });
            }
        }
        let mut web = BitSet::with_capacity(tools.len());
        for (position, _) in tools.iter().enumerate().filter(|(_, tool)| tool.is_in_preset("web")) {
            web.insert(position);
        }
        let known = |tool: &Arc<Tool>| self.find(tool.name()).map(|index| self.availability(index).clone());
        let mut next = Self {
            fingerprint: fingerprint(&tools),
            availability: tools.iter().map(|tool| known(tool).unwrap_or_default()).collect(),
            web: Arc::new(web),
            loader: tools.iter().position(|tool| tool.is_loader()).map(ToolIndex),
            tools: tools.into(),
            positions: Arc::new(positions),
            ..self.clone()
        };
        next.place_disables();
        next.place_profiles();
        Ok(next)
    }

    /// The revision of the store that this snapshot shows.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Tells registries apart whose decisions have the same revision, such as those of two versions of the program.
    /// It holds for one build of the program.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// How many tools are registered.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether no tool is registered.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// All positions, in the order of lists.
    pub fn indexes(&self) -> impl Iterator<Item = ToolIndex> + use<> {
        (0..self.tools.len()).map(ToolIndex)
    }

    /// The position of the tool with exactly this name.
    pub fn find(&self, name: &str) -> Option<ToolIndex> {
        self.positions.get(name).copied()
    }

    /// The tool at a position of this snapshot.
    pub fn tool(&self, index: ToolIndex) -> &Arc<Tool> {
        &self.tools[index.0]
    }

    /// All names, in the order of lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name().as_ref())
    }

    /// Tools that were declared and did not enter the registry.
    pub fn not_registered(&self) -> &[NotRegistered] {
        &self.not_registered
    }

    /// The loader, if there is one.
    pub(crate) fn loader(&self) -> Option<ToolIndex> {
        self.loader
    }

    /// The catalog (shelf): every exposed tool but the loader, in the order of lists.
    pub fn catalog(&self) -> impl Iterator<Item = ToolIndex> {
        self.indexes().filter(|index| self.in_catalog(*index))
    }

    /// The names of the catalog, in the order of lists.
    pub fn catalog_names(&self) -> impl Iterator<Item = &str> {
        self.catalog().map(|index| self.tool(index).name().as_ref())
    }

    pub(crate) fn web_group(&self) -> &Arc<BitSet> {
        &self.web
    }

    /// Whether the tool is in the catalog.
    pub fn in_catalog(&self, index: ToolIndex) -> bool {
        self.is_shown(index) && Some(index) != self.loader
    }

    /// Whether people may look at the tool by itself and admins disable it: the catalog's tools and the loader.
    pub fn is_shown(&self, index: ToolIndex) -> bool {
        self.tool(index).is_exposed()
    }

    /// A tool as the API shows it.
    pub fn card(&self, index: ToolIndex, full: bool) -> ToolCard {
        let mut card = self.tool(index).card(full);
        card.available = self.availability(index).shown();
        self.with_state(card)
    }

    /// A tool that is not registered now, as the API shows it: what was decided about its name.
    pub fn missing_card(&self, name: &str) -> ToolCard {
        self.with_state(ToolCard::missing(name))
    }

    fn with_state(&self, mut card: ToolCard) -> ToolCard {
        card.revision = self.state_revision(&card.name);
        card.disabled = self.disable_of(&card.name).map(|disable| Disabled {
            by: disable.by.to_string(),
            reason: disable.reason.to_string(),
            at: disable.at.to_string(),
        });
        card
    }

    /// Every global disable by tool name, those of tools that are missing now included.
    pub fn disables(&self) -> impl Iterator<Item = (&str, &Disable)> {
        self.states.iter().filter_map(|(name, state)| Some((name.as_ref(), state.disable.as_ref()?)))
    }

    /// The global disable of a tool, registered or missing.
    pub fn disable_of(&self, name: &str) -> Option<&Disable> {
        self.states.get(name)?.disable.as_ref()
    }

    /// The revision of what was decided about a tool; 0 when nothing ever was.
    pub fn state_revision(&self, name: &str) -> u64 {
        self.states.get(name).map_or(0, |state| state.revision)
    }

    /// This snapshot with a tool's global disable set or lifted. The tool need not be registered.
    #[must_use]
    pub fn with_disable(&self, name: &str, state_revision: u64, disable: Option<Disable>) -> Self {
        let mut next = self.clone();
        Arc::make_mut(&mut next.states).insert(name.into(), State { revision: state_revision, disable });
        next.place_disables();
        next
    }

    fn place_disables(&mut self) {
        self.disabled = BitSet::with_capacity(self.tools.len());
        for (name, state) in self.states.iter() {
            if let (Some(_), Some(index)) = (&state.disable, self.positions.get(name)) {
                self.disabled.insert(index.0);
            }
        }
    }

    /// This snapshot with a tool's last check result. A tool that is not registered has none.
    #[must_use]
    pub fn with_availability(&self, name: &str, availability: Availability) -> Self {
        let mut next = self.clone();
        if let Some(index) = next.find(name) {
            let mut all = next.availability.to_vec();
            all[index.0] = availability;
            next.availability = all.into();
        }
        next
    }

    /// This snapshot at another revision of the store.
    #[must_use]
    pub fn at_revision(mut self, revision: u64) -> Self {
        self.revision = revision;
        self
    }

    pub(crate) fn is_disabled(&self, index: ToolIndex) -> bool {
        self.disabled.contains(index.0)
    }

    /// Whether a tool can run, as it was last seen.
    pub fn availability(&self, index: ToolIndex) -> &Availability {
        &self.availability[index.0]
    }
}

fn fingerprint(tools: &[Arc<Tool>]) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    for tool in tools {
        tool.fingerprint().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Disable, Snapshot};
    use crate::tool::tests::tool_of;

    fn disable() -> Disable {
        Disable { by: "ada".into(), reason: "broken".into(), at: "2026-12-01T00:00:00Z".into() }
    }

    #[test]
    fn two_tools_of_one_name_are_refused_and_both_named() {
        let error =
            Snapshot::new(vec![Arc::new(tool_of("files", "read")), Arc::new(tool_of("web", "read"))], vec![])
                .unwrap_err()
                .to_string();
        assert!(error.contains("builtin (files)") && error.contains("builtin (web)"), "{error}");
    }

    #[test]
    fn a_disable_outlives_its_tool_and_its_revision_outlives_the_disable() {
        let empty = Snapshot::new(vec![], vec![]).unwrap().with_disable("gone", 1, Some(disable()));
        assert_eq!(empty.disables().count(), 1);
        let lifted = empty.with_disable("gone", 2, None);
        assert_eq!(lifted.disables().count(), 0);
        assert_eq!(lifted.state_revision("gone"), 2);
    }

    #[test]
    fn a_change_leaves_the_snapshot_that_it_came_from() {
        let before = Snapshot::new(vec![Arc::new(tool_of("files", "read"))], vec![]).unwrap();
        let after = before.with_disable("read", 1, Some(disable()));
        let index = before.find("read").unwrap();
        assert!(!before.is_disabled(index) && after.is_disabled(index));
    }
}
