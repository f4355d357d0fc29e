//! A request: who asks, in which scope.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::compiled::LOADED_MAX;
use crate::names::closest;
use crate::pattern::Pattern;
use crate::snapshot::{Found, Snapshot};
use crate::turn::TurnOverride;

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

/// The conversation that a request belongs to, and what was chosen in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: Arc<str>,
    /// The toolset that a person picked.
    pub pick: Option<Toolset>,
    /// What it started with, for as long as nobody picks.
    pub fallback: Option<Toolset>,
    /// The pin of the API key that made it, which it keeps.
    pub pin: Option<Toolset>,
    /// Whether it has tools at all.
    pub tools_enabled: bool,
    /// Whether the `web` group is added or taken away; absent means as the toolset says.
    pub web_search: Option<bool>,
    /// The deferred tools that it loaded, by first appearance.
    pub loaded: Vec<Loaded>,
}

/// A deferred tool that a conversation loaded. It stays loaded until the tool's definition changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The tool's name on the wire.
    pub tool: Arc<str>,
    /// The definition that was loaded, as [`crate::Tool::definition`] gives it.
    pub definition: Arc<str>,
}

/// What a conversation has loaded after it loaded more: by first appearance, where a tool that changed since it was loaded
/// appears anew. The oldest are let go when there are too many.
pub fn merge_loaded(before: &[Loaded], more: impl IntoIterator<Item = Loaded>) -> Vec<Loaded> {
    let mut merged = before.to_vec();
    for loaded in more {
        if merged.contains(&loaded) {
            continue;
        }
        merged.retain(|known| known.tool != loaded.tool);
        merged.push(loaded);
    }
    let surplus = merged.len().saturating_sub(LOADED_MAX);
    merged.split_off(surplus)
}

impl Conversation {
    /// A conversation in which nobody chose anything.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            pick: None,
            fallback: None,
            pin: None,
            tools_enabled: true,
            web_search: None,
            loaded: Vec::new(),
        }
    }
}

/// How much a model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// The most tools in one request.
    pub max_tools: Option<u32>,
    /// The most tokens in one request.
    pub context_window: Option<u32>,
    /// Whether every schema ships because the model does not do with a catalog (L6).
    pub no_deferral: bool,
}

/// The part of a request that says where and what for, as opposed to who.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What the message says about tools.
    pub turn: TurnOverride,
    /// The toolset that the request names; absent means the conversation's, else `default`.
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
    /// The limits of the model that the tools are meant for.
    pub limits: ModelLimits,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            turn: TurnOverride::default(),
            toolset: None,
            conversation: None,
            source: Vec::new(),
            can_ask: false,
            approvals: Approvals::None,
            allow: None,
            deny: Vec::new(),
            only_available: true,
            limits: ModelLimits::default(),
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

    /// The same request after its conversation loaded what is given, in place of what it had loaded. Without a
    /// conversation nothing is loaded.
    #[must_use]
    pub fn with_loaded(mut self, loaded: Vec<Loaded>) -> Self {
        if let Some(conversation) = &mut self.scope.conversation {
            conversation.loaded = loaded;
        }
        self
    }
}
