//! Upstream MCP servers: the list, one of them, and the dialogs that add and change them.

mod add;
mod changes;
mod details;
mod dialogs;
mod form;
mod import;
mod list;
mod settings;
mod status;

use leptos::prelude::*;

pub(crate) use details::ServerDetails;
pub(crate) use dialogs::{PasswordDialog, ServerDialog};
pub(crate) use list::ServerList;
pub(crate) use status::{Dot, StatusLine};

/// Says whose rights a server's tools have, wherever somebody decides about a server.
const ONE_ACCOUNT: &str =
    "Everybody who may call this server's tools uses its one account: what its keys may do, they may do.";

/// A text that a server wrote. It is text and nothing else, bounded, and what cannot be seen in it is written out.
#[component]
fn Untrusted(label: &'static str, text: String) -> AnyView {
    let text = toolshelf_frontend::model::upstream::visible(&text);
    view! { <pre class="code untrusted" dir="auto" tabindex="0" role="group" aria-label=label>{text}</pre> }
        .into_any()
}
