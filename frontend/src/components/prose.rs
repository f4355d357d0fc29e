//! Texts of authors, in which backticks mark code.

use leptos::prelude::*;
use toolshelf_frontend::model::text::code_spans;

/// A text with its code set as code. Everything in it is text; nothing is markup.
#[component]
pub(crate) fn Prose(text: String) -> AnyView {
    code_spans(&text)
        .into_iter()
        .map(|(code, part)| {
            let part = part.to_owned();
            if code { view! { <code>{part}</code> }.into_any() } else { part.into_any() }
        })
        .collect_view()
        .into_any()
}
