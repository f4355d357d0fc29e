//! What is special about a tool, in a few words.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::Tool;

use super::Icon;

/// The badges of a tool. The reasons are cut; the drawer has them whole.
#[component]
pub(crate) fn Badges(tool: Arc<Tool>) -> AnyView {
    let disabled = tool.disabled.as_ref().map(|disabled| {
        let title = format!("{} disabled it: {}", disabled.by, disabled.reason);
        view! { <span class="badge bad" title=title><Icon name="stop" /><span>"disabled by an admin"</span></span> }
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
    view! { {disabled} {unavailable} {deferred} {conversation} }.into_any()
}
