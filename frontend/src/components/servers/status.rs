//! Whether a server answers, as a dot and in words.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::ServerState;
use toolshelf_frontend::model::upstream::{Server, state_class, state_words, tries_again};

use crate::state::use_app;

/// A server's state as a dot. The shapes differ too, and words stand beside it.
#[component]
pub(crate) fn Dot(state: ServerState) -> AnyView {
    view! { <span class=format!("dot {}", state_class(state)) aria-hidden="true"></span> }.into_any()
}

/// The state in words: why it is down, and when it is tried again.
#[component]
pub(crate) fn StatusLine(server: Arc<Server>) -> AnyView {
    let app = use_app();
    let reason = match (server.status.state, &server.status.reason) {
        (ServerState::Ready | ServerState::Disabled, _) | (_, None) => None,
        (_, Some(reason)) => Some(view! { ": "<bdi class="reason">{reason.clone()}</bdi> }),
    };
    let retry = server.status.retry_at.as_deref().map(|at| js_sys::Date::new(&at.into()).get_time());
    // Only the seconds change: whatever is selected or read in the reason stays.
    let again = retry.map(|at| {
        view! { <span class="again num">" · "{move || tries_again(at - app.upstreams.now.get())}</span> }
    });
    view! { <span class="status-line">{state_words(server.status.state)}{reason}{again}</span> }.into_any()
}
