//! Adding servers from a document: paste, check, choose, add.

use std::collections::{BTreeMap, HashSet};

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use toolshelf_api::ImportMcpServers;
use toolshelf_frontend::model::text::count;
use toolshelf_frontend::model::upstream::{ImportedServer, visible};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DragEvent, File, HtmlInputElement, SubmitEvent};

use super::ONE_ACCOUNT;
use super::form::{Mistakes, focus_mistake};
use crate::components::{Icon, focus_by_id};
use crate::state::use_app;

/// A configuration is a few kilobytes; what is larger is another file.
const LARGEST: f64 = 1_048_576.0;

/// The document, and what was found in it.
#[component]
pub(super) fn Import() -> AnyView {
    let app = use_app();
    let document = app.upstreams.document;
    let found = RwSignal::new(Vec::<ImportedServer>::new());
    let off = RwSignal::new(HashSet::<String>::new());
    let values = RwSignal::new(BTreeMap::<String, String>::new());
    let mistakes = Mistakes::new();
    let busy = RwSignal::new(false);
    // What was checked is not what would be added once the text is another one.
    let edit = move |text: String| {
        document.set(text);
        found.set(Vec::new());
        mistakes.clear();
    };
    let read = move |file: Option<File>| {
        let Some(file) = file else { return };
        if file.size() > LARGEST {
            mistakes.whole.set(Some("This file is too large to be a configuration.".to_owned()));
            return;
        }
        spawn_local(async move {
            if let Ok(text) = JsFuture::from(file.text()).await {
                edit(text.as_string().unwrap_or_default());
            }
        });
    };
    let drop_file = move |event: DragEvent| {
        event.prevent_default();
        read(event.data_transfer().and_then(|data| data.files()).and_then(|files| files.get(0)));
    };
    let pick_file = move |event: web_sys::Event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        read(input.and_then(|input| input.files()).and_then(|files| files.get(0)));
    };
    let chosen = Memo::new(move |_| {
        let off = off.get();
        let is_on = |server: &&ImportedServer| server.problem.is_none() && !off.contains(&server.key);
        found.with(|found| found.iter().filter(is_on).map(|server| server.key.clone()).collect::<Vec<_>>())
    });
    let needs = Memo::new(move |_| {
        let chosen = chosen.get();
        let mut needs = Vec::<String>::new();
        found.with(|found| {
            for need in
                found.iter().filter(|server| chosen.contains(&server.key)).flat_map(|server| &server.needs)
            {
                if !needs.contains(need) {
                    needs.push(need.clone());
                }
            }
        });
        needs
    });
    let checked = Memo::new(move |_| found.with(|found| !found.is_empty()));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        mistakes.clear();
        let confirm = checked.get_untracked();
        if document.with_untracked(|document| document.trim().is_empty()) {
            mistakes.whole.set(Some("Paste the text of an mcp.json first.".to_owned()));
            focus_by_id("mcp-json");
            return;
        }
        if confirm
            && needs.with_untracked(|needs| {
                values.with_untracked(|values| {
                    needs.iter().any(|need| values.get(need).is_none_or(String::is_empty))
                })
            })
        {
            mistakes.whole.set(Some("Enter the values that are missing.".to_owned()));
            focus_mistake();
            return;
        }
        busy.set(true);
        let import = ImportMcpServers {
            document: Value::String(document.get_untracked()),
            confirm,
            only: confirm.then(|| chosen.get_untracked()),
            values: if confirm { values.get_untracked() } else { BTreeMap::new() },
        };
        spawn_local(async move {
            match app.api().import_servers(&import).await {
                Ok(answer) if confirm => {
                    let names: Vec<String> = answer.into_iter().map(|server| server.name).collect();
                    app.added_servers(&names);
                }
                Ok(answer) => {
                    if answer.is_empty() {
                        mistakes.whole.try_set(Some("The document names no server.".to_owned()));
                    }
                    off.try_set(HashSet::new());
                    found.try_set(answer);
                    request_animation_frame(|| focus_by_id("found-title"));
                }
                Err(failure) => mistakes.take(failure),
            }
            busy.try_set(false);
        });
    };
    let beside = move || {
        mistakes
            .fields
            .with(|fields| fields.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join(" "))
    };
    let list = move || {
        found.with(|found| {
            found.iter().map(|server| view! { <Found server=server.clone() off /> }).collect_view()
        })
    };
    let programs = move || {
        let chosen = chosen.get();
        found.with(|found| {
            found.iter().any(|server| {
                chosen.contains(&server.key)
                    && server.connection.as_ref().is_some_and(|connection| !connection.is_http())
            })
        })
    };
    let preview = move || {
        checked.get().then(|| view! {
            <section class="found">
                <h3 id="found-title" tabindex="-1">{move || count(found.with(Vec::len), "server found", "servers found")}</h3>
                <ul role="list">{list}</ul>
                {move || needs.get().into_iter().enumerate().map(|(place, need)| view! { <Need place need values /> }).collect_view()}
                {move || programs().then(|| view! {
                    <div class="notice warn"><Icon name="alert" /><p>"These commands will run on this machine, with the rights of the Toolshelf server. Add only what you would start there yourself."</p></div>
                })}
                <p class="fix"><Icon name="info" /><span>{ONE_ACCOUNT}</span></p>
            </section>
        })
    };
    let label = move || match (checked.get(), chosen.with(Vec::len)) {
        (false, _) => "Check".to_owned(),
        (true, number) => format!("Add {}", count(number, "server", "servers")),
    };
    view! {
        <form on:submit=submit novalidate>
            <div class="field drop" on:dragover=|event: DragEvent| event.prevent_default() on:drop=drop_file>
                <label for="mcp-json">"The mcp.json of Claude Desktop, Cursor or VS Code"</label>
                <textarea
                    class="textarea mono"
                    id="mcp-json"
                    rows=move || if checked.get() { "4" } else { "9" }
                    autofocus
                    spellcheck="false"
                    autocapitalize="none"
                    placeholder="{ \"mcpServers\": { … } }"
                    aria-invalid=move || mistakes.whole.with(|whole| whole.is_some() && !checked.get()).then_some("true")
                    aria-describedby="mcp-json-hint mcp-json-mistake"
                    prop:value=move || document.get()
                    on:input=move |event| edit(event_target_value(&event))
                ></textarea>
                <p class="hint drop-hint" id="mcp-json-hint">
                    <span>"Paste it, drop a file here, or "</span>
                    <label class="file">"choose a file"<input class="visually-hidden" type="file" accept=".json,.jsonc,application/json" on:change=pick_file /></label>
                    <span>". Nothing changes until you add."</span>
                </p>
                <p class="error" id="mcp-json-mistake">{beside}</p>
            </div>
            {preview}
            {mistakes.view()}
            <div class="dialog-actions">
                <button class="btn" type="button" on:click=move |_| app.upstreams.ask.set(None)>"Cancel"</button>
                <button class="btn primary" disabled=move || busy.get() || (checked.get() && chosen.with(Vec::is_empty))>{label}</button>
            </div>
        </form>
    }
    .into_any()
}

