//! Decides one tool for one request.

use std::sync::Arc;

use crate::availability::Unavailable;
use crate::card::HeldKind;
use crate::compiled::Compiled;
use crate::pattern::Pattern;
use crate::snapshot::{Snapshot, ToolIndex};
use crate::tool::{Exposure, LOADER, Tool};
use crate::verdict::{By, ByKind, Cause, Code, Fix, FixAction, FixWho, Layer, Verdict};

/// Decides one tool; reads no other tool.
///
/// The gates stand in the order of [`Layer`]. Each is one function that adds its causes; the first cause owns the
/// verdict and all later ones are kept in `also`. To add a gate, add a function here and a code in
/// [`crate::Code`].
pub fn evaluate(snapshot: &Snapshot, compiled: &Compiled<'_>, index: ToolIndex) -> Verdict {
    let tool = snapshot.tool(index);
    let mut verdict = Verdict::offered(Arc::clone(tool.name()));
    exposure(tool, &mut verdict);
    selection(compiled, index, tool, &mut verdict);
    channel(compiled, tool, &mut verdict);
    availability(snapshot, compiled, index, tool, &mut verdict);
    veto(snapshot, compiled, index, tool, &mut verdict);
    deferral(compiled, index, tool, &mut verdict);
    verdict
}

/// L2: an author's helper is never shown to a model, nor is what an admin or the server's metadata keeps from models.
fn exposure(tool: &Tool, verdict: &mut Verdict) {
    let source = tool.source().to_string();
    let server: Arc<str> = tool.source().server().unwrap_or_default().into();
    let (code, by, reason, fix) = match &tool.exposure {
        Exposure::Exposed => return,
        Exposure::Internal => (
            Code::NotExposed,
            by(ByKind::Author, &source),
            None,
            fix(FixAction::ChangeCode, tool.name(), FixWho::Author),
        ),
        Exposure::HiddenByAdmin => (
            Code::HiddenByAdmin,
            by(ByKind::Server, &server),
            None,
            fix(FixAction::ChangeServer, &server, FixWho::Admin),
        ),
        Exposure::HiddenByMetadata(reason) => (
            Code::HiddenByMetadata,
            by(ByKind::Author, &source),
            Some(reason.as_str().into()),
            fix(FixAction::ChangeCode, tool.name(), FixWho::Author),
        ),
    };
    verdict.remove(Cause { layer: Layer::L2, code, by, reason, fix });
}

/// L2b: the chosen toolset with what the message says, cut to pins.
fn selection(compiled: &Compiled<'_>, index: ToolIndex, tool: &Tool, verdict: &mut Verdict) {
    for cause in compiled.not_selected(index, tool.is_loader()) {
        verdict.remove(cause.clone());
    }
}

/// L3: channels in which the tool is unsafe.
fn channel(compiled: &Compiled<'_>, tool: &Tool, verdict: &mut Verdict) {
    let source = &compiled.request.scope.source;
    for channel in tool.unsafe_in.iter().filter(|channel| source.contains(channel)) {
        verdict.remove(Cause {
            layer: Layer::L3,
            code: Code::UnsafeInChannel,
            by: by(ByKind::Channel, channel),
            reason: None,
            fix: fix(FixAction::ChangeChannel, &channel.as_str().into(), FixWho::You),
        });
    }
}

