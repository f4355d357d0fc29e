//! The filter above the list.

use leptos::prelude::*;
use toolshelf_frontend::model::shelf::Show;
use toolshelf_frontend::model::text::thousands;
use web_sys::KeyboardEvent;

use super::Icon;
use super::keyboard::focus_row;
use crate::state::use_app;

/// The text filter, the states and the figures of what is left.
#[component]
pub(crate) fn Toolbar(
    /// Opens the list of keys.
    help: RwSignal<bool>,
) -> impl IntoView {
    let app = use_app();
    let total = move || app.catalog.with(|catalog| catalog.tools().len());
    let narrowed = move || app.show.get() != Show::All || app.query.with(|query| !query.trim().is_empty());
    let figures = move || {
        let shown = app.view.with(|view| view.shown);
        narrowed().then(|| format!("{} of {}", thousands(shown as u64), thousands(total() as u64)))
    };
    let keys = move |event: KeyboardEvent| match event.key().as_str() {
        // The first Esc clears; with nothing to clear it closes the drawer, as everywhere.
        "Escape" if app.query.with_untracked(|query| !query.is_empty()) => {
            event.prevent_default();
            app.query.set(String::new());
        }
        "ArrowDown" | "Enter" => {
            let first = app.view.with_untracked(|view| view.rows().next().map(|(_, _, place)| place));
            let name = first.and_then(|place| {
                app.catalog.with_untracked(|catalog| catalog.tools().get(place).map(|tool| tool.name.clone()))
            });
            if let Some(name) = name {
                event.prevent_default();
                if event.key() == "Enter" { app.open(Some(name)) } else { focus_row(app, &name) }
            }
        }
        _ => {}
    };
    view! {
        <div class="toolbar" id="toolbar">
            <div class="filter">
                <Icon name="search" />
                <input
                    id="filter"
                    type="text"
                    inputmode="search"
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    aria-label="Filter tools by name, text or source"
                    aria-describedby="filter-figures"
                    placeholder="Filter by name, text or source"
                    prop:value=move || app.query.get()
                    on:input=move |event| app.query.set(event_target_value(&event))
                    on:keydown=keys
                />
                <span class="filter-figures num" id="filter-figures" role="status">{figures}</span>
                {move || app.query.with(String::is_empty).then(|| view! { <kbd aria-hidden="true">"/"</kbd> })}
            </div>
            <div class="segments" role="group" aria-label="State">
                {Show::EVERY.map(|show| view! { <Segment show /> }).collect_view()}
            </div>
            <button class="btn ghost square keys-button" type="button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" on:click=move |_| help.set(true)>
                <Icon name="keys" />
            </button>
        </div>
    }
}

#[component]
fn Segment(show: Show) -> AnyView {
    let app = use_app();
    let count = Memo::new(move |_| app.view.with(|view| view.counts.of(show)));
    view! {
        <button
            type="button"
            aria-pressed=move || if app.show.get() == show { "true" } else { "false" }
            class:none=move || count.get() == 0
            on:click=move |_| app.show.set(show)
        >
            {show.label()}<span class="num">{move || thousands(count.get() as u64)}</span>
        </button>
    }
    .into_any()
}
