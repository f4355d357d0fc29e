//! The plain facts of a tool.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::{Effect as Change, Kind, Tool};
use toolshelf_frontend::model::shelf::Group;
use toolshelf_frontend::model::text::thousands;

/// What it does and what it costs, as badges.
#[component]
pub(super) fn Facts(tool: Arc<Tool>) -> AnyView {
    let kind = match tool.kind {
        Kind::Read => "reads",
        Kind::Write => "writes",
        Kind::Execute => "runs programs",
        Kind::Network => "network",
        Kind::Interact => "asks a person",
        Kind::Meta => "about tools",
    };
    let change = match tool.effect {
        Change::Read | Change::Write => None,
        Change::Destructive => Some(view! { <span class="badge warn">"cannot be undone"</span> }.into_any()),
        Change::Unknown => Some(view! { <span class="badge">"effect unknown"</span> }.into_any()),
        Change::External => Some(view! { <span class="badge">"reaches outside"</span> }.into_any()),
    };
    let tokens = format!("≈ {} tokens", thousands(u64::from(tool.tokens)));
    view! { <span class="badge">{kind}</span> {change} <span class="badge num">{tokens}</span> }.into_any()
}

/// Where a tool comes from.
#[component]
pub(super) fn Place(tool: Arc<Tool>) -> AnyView {
    let group = Group::of(&tool);
    let row = |name: &'static str, value: String| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
    let listed = |list: &[String]| list.join(", ");
    view! {
        <dl class="facts">
            {row("Source", format!("{} · {}", group.title, group.kind))}
            {row("Method", format!("{}:{}", tool.service, tool.method))}
            {(!tool.toolsets.is_empty()).then(|| row("Presets", listed(&tool.toolsets)))}
            {(!tool.unsafe_in.is_empty()).then(|| row("Not used in", listed(&tool.unsafe_in)))}
        </dl>
    }
    .into_any()
}
