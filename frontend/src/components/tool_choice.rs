//! A field that finds a tool.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::Tool;
use toolshelf_frontend::model::text::summary;
use web_sys::KeyboardEvent;

use crate::state::use_app;

/// More than these are not read; one more letter leaves fewer.
const SHOWN: usize = 8;

/// A combobox over all tools, by name, text or source.
#[component]
pub(crate) fn ToolChoice(tool: Memo<Option<String>>, choose: Callback<String>) -> AnyView {
    let app = use_app();
    let typed = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    let active = RwSignal::new(0_usize);
    Effect::new(move |_| typed.set(tool.get().unwrap_or_default()));
    let found = Memo::new(move |_| {
        if !open.get() {
            return Vec::new();
        }
        let typed = typed.get();
        app.catalog
            .with(|catalog| catalog.look_up(&typed, SHOWN).into_iter().cloned().collect::<Vec<Arc<Tool>>>())
    });
    let pick = move |name: String| {
        open.set(false);
        typed.set(name.clone());
        choose.run(name);
    };
    let keys = move |event: KeyboardEvent| {
        let last = found.with_untracked(Vec::len).saturating_sub(1);
        match event.key().as_str() {
            "ArrowDown" if open.get_untracked() => active.update(|active| *active = (*active + 1).min(last)),
            "ArrowDown" => open.set(true),
            "ArrowUp" => active.update(|active| *active = active.saturating_sub(1)),
            "Enter" => {
                let name = found
                    .with_untracked(|found| found.get(active.get_untracked()).map(|tool| tool.name.clone()));
                if let Some(name) = name {
                    pick(name);
                }
            }
            "Escape" if open.get_untracked() => {
                open.set(false);
                typed.set(tool.get_untracked().unwrap_or_default());
            }
            _ => return,
        }
        event.prevent_default();
    };
    let option = move |(place, tool): (usize, &Arc<Tool>)| {
        let name = tool.name.clone();
        // The list goes when the field loses the focus, so a choice is made before that.
        let down = move |event: web_sys::MouseEvent| {
            event.prevent_default();
            pick(name.clone());
        };
        view! {
            <li role="option" id=format!("choice-{place}") aria-selected=move || if active.get() == place { "true" } else { "false" } on:mousedown=down>
                <code>{tool.name.clone()}</code><span class="quiet small" dir="auto">{summary(&tool.description)}</span>
            </li>
        }
        .into_any()
    };
    let list = move || {
        found.with(|found| {
            if found.is_empty() {
                return view! { <li class="quiet" role="option" aria-disabled="true" aria-selected="false">"No tool matches"</li> }.into_any();
            }
            found.iter().enumerate().map(option).collect_view().into_any()
        })
    };
    view! {
        <div class="field choice">
            <label for="explain-tool">"Tool"</label>
            <input
                class="input mono"
                id="explain-tool"
                role="combobox"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                placeholder="Find by name, text or source"
                aria-autocomplete="list"
                aria-controls="explain-tools"
                aria-expanded=move || if open.get() { "true" } else { "false" }
                aria-activedescendant=move || (open.get() && found.with(|found| !found.is_empty())).then(|| format!("choice-{}", active.get()))
                prop:value=move || typed.get()
                on:input=move |event| {
                    typed.set(event_target_value(&event));
                    active.set(0);
                    open.set(true);
                }
                on:keydown=keys
                on:blur=move |_| open.set(false)
            />
            <ul class="choice-list" id="explain-tools" role="listbox" aria-label="Tools" hidden=move || !open.get()>{list}</ul>
        </div>
    }
    .into_any()
}
