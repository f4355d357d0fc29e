//! A request: who asks, in which scope; and its translation to one snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bitset::BitSet;
use crate::names::closest;
use crate::pattern::Pattern;
use crate::snapshot::{Found, Snapshot, ToolIndex};

/// A user's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May administer this installation.
    Admin,
    /// May use it.
    User,
}

/// Who somebody was shown to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user's id.
    pub user_id: Arc<str>,
    /// The user's name.
    pub username: Arc<str>,
    /// The user's role now.
    pub role: Role,
    /// The API key that speaks for the user, if one does.
    pub key: Option<KeyIdentity>,
}

/// The API key that speaks for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyIdentity {
    /// The key's id.
    pub id: Arc<str>,
    /// The key's name.
    pub name: Arc<str>,
    /// The toolset that every selection under this key is cut to.
    pub pinned: Option<Toolset>,
}

/// An authenticated user, alone or through an API key.
#[derive(Clone, Debug)]
pub struct Caller {
    identity: Identity,
}

impl Caller {
    /// Makes a caller of an identity that was just proven. Only the authenticator, or a run for its child, may say
    /// so; the lint `disallowed_methods` refuses every other use.
    pub fn authenticated(identity: Identity) -> Self {
        Self { identity }
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }
}

/// A set of tools by name: what L2b selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// Every exposed tool, computed now.
    Default,
    /// Nothing.
    None,
    /// A profile by its id, so that a rename changes nothing.
    Profile(Arc<str>),
    /// Exactly these tools.
    List(Vec<String>),
}

impl Toolset {
    /// The reserved names, with the aliases of `default`.
    pub const RESERVED: [&'static str; 4] = ["default", "all", "full", "none"];

    /// Reads the name of a toolset: reserved, or a profile's in any letter case, also one that the profile had before.
    /// An unknown name is an error and never falls back.
    pub fn named(snapshot: &Snapshot, name: &str) -> Result<Self, RequestError> {
        match name {
            "default" | "all" | "full" => return Ok(Self::Default),
            "none" => return Ok(Self::None),
            _ => {}
        }
        match snapshot.find_profile(name) {
            Found::Profile(profile) => Ok(Self::Profile(Arc::clone(&profile.id))),
            Found::Retired => Err(RequestError::RetiredToolset { name: name.to_owned() }),
            Found::Nothing => {
                let profiles = snapshot.profiles().map(|profile| profile.name.as_ref());
                let suggestions = closest(name, Self::RESERVED.into_iter().chain(profiles));
                Err(RequestError::UnknownToolset { name: name.to_owned(), suggestions })
            }
        }
    }

    /// How the toolset is called in verdicts.
    pub(crate) fn label<'a>(&'a self, snapshot: &'a Snapshot) -> &'a str {
        match self {
            Self::Default => "default",
            Self::None => "none",
            Self::Profile(id) => snapshot.profile(id).map_or("a deleted profile", |profile| &profile.name),
            Self::List(_) => "list",
        }
    }
}

/// How a call that needs consent gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approvals {
    /// A person reads along and answers in place.
    Inline,
    /// The question waits in its owner's queue.
    Queue,
    /// Nobody can answer.
    None,
}

/// The conversation that a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: Arc<str>,
}

/// The part of a request that says where and what for, as opposed to who.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The chosen toolset; absent means `default`.
    pub toolset: Option<Toolset>,
    /// The conversation, if the request belongs to one.
    pub conversation: Option<Conversation>,
    /// The channels that the request came over, such as `web`. The server adds its own; a caller may add, and
    /// never remove.
    pub source: Vec<String>,
    /// Whether a person reads along.
    pub can_ask: bool,
    /// How a call that needs consent gets it.
    pub approvals: Approvals,
    /// Patterns of which a tool must match one; absent means no such limit, and an empty list allows nothing.
    pub allow: Option<Vec<Pattern>>,
    /// Patterns of tools that this request must not see.
    pub deny: Vec<Pattern>,
    /// Whether tools that cannot run now are removed. Only previews may switch it off; a call never does.
    pub only_available: bool,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            toolset: None,
            conversation: None,
            source: Vec::new(),
            can_ask: false,
            approvals: Approvals::None,
            allow: None,
            deny: Vec::new(),
            only_available: true,
        }
    }
}

