//! Turns verdicts into sentences and into the waterfall of layers.

use serde::{Deserialize, Serialize};

use crate::verdict::{By, ByKind, Code, Fix, FixAction, FixWho, Layer, Verdict};

/// What a layer did to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    /// Let it through.
    Passed,
    /// Removed it.
    Stopped,
    /// Would have removed it as well.
    AlsoStops,
    /// Never reached: an earlier layer removed it.
    NotReached,
}

/// One layer of a waterfall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The layer.
    pub layer: Layer,
    /// What it did.
    pub passage: Passage,
    /// What to say about it.
    pub text: String,
}

/// The name of a layer for people.
pub fn layer_title(layer: Layer) -> &'static str {
    match layer {
        Layer::L1 => "Registration",
        Layer::L2 => "Exposure",
        Layer::L2b => "Selection",
        Layer::L3 => "Channel",
        Layer::L4 => "Availability",
        Layer::L5 => "Veto",
        Layer::Retention => "Retention",
        Layer::L6 => "Deferral",
    }
}

/// A sentence that says what was decided, by whom and why.
pub fn sentence(verdict: &Verdict) -> String {
    cause_sentence(verdict.code, verdict.by.as_ref(), verdict.reason.as_deref())
}

/// The same for one cause of a verdict.
pub fn cause_sentence(code: Code, by: Option<&By>, reason: Option<&str>) -> String {
    let (by_kind, by) = (by.map(|by| by.kind), by.map_or("", |by| by.name.as_ref()));
    let reason = reason.filter(|reason| !reason.is_empty());
    let with_reason = |text: String| match reason {
        Some(reason) => format!("{text}: {reason}"),
        None => format!("{text}."),
    };
    match code {
        Code::Offered => "Every layer lets it through, so its schema is sent.".to_owned(),
        Code::NotRegistered => with_reason("It was declared but not registered".to_owned()),
        Code::NotExposed => "Its author keeps it internal, so no model may see it.".to_owned(),
        Code::HiddenByAdmin => format!("An admin keeps tools of {by} from models, this one among them."),
        Code::HiddenByMetadata => with_reason("Its metadata hides it from models".to_owned()),
        Code::ToolsetNone => "The toolset none offers nothing.".to_owned(),
        Code::NotInToolset if by_kind == Some(ByKind::Turn) => {
            "It is not in the list that the message names.".to_owned()
        }
        Code::NotInToolset => format!("It is not in the chosen toolset ({by})."),
        Code::MissingReference => "The chosen profile was deleted, so nothing is offered.".to_owned(),
        Code::ToolsOff => format!("Tools are switched off in {}.", place(by_kind)),
        Code::WebOff => format!("Web search is switched off in {}.", place(by_kind)),
        Code::RemovedByTurn => "The message leaves it out.".to_owned(),
        Code::OutsidePin if by_kind == Some(ByKind::Conversation) => {
            "It is not in the toolset that the key which made this conversation is pinned to.".to_owned()
        }
        Code::OutsidePin => format!("It is not in the toolset that the API key {by} is pinned to."),
        Code::UnsafeInChannel => format!("It is marked unsafe for the channel {by}."),
        Code::NoConversation => "It works only inside a conversation.".to_owned(),
        Code::CheckFailed => with_reason("It cannot run now".to_owned()),
        Code::MissingEnvironment => with_reason("The server's environment lacks what it needs".to_owned()),
        Code::UpstreamDown => with_reason(format!("The server {by} cannot be reached")),
        Code::HeldNew => format!("It is new at {by}, and an admin has to accept it first."),
        Code::HeldChanged => format!("Its definition at {by} changed, and an admin has to accept it first."),
        Code::HeldMoved => {
            format!(
                "The server {by} is reached in another way than before, and an admin has to accept its tools first."
            )
        }
        Code::Deferred => {
            "Its name is in the catalog, and its schema comes when the model asks tool_search for it."
                .to_owned()
        }
        Code::NothingDeferred => "No tool is deferred, so nothing has to be searched for.".to_owned(),
        Code::GloballyDisabled => with_reason(format!("{by} disabled it for everyone")),
        Code::DeniedByCaller => format!("The request denies {by}."),
        Code::NotInAllow => "The request allows only other tools.".to_owned(),
    }
}

fn place(by: Option<ByKind>) -> &'static str {
    if by == Some(ByKind::Turn) { "this message" } else { "this conversation" }
}

/// A sentence that says how to change the outcome and who can.
pub fn fix_sentence(fix: &Fix) -> String {
    let target = &fix.target;
    let action = match fix.action {
        FixAction::ChangeCode => format!("change the code of {target}"),
        FixAction::ChangeToolset => "choose a toolset that holds it".to_owned(),
        FixAction::SwitchToolsOn => "switch tools on".to_owned(),
        FixAction::SwitchWebOn => "switch web search on".to_owned(),
        FixAction::ChangeTurn => "change what the message says about tools".to_owned(),
        FixAction::ChangeConversation => "use another conversation".to_owned(),
        FixAction::ChangeKey => "use a key whose pin holds it".to_owned(),
        FixAction::ChangeChannel => format!("use another channel than {target}"),
        FixAction::UseConversation => "call it from a conversation".to_owned(),
        FixAction::MendCheck => "mend what its check complains about".to_owned(),
        FixAction::SetEnvironment => "set these variables and start the server again".to_owned(),
        FixAction::ReconnectServer => format!("get {target} to answer again"),
        FixAction::ChangeServer => format!("change what the entry of {target} says"),
        FixAction::AcceptChange => format!("look at the change and accept {target}"),
        FixAction::LoadTool => format!("load {target} with tool_search, or pin it in the profile"),
        FixAction::Enable => format!("enable {target} again"),
        FixAction::ChangeDeny => format!("take {target} out of deny"),
        FixAction::ChangeAllow => format!("add {target} to allow"),
    };
    match fix.who {
        FixWho::You => format!("You can {action}."),
        FixWho::Owner => format!("Its owner can {action}."),
        FixWho::Admin => format!("An admin can {action}."),
        FixWho::Author => format!("Its author can {action}."),
        FixWho::Nobody => "Nobody can change this.".to_owned(),
    }
}

/// The way of a tool through all layers.
pub fn waterfall(verdict: &Verdict) -> Vec<Step> {
    let mut stopped = false;
    Layer::ALL
        .into_iter()
        .map(|layer| {
            if verdict.layer == Some(layer) {
                stopped = true;
                return Step { layer, passage: Passage::Stopped, text: sentence(verdict) };
            }
            if let Some(cause) = verdict.also.iter().find(|cause| cause.layer == layer) {
                let text = cause_sentence(cause.code, Some(&cause.by), cause.reason.as_deref());
                return Step { layer, passage: Passage::AlsoStops, text };
            }
            let passage = if stopped { Passage::NotReached } else { Passage::Passed };
            let text = if stopped { "Not reached." } else { passed(layer) };
            Step { layer, passage, text: text.to_owned() }
        })
        .collect()
}

fn passed(layer: Layer) -> &'static str {
    match layer {
        Layer::L1 => "Registered.",
        Layer::L2 => "Exposed.",
        Layer::L2b => "In the chosen toolset.",
        Layer::L3 => "Safe in this channel.",
        Layer::L4 => "Can run now.",
        Layer::L5 => "Nothing vetoes it.",
        Layer::Retention => "No bundle holds it back.",
        Layer::L6 => "Its schema is sent.",
    }
}