/// A server of the document: what would be started or reached, whole, and what would be left out.
#[component]
fn Found(server: ImportedServer, off: RwSignal<HashSet<String>>) -> AnyView {
    let key = server.key.clone();
    let (asked, turned) = (key.clone(), key.clone());
    let impossible = server.problem.is_some();
    let is_on = move || !impossible && off.with(|off| !off.contains(&asked));
    let turn = move |_| {
        off.update(|off| {
            if !off.remove(&turned) {
                off.insert(turned.clone());
            }
        });
    };
    let listed = |before: &'static str, names: Vec<String>| {
        (!names.is_empty()).then(|| {
            view! { <p class="small quiet" dir="auto">{before}" "{visible(&names.join(", "))}</p> }.into_any()
        })
    };
    let reached = server.connection.as_ref().map(|connection| {
        let names = connection.secret_names();
        let before = if connection.is_http() { "Sends the headers" } else { "Sets the variables" };
        view! { <code class="command" dir="auto">{visible(&connection.line())}</code>{listed(before, names)} }
            .into_any()
    });
    let called = (key != server.name).then(
        || view! { <span class="quiet small">"called "<bdi>{visible(&key)}</bdi>" in the document"</span> },
    );
    let off_at_first =
        (!server.enabled).then(|| view! { <span class="badge"><span>"added disabled"</span></span> });
    let problem = server.problem.map(|text| {
        view! { <p class="error" dir="auto"><Icon name="alert" /><span>{visible(&text)}</span></p> }
    });
    view! {
        <li class="found-server">
            <label class="check">
                <input type="checkbox" prop:checked=is_on disabled=impossible on:change=turn />
                <span class="found-name"><b>{server.name}</b>{called}{off_at_first}</span>
            </label>
            {reached}
            {listed("Left out, because it means nothing here:", server.ignored)}
            {problem}
        </li>
    }
    .into_any()
}

/// A value that the document leaves open.
#[component]
fn Need(place: usize, need: String, values: RwSignal<BTreeMap<String, String>>) -> AnyView {
    let (asked, entered) = (need.clone(), need.clone());
    let value = Memo::new(move |_| values.with(|values| values.get(&asked).cloned().unwrap_or_default()));
    let id = format!("need-{place}");
    view! {
        <div class="field">
            <label for=id.clone()>"Value for "<code>{visible(&need)}</code></label>
            <input
                class="input mono"
                type="password"
                id=id
                autocomplete="off"
                required
                aria-invalid=move || value.with(String::is_empty).then_some("true")
                prop:value=move || value.get()
                on:input=move |event| values.update(|values| drop(values.insert(entered.clone(), event_target_value(&event))))
            />
        </div>
    }
    .into_any()
}