/// Who asks, in which scope. Every list, search, description and call is made for a request.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) caller: Caller,
    pub(crate) scope: Scope,
}

/// Says why a request cannot be answered. Nothing was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No toolset has this name.
    UnknownToolset {
        /// The name as given.
        name: String,
        /// Close names that exist.
        suggestions: Vec<String>,
    },
    /// A profile had this name and was deleted.
    RetiredToolset {
        /// The name as given.
        name: String,
    },
    /// A list names a tool that is not registered.
    UnknownTool {
        /// The position in the list.
        position: usize,
        /// The name as given.
        name: String,
        /// Close names that exist.
        suggestions: Vec<String>,
    },
}

impl std::fmt::Display for RequestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownToolset { name, .. } => write!(f, "There is no toolset named {name:?}."),
            Self::RetiredToolset { name } => write!(f, "The profile {name:?} was deleted."),
            Self::UnknownTool { name, .. } => write!(f, "There is no tool named {name:?}."),
        }
    }
}

impl std::error::Error for RequestError {}

impl Request {
    /// Makes a request.
    pub fn new(caller: Caller, scope: Scope) -> Self {
        Self { caller, scope }
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The conversation that the request belongs to.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.scope.conversation.as_ref()
    }
}

/// A toolset as positions of one snapshot.
#[derive(Debug)]
pub(crate) enum Selection {
    All,
    Nothing,
    Only(Arc<BitSet>),
    /// What the toolset refers to is gone. It selects nothing.
    Missing,
}

impl Selection {
    fn new(snapshot: &Snapshot, toolset: &Toolset) -> Result<Self, RequestError> {
        let names = match toolset {
            Toolset::Default => return Ok(Self::All),
            Toolset::None => return Ok(Self::Nothing),
            Toolset::Profile(id) => {
                return Ok(snapshot
                    .selection_of(id)
                    .map_or(Self::Missing, |selection| Self::Only(Arc::clone(selection))));
            }
            Toolset::List(names) => names,
        };
        let mut set = BitSet::with_capacity(snapshot.len());
        for (position, name) in names.iter().enumerate() {
            let ToolIndex(index) = snapshot.find(name).ok_or_else(|| RequestError::UnknownTool {
                position,
                name: name.clone(),
                // An internal helper's name is no business of whoever guesses names.
                suggestions: closest(
                    name,
                    snapshot.catalog().map(|index| snapshot.tool(index).name().as_ref()),
                ),
            })?;
            set.insert(index);
        }
        Ok(Self::Only(Arc::new(set)))
    }

    pub(crate) fn contains(&self, index: ToolIndex) -> bool {
        match self {
            Self::All => true,
            Self::Nothing | Self::Missing => false,
            Self::Only(set) => set.contains(index.0),
        }
    }
}

/// A request translated to one snapshot: selections as bit sets, so that deciding a tool is a few look-ups.
#[derive(Debug)]
pub struct Compiled<'a> {
    pub(crate) request: &'a Request,
    pub(crate) toolset: &'a Toolset,
    pub(crate) selection: Selection,
    pub(crate) pin: Option<Selection>,
    pub(crate) only_available: bool,
}

impl<'a> Compiled<'a> {
    /// Translates a request. It is valid for this snapshot only.
    pub fn new(snapshot: &Snapshot, request: &'a Request) -> Result<Self, RequestError> {
        let toolset = request.scope.toolset.as_ref().unwrap_or(&Toolset::Default);
        let pinned = request.caller.identity.key.as_ref().and_then(|key| key.pinned.as_ref());
        Ok(Self {
            request,
            toolset,
            selection: Selection::new(snapshot, toolset)?,
            pin: pinned.map(|toolset| Selection::new(snapshot, toolset)).transpose()?,
            only_available: request.scope.only_available,
        })
    }

    /// The same for a call that is about to run: what cannot run now is always removed.
    pub(crate) fn for_call(self) -> Self {
        Self { only_available: true, ..self }
    }
}
