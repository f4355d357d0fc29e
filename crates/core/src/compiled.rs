//! A request translated to one snapshot.

use std::sync::Arc;

use crate::bitset::BitSet;
use crate::evaluate::evaluate;
use crate::names::closest;
use crate::request::{Request, RequestError, Toolset};
use crate::snapshot::{Snapshot, ToolIndex};
use crate::verdict::{By, ByKind, Cause, Code, Fix, FixAction, FixWho, Layer, Outcome};

/// A toolset as positions of one snapshot.
#[derive(Debug)]
enum Selection {
    All,
    Nothing,
    Only(Arc<BitSet>),
    /// What the toolset refers to is gone. It selects nothing.
    Missing,
}

impl Selection {
    fn new(snapshot: &Snapshot, toolset: &Toolset) -> Result<Self, RequestError> {
        match toolset {
            Toolset::Default => Ok(Self::All),
            Toolset::None => Ok(Self::Nothing),
            Toolset::Profile(id) => Ok(snapshot
                .selection_of(id)
                .map_or(Self::Missing, |selection| Self::Only(Arc::clone(selection)))),
            Toolset::List(names) => Ok(Self::Only(Arc::new(positions(snapshot, names)?))),
        }
    }

    fn contains(&self, index: ToolIndex) -> bool {
        match self {
            Self::All => true,
            Self::Nothing | Self::Missing => false,
            Self::Only(set) => set.contains(index.0),
        }
    }
}

/// The positions of tools by name. An unknown name is an error.
fn positions(snapshot: &Snapshot, names: &[String]) -> Result<BitSet, RequestError> {
    let mut set = BitSet::with_capacity(snapshot.len());
    for (position, name) in names.iter().enumerate() {
        let ToolIndex(index) = snapshot.find(name).ok_or_else(|| RequestError::UnknownTool {
            position,
            name: name.clone(),
            // An internal helper's name is no business of whoever guesses names.
            suggestions: closest(name, snapshot.catalog_names()),
        })?;
        set.insert(index);
    }
    Ok(set)
}

/// A gate of L2b: what passes it, and the cause for what does not. The cause is made once for a whole request, so that
/// removing a tool copies no text.
#[derive(Debug)]
struct Gate {
    passes: Passes,
    cause: Cause,
}

#[derive(Debug)]
enum Passes {
    /// Tools of any of these.
    AnyOf(Selection, Vec<Arc<BitSet>>),
    /// Tools of none of these, unless they are in the second.
    NoneOf(Arc<BitSet>, BitSet),
}

impl Gate {
    fn passes(&self, index: ToolIndex, loader: bool) -> bool {
        match &self.passes {
            // The loader is in no toolset. It comes with every one that can hold something.
            Passes::AnyOf(selection, _) if loader => {
                !matches!(selection, Selection::Nothing | Selection::Missing)
            }
            Passes::AnyOf(selection, more) => {
                selection.contains(index) || more.iter().any(|set| set.contains(index.0))
            }
            Passes::NoneOf(set, exempt) => !set.contains(index.0) || exempt.contains(index.0),
        }
    }
}

/// A request translated to one snapshot: selections as bit sets, so that deciding a tool is a few look-ups.
#[derive(Debug)]
pub struct Compiled<'a> {
    pub(crate) request: &'a Request,
    /// The gates of L2b in their order: the switch of all tools, the toolset, the web switch, what the message removes,
    /// pins.
    gates: Vec<Gate>,
    pub(crate) only_available: bool,
    /// Whether the loader can bring schemas, so that they may come on demand.
    loader: bool,
    /// Tools whose schema ships whatever their source says: pinned, named exactly, loaded.
    resident: BitSet,
    /// What became visible later than the selection, by first appearance.
    late: Vec<ToolIndex>,
}

