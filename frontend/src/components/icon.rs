//! Icons of the sprite `static/icons.svg`.

use leptos::prelude::*;

use crate::state::use_app;

/// An icon beside a text, or in a button that has a name of its own.
#[component]
pub(crate) fn Icon(
    /// The symbol's id in the sprite.
    name: &'static str,
) -> AnyView {
    let href = use_app().icons.with_value(|icons| format!("{icons}#{name}"));
    let class = if name == "mark" { "icon mark" } else { "icon" };
    view! { <svg class=class aria-hidden="true"><use_ href=href /></svg> }.into_any()
}
