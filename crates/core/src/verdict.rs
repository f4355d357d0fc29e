//! Verdicts: what was decided about one tool, by which layer, by whom, and how to change it.
//!
//! A verdict holds codes and ids; its text is made when it is shown (see [`crate::explain`]).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A gate that a tool passes on its way into a request, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Layer {
    /// Registration: the tool exists here at all.
    L1,
    /// Exposure: on by default, off for an author's helpers.
    L2,
    /// Selection: the chosen toolset.
    #[serde(rename = "L2b")]
    L2b,
    /// Channel: where the request comes from.
    L3,
    /// Availability: the tool can run now.
    L4,
    /// Veto: disables, denies, ceilings.
    L5,
    /// Retention: what a bundle's tiers hold back.
    #[serde(rename = "retention")]
    Retention,
    /// Deferral: the name is in a catalog, the schema comes on demand.
    L6,
}

impl Layer {
    /// All layers in their order.
    pub const ALL: [Self; 8] =
        [Self::L1, Self::L2, Self::L2b, Self::L3, Self::L4, Self::L5, Self::Retention, Self::L6];
}

/// What a request gets of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Callable, and its schema ships with the request.
    Offered,
    /// Callable, and its schema comes when the model asks for it.
    Deferred,
    /// Not callable.
    Removed,
}

impl Outcome {
    /// Whether the tool may be called: offered or deferred.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Offered | Self::Deferred)
    }
}

/// Why a layer decided as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Every layer lets the tool through.
    Offered,
    /// L1: its registration condition is false or failed.
    NotRegistered,
    /// L2: its author keeps it internal.
    NotExposed,
    /// L2: an admin keeps the server's tools, or this one, from models.
    HiddenByAdmin,
    /// L2: its metadata hides it from models, or cannot be read.
    HiddenByMetadata,
    /// L2b: the chosen toolset is `none`.
    ToolsetNone,
    /// L2b: it is not in the chosen toolset.
    NotInToolset,
    /// L2b: the chosen toolset was deleted, so it holds nothing.
    MissingReference,
    /// L2b: the conversation or the message has tools switched off.
    ToolsOff,
    /// L2b: the conversation or the message takes the `web` group away.
    WebOff,
    /// L2b: the message takes the tool out.
    RemovedByTurn,
    /// L2b: it is not in the toolset that the API key, or the key that made the conversation, is pinned to.
    OutsidePin,
    /// L3: it is marked unsafe for this channel.
    UnsafeInChannel,
    /// L4: it works only inside a conversation, and the request has none.
    NoConversation,
    /// L4: its check failed; the reason is the check's.
    CheckFailed,
    /// L4: variables of the server's environment are missing; the reason names them.
    MissingEnvironment,
    /// L4: its upstream MCP server cannot be reached; the reason says why.
    UpstreamDown,
    /// L5: an admin disabled it for everyone.
    GloballyDisabled,
    /// L5: a pattern of the caller's `deny` names it.
    DeniedByCaller,
    /// L5: no pattern of the caller's `allow` names it.
    NotInAllow,
    /// L5: it was never seen before, and an admin has to accept it first.
    HeldNew,
    /// L5: its definition changed, and an admin has to accept it first.
    HeldChanged,
    /// L5: its server is reached in another way than before, and an admin has to accept it first.
    HeldMoved,
    /// L6: its name is in the catalog, and its schema comes on demand.
    Deferred,
    /// L6: the loader is not needed, because nothing is deferred.
    NothingDeferred,
}

impl Code {
    /// The code as it is written in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::NotRegistered => "not_registered",
            Self::NotExposed => "not_exposed",
            Self::HiddenByAdmin => "hidden_by_admin",
            Self::HiddenByMetadata => "hidden_by_metadata",
            Self::ToolsetNone => "toolset_none",
            Self::NotInToolset => "not_in_toolset",
            Self::MissingReference => "missing_reference",
            Self::ToolsOff => "tools_off",
            Self::WebOff => "web_off",
            Self::RemovedByTurn => "removed_by_turn",
            Self::OutsidePin => "outside_pin",
            Self::UnsafeInChannel => "unsafe_in_channel",
            Self::NoConversation => "no_conversation",
            Self::CheckFailed => "check_failed",
            Self::MissingEnvironment => "missing_environment",
            Self::UpstreamDown => "upstream_down",
            Self::GloballyDisabled => "globally_disabled",
            Self::DeniedByCaller => "denied_by_caller",
            Self::NotInAllow => "not_in_allow",
            Self::HeldNew => "held_new",
            Self::HeldChanged => "held_changed",
            Self::HeldMoved => "held_moved",
            Self::Deferred => "deferred",
            Self::NothingDeferred => "nothing_deferred",
        }
    }
}

/// The kind of thing that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ByKind {
    /// Who wrote the tool.
    Author,
    /// The chosen toolset.
    Toolset,
    /// The conversation's own settings.
    Conversation,
    /// What the message says about tools.
    Turn,
    /// The API key that made the request.
    Key,
    /// The channel that the request came over.
    Channel,
    /// The upstream MCP server that the tool comes from.
    Server,
    /// The state of this installation.
    System,
    /// An admin.
    Admin,
    /// Whoever made the request.
    Caller,
}

