//! What is special about a tool, in a few words.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::{HeldKind, Tool};
use toolshelf_frontend::model::route::Route;

use super::{Go, Icon};
use crate::state::use_app;

/// The badges of a tool. The reasons are cut; the drawer has them whole.
#[component]
pub(crate) fn Badges(tool: Arc<Tool>) -> AnyView {
    let app = use_app();
    let disabled = tool.disabled.as_ref().map(|disabled| {
        let title = format!("{} disabled it: {}", disabled.by, disabled.reason);
        view! { <span class="badge bad" title=title><Icon name="stop" /><span>"disabled by an admin"</span></span> }
    });
    let held = tool.held.as_ref().map(|held| {
        let text = match held.kind {
            HeldKind::New => "new: waits for an admin",
            HeldKind::Changed => "changed: waits for an admin",
            HeldKind::Moved => "server moved: waits for an admin",
        };
        let badge = view! { <span class="badge warn" title="Every request refuses it until an admin accepts it."><Icon name="lock" /><span>{text}</span></span> };
        match tool.source.strip_prefix("mcp:").filter(|_| app.is_admin()) {
            Some(server) => {
                let route = Route::Upstreams { name: Some(server.to_owned()) };
                view! { <Go route class="badge-link">{badge}</Go> }.into_any()
            }
            None => badge.into_any(),
        }
    });
    let unavailable = (!tool.available.ok).then(|| {
        let reason = tool.available.reason.clone().unwrap_or_default();
        let text =
            if reason.is_empty() { "unavailable".to_owned() } else { format!("unavailable: {reason}") };
        view! { <span class="badge warn long" title=reason><Icon name="alert" /><span>{text}</span></span> }
    });
    let deferred = tool.defer.then(|| {
        let title = "The model sees its name and loads its schema on demand.";
        view! { <span class="badge info" title=title><span>"deferred"</span></span> }
    });
    let conversation = tool.needs_conversation.then(|| {
        let title = "It works only inside a conversation.";
        view! { <span class="badge" title=title><span>"needs a conversation"</span></span> }
    });
    view! { {disabled} {held} {unavailable} {deferred} {conversation} }.into_any()
}