impl<'a> Compiled<'a> {
    /// Translates a request. It is valid for this snapshot only.
    pub fn new(snapshot: &Snapshot, request: &'a Request) -> Result<Self, RequestError> {
        let gates = gates(snapshot, request)?;
        let only_available = request.scope.only_available;
        let nothing = BitSet::default();
        let mut compiled =
            Self { request, gates, only_available, loader: false, resident: nothing, late: Vec::new() };
        compiled.loader = !request.scope.limits.no_deferral
            && snapshot
                .loader()
                .is_some_and(|loader| evaluate(snapshot, &compiled, loader).outcome == Outcome::Offered);
        (compiled.resident, compiled.late) = resident(snapshot, request, compiled.loader)?;
        Ok(compiled)
    }

    /// The same for a call that is about to run: what cannot run now is always removed.
    pub(crate) fn for_call(self) -> Self {
        Self { only_available: true, ..self }
    }

    /// The causes of L2b that remove a tool.
    pub(crate) fn not_selected(&self, index: ToolIndex, loader: bool) -> impl Iterator<Item = &Cause> {
        self.gates.iter().filter(move |gate| !gate.passes(index, loader)).map(|gate| &gate.cause)
    }

    /// Whether a tool that may be deferred is.
    pub(crate) fn defers(&self, index: ToolIndex) -> bool {
        self.loader && !self.resident.contains(index.0)
    }

    /// The place of a tool among those that became visible later; none for what the selection itself shows.
    pub(crate) fn late(&self, index: ToolIndex) -> Option<usize> {
        self.late.iter().position(|late| *late == index)
    }
}

/// The most deferred tools that a conversation keeps loaded. Loading more lets go of the oldest.
pub(crate) const LOADED_MAX: usize = 64;

/// The tools whose schema ships whatever their source says, and those of them that became visible later than the selection.
///
/// What comes later stands at the end, by first appearance, so that a model's cache of the list before it stays good.
/// Without the loader every schema ships from the start, so nothing was ever loaded.
fn resident(
    snapshot: &Snapshot,
    request: &Request,
    loader: bool,
) -> Result<(BitSet, Vec<ToolIndex>), RequestError> {
    let toolset = chosen(request);
    let mut resident = match toolset {
        Toolset::Profile(id) => snapshot.pinned_in(id).map(|pinned| BitSet::clone(pinned)),
        Toolset::List(names) => Some(positions(snapshot, names)?),
        Toolset::Default | Toolset::None => None,
    }
    .unwrap_or_else(|| BitSet::with_capacity(snapshot.len()));
    let selection = Selection::new(snapshot, toolset)?;
    let mut late = Vec::new();
    let conversation = request.conversation().filter(|_| loader);
    let all_loaded = conversation.map_or(&[][..], |conversation| &conversation.loaded);
    let kept = &all_loaded[all_loaded.len().saturating_sub(LOADED_MAX)..];
    let of_conversation = kept.iter().filter_map(|kept| {
        let index = snapshot.find(&kept.tool)?;
        let tool = snapshot.tool(index);
        (tool.defer && tool.definition() == kept.definition.as_ref()).then_some(index)
    });
    let added = request.scope.turn.add.iter().filter_map(|name| snapshot.find(name));
    let added = added.filter(|index| loader && snapshot.tool(*index).defer || !selection.contains(*index));
    for index in of_conversation.chain(added) {
        if !resident.contains(index.0) {
            resident.insert(index.0);
            late.push(index);
        }
    }
    Ok((resident, late))
}

/// The toolset that is in force: that of the message, of the request, of the person who picked for the conversation, what
/// the conversation started with, `default`.
fn chosen(request: &Request) -> &Toolset {
    let (scope, conversation) = (&request.scope, request.scope.conversation.as_ref());
    scope
        .turn
        .toolset()
        .or(scope.toolset.as_ref())
        .or_else(|| conversation.and_then(|conversation| conversation.pick.as_ref()))
        .or_else(|| conversation.and_then(|conversation| conversation.fallback.as_ref()))
        .unwrap_or(&Toolset::Default)
}