/// L4: what cannot run now. A tool's own check can be skipped in previews; a missing conversation cannot.
fn availability(
    snapshot: &Snapshot,
    compiled: &Compiled<'_>,
    index: ToolIndex,
    tool: &Tool,
    verdict: &mut Verdict,
) {
    if tool.needs_conversation && compiled.request.conversation().is_none() {
        verdict.remove(Cause {
            layer: Layer::L4,
            code: Code::NoConversation,
            by: by(ByKind::System, "conversation"),
            reason: None,
            fix: fix(FixAction::UseConversation, tool.name(), FixWho::You),
        });
    }
    if !compiled.only_available {
        return;
    }
    for unavailable in snapshot.availability(index).reasons() {
        let server: Arc<str> = tool.source().server().unwrap_or_default().into();
        let (code, by, reason, fix) = match unavailable {
            Unavailable::Check(reason) => (
                Code::CheckFailed,
                by(ByKind::System, "check"),
                reason,
                fix(FixAction::MendCheck, tool.name(), FixWho::Admin),
            ),
            Unavailable::Environment(names) => (
                Code::MissingEnvironment,
                by(ByKind::System, "environment"),
                names,
                fix(FixAction::SetEnvironment, names, FixWho::Admin),
            ),
            Unavailable::Upstream(reason) => (
                Code::UpstreamDown,
                by(ByKind::Server, &server),
                reason,
                fix(FixAction::ReconnectServer, &server, FixWho::Admin),
            ),
        };
        verdict.remove(Cause { layer: Layer::L4, code, by, reason: Some(Arc::clone(reason)), fix });
    }
}

/// L5: the global disable, and the caller's own limits. Nothing passes a veto.
fn veto(snapshot: &Snapshot, compiled: &Compiled<'_>, index: ToolIndex, tool: &Tool, verdict: &mut Verdict) {
    if snapshot.is_disabled(index)
        && let Some(disable) = snapshot.disable_of(tool.name())
    {
        verdict.remove(Cause {
            layer: Layer::L5,
            code: Code::GloballyDisabled,
            by: By { kind: ByKind::Admin, name: Arc::clone(&disable.by) },
            reason: Some(Arc::clone(&disable.reason)),
            fix: fix(FixAction::Enable, tool.name(), FixWho::Admin),
        });
    }
    let scope = &compiled.request.scope;
    // The loader stands outside of what patterns select; only its own name means it.
    let loader = tool.is_loader();
    let denies = |pattern: &&Pattern| if loader { pattern.as_str() == LOADER } else { pattern.matches(tool) };
    if let Some(pattern) = scope.deny.iter().find(denies) {
        verdict.remove(Cause {
            layer: Layer::L5,
            code: Code::DeniedByCaller,
            by: by(ByKind::Caller, pattern.as_str()),
            reason: None,
            fix: fix(FixAction::ChangeDeny, &pattern.as_str().into(), FixWho::You),
        });
    }
    if !loader && scope.allow.as_ref().is_some_and(|allow| !allow.iter().any(|pattern| pattern.matches(tool)))
    {
        verdict.remove(Cause {
            layer: Layer::L5,
            code: Code::NotInAllow,
            by: by(ByKind::Caller, "allow"),
            reason: None,
            fix: fix(FixAction::ChangeAllow, tool.name(), FixWho::You),
        });
    }
    if let Some(held) = &tool.held {
        let code = match held.kind {
            HeldKind::New => Code::HeldNew,
            HeldKind::Changed => Code::HeldChanged,
            HeldKind::Moved => Code::HeldMoved,
        };
        verdict.remove(Cause {
            layer: Layer::L5,
            code,
            by: by(ByKind::Server, tool.source().server().unwrap_or_default()),
            reason: None,
            fix: fix(FixAction::AcceptChange, tool.name(), FixWho::Admin),
        });
    }
}

/// L6: the name is in the catalog and the schema comes on demand, while the loader can bring it.
fn deferral(compiled: &Compiled<'_>, index: ToolIndex, tool: &Tool, verdict: &mut Verdict) {
    if tool.defer && compiled.defers(index) {
        verdict.defer(Cause {
            layer: Layer::L6,
            code: Code::Deferred,
            by: match tool.source().server() {
                Some(server) => by(ByKind::Server, server),
                None => by(ByKind::Author, &tool.source().to_string()),
            },
            reason: None,
            fix: fix(FixAction::LoadTool, tool.name(), FixWho::You),
        });
    }
}

fn by(kind: ByKind, name: &str) -> By {
    By { kind, name: name.into() }
}

fn fix(action: FixAction, target: &Arc<str>, who: FixWho) -> Fix {
    Fix { action, target: Arc::clone(target), who }
}