/// Who or what decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct By {
    /// The kind of thing that decided.
    pub kind: ByKind,
    /// Its name: a user name, toolset, channel or pattern.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Arc<str>,
}

/// What would change the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixAction {
    /// Change the tool's source code.
    ChangeCode,
    /// Choose another toolset, or add the tool to this one.
    ChangeToolset,
    /// Switch the conversation's or the message's tools on.
    SwitchToolsOn,
    /// Switch the `web` group on.
    SwitchWebOn,
    /// Change what the message says about tools.
    ChangeTurn,
    /// Use another conversation.
    ChangeConversation,
    /// Use a key with another pin.
    ChangeKey,
    /// Use another channel.
    ChangeChannel,
    /// Ask from within a conversation.
    UseConversation,
    /// Mend what the check complains about.
    MendCheck,
    /// Set the variables in the server's environment.
    SetEnvironment,
    /// Get the upstream MCP server to answer again.
    ReconnectServer,
    /// Change what the upstream MCP server's entry says.
    ChangeServer,
    /// Accept the tool's definition.
    AcceptChange,
    /// Load the tool with `tool_search`, or pin it in the profile.
    LoadTool,
    /// Lift the global disable.
    Enable,
    /// Change the `deny` of the request.
    ChangeDeny,
    /// Change the `allow` of the request.
    ChangeAllow,
}

/// Who can make the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixWho {
    /// Whoever made the request.
    You,
    /// The owner of the deciding thing.
    Owner,
    /// An admin of this installation.
    Admin,
    /// The tool's author.
    Author,
    /// Nobody; the decision is final.
    Nobody,
}

/// How to change an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fix {
    /// What to do.
    pub action: FixAction,
    /// What to do it to: a tool, toolset, channel or pattern.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub target: Arc<str>,
    /// Who can do it.
    pub who: FixWho,
}

/// One reason for which a layer removes a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cause {
    /// The layer that removes.
    pub layer: Layer,
    /// Why it does.
    pub code: Code,
    /// Who or what decided.
    pub by: By,
    /// A text that came with the decision, such as an admin's reason or a check's complaint. It is data.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub reason: Option<Arc<str>>,
    /// How to change it.
    pub fix: Fix,
}

/// What was decided about one tool.
///
/// The first layer that removes a tool owns the verdict; every other cause that would have removed it is in
/// `also`, so that following one fix never ends in a surprise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// The tool's name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tool: Arc<str>,
    /// What the request gets of it.
    pub outcome: Outcome,
    /// The layer that decided; none when every layer lets the tool through.
    pub layer: Option<Layer>,
    /// Why.
    pub code: Code,
    /// Who or what decided.
    pub by: Option<By>,
    /// A text that came with the decision. It is data.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub reason: Option<Arc<str>>,
    /// How to change it.
    pub fix: Option<Fix>,
    /// Further causes, in the order of the layers.
    #[serde(default)]
    pub also: Vec<Cause>,
}

impl Verdict {
    /// The verdict of a tool that every layer lets through.
    pub(crate) fn offered(tool: Arc<str>) -> Self {
        Self {
            tool,
            outcome: Outcome::Offered,
            layer: None,
            code: Code::Offered,
            by: None,
            reason: None,
            fix: None,
            also: Vec::new(),
        }
    }

    /// Says that the schema comes on demand. What is removed stays so.
    pub(crate) fn defer(&mut self, cause: Cause) {
        if self.outcome == Outcome::Offered {
            self.outcome = Outcome::Deferred;
            self.own(cause);
        }
    }

    /// Adds a cause; the first one owns the verdict.
    pub(crate) fn remove(&mut self, cause: Cause) {
        if self.outcome == Outcome::Removed {
            self.also.push(cause);
            return;
        }
        self.outcome = Outcome::Removed;
        self.own(cause);
    }

    fn own(&mut self, cause: Cause) {
        self.layer = Some(cause.layer);
        self.code = cause.code;
        self.by = Some(cause.by);
        self.reason = cause.reason;
        self.fix = Some(cause.fix);
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Layer};

    #[test]
    fn codes_and_layers_are_spelled_as_in_the_api() {
        for code in [
            Code::Offered,
            Code::NotRegistered,
            Code::NotExposed,
            Code::ToolsetNone,
            Code::NotInToolset,
            Code::MissingReference,
            Code::ToolsOff,
            Code::WebOff,
            Code::RemovedByTurn,
            Code::OutsidePin,
            Code::UnsafeInChannel,
            Code::NoConversation,
            Code::CheckFailed,
            Code::GloballyDisabled,
            Code::DeniedByCaller,
            Code::NotInAllow,
            Code::HiddenByAdmin,
            Code::HiddenByMetadata,
            Code::MissingEnvironment,
            Code::UpstreamDown,
            Code::HeldNew,
            Code::HeldChanged,
            Code::HeldMoved,
            Code::Deferred,
            Code::NothingDeferred,
        ] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        let layers: Vec<String> = Layer::ALL
            .iter()
            .map(|layer| serde_json::to_value(layer).unwrap().as_str().unwrap().to_owned())
            .collect();
        assert_eq!(layers, ["L1", "L2", "L2b", "L3", "L4", "L5", "retention", "L6"]);
    }
}