/// The toolset in force with the switches of conversation and message. A pin cuts whatever was chosen.
fn gates(snapshot: &Snapshot, request: &Request) -> Result<Vec<Gate>, RequestError> {
    let scope = &request.scope;
    let (turn, conversation) = (&scope.turn, scope.conversation.as_ref());
    let toolset = chosen(request);
    // The web switch is about toolsets; a list says exactly what it wants.
    let exact = matches!(toolset, Toolset::List(_));
    let web = turn.web_search.or_else(|| conversation.and_then(|conversation| conversation.web_search));
    let web = if exact { None } else { web };
    let web_by = if turn.web_search.is_some() { ByKind::Turn } else { ByKind::Conversation };
    let mut gates = Vec::new();

    let tools =
        turn.tools().unwrap_or_else(|| conversation.is_none_or(|conversation| conversation.tools_enabled));
    if !tools {
        let by = if turn.tools().is_some() { ByKind::Turn } else { ByKind::Conversation };
        let web_group = (web == Some(true)).then(|| Arc::clone(snapshot.web_group()));
        gates.push(Gate {
            passes: Passes::AnyOf(Selection::Nothing, web_group.into_iter().collect()),
            cause: cause(Code::ToolsOff, by, "tools", FixAction::SwitchToolsOn, "tools", FixWho::You),
        });
    }

    let selection = Selection::new(snapshot, toolset)?;
    let code = match (toolset, &selection) {
        (Toolset::None, _) => Code::ToolsetNone,
        (_, Selection::Missing) => Code::MissingReference,
        _ => Code::NotInToolset,
    };
    let added = positions(snapshot, &turn.add)?;
    let mut more = Vec::new();
    if web == Some(true) {
        more.push(Arc::clone(snapshot.web_group()));
    }
    if !turn.add.is_empty() {
        more.push(Arc::new(added.clone()));
    }
    let label = toolset.label(snapshot);
    let (by, fix) = if turn.is_list() {
        (ByKind::Turn, FixAction::ChangeTurn)
    } else {
        (ByKind::Toolset, FixAction::ChangeToolset)
    };
    gates.push(Gate {
        passes: Passes::AnyOf(selection, more),
        cause: cause(code, by, label, fix, label, FixWho::You),
    });

    if web == Some(false) {
        gates.push(Gate {
            passes: Passes::NoneOf(Arc::clone(snapshot.web_group()), added),
            cause: cause(Code::WebOff, web_by, "web_search", FixAction::SwitchWebOn, "web", FixWho::You),
        });
    }
    if !turn.remove.is_empty() {
        gates.push(Gate {
            passes: Passes::NoneOf(Arc::new(positions(snapshot, &turn.remove)?), BitSet::default()),
            cause: cause(
                Code::RemovedByTurn,
                ByKind::Turn,
                "remove",
                FixAction::ChangeTurn,
                "remove",
                FixWho::You,
            ),
        });
    }
    if let Some((pin, key)) =
        request.caller.identity().key.as_ref().and_then(|key| Some((key.pinned.as_ref()?, key)))
    {
        gates.push(pinned(snapshot, pin, ByKind::Key, &key.name, FixAction::ChangeKey, FixWho::Owner)?);
    }
    if let Some(pin) = conversation.and_then(|conversation| conversation.pin.as_ref()) {
        let (by, name) = (ByKind::Conversation, "pin");
        gates.push(pinned(snapshot, pin, by, name, FixAction::ChangeConversation, FixWho::You)?);
    }
    Ok(gates)
}

fn pinned(
    snapshot: &Snapshot,
    pin: &Toolset,
    by: ByKind,
    name: &str,
    fix: FixAction,
    who: FixWho,
) -> Result<Gate, RequestError> {
    let selection = Selection::new(snapshot, pin)?;
    let missing = matches!(selection, Selection::Missing);
    let code = if missing { Code::MissingReference } else { Code::OutsidePin };
    let cause = cause(code, by, name, fix, pin.label(snapshot), who);
    Ok(Gate { passes: Passes::AnyOf(selection, Vec::new()), cause })
}

fn cause(code: Code, by: ByKind, name: &str, action: FixAction, target: &str, who: FixWho) -> Cause {
    Cause {
        layer: Layer::L2b,
        code,
        by: By { kind: by, name: name.into() },
        reason: None,
        fix: Fix { action, target: target.into(), who },
    }
}
