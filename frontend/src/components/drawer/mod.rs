//! One tool: what it is, why it is here or missing, and a way to try it.

mod conversation;
mod details;
mod fields;
mod params;
mod place;
mod result;
mod try_it;
mod why;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use toolshelf_api::Tool;
use web_sys::KeyboardEvent;

use self::details::Details;
use self::try_it::TryIt;
pub(crate) use self::why::Waterfall;
use super::{Badges, Icon, focus_by_id};
use crate::api::Failure;
use crate::state::use_app;

/// The parameters of the open tool, which the list does not hold.
#[derive(Clone, Debug, PartialEq)]
enum Schema {
    Loading,
    Known(Arc<Value>),
    Unknown { sentence: String, suggestions: Vec<String> },
}

/// The panel beside the list; on phones it covers the page.
#[component]
pub(crate) fn Drawer(name: String) -> impl IntoView {
    let app = use_app();
    let tool = app.tool(name.clone());
    let schema = RwSignal::new(Schema::Loading);
    let load = {
        let name = name.clone();
        move || {
            let name = name.clone();
            schema.set(Schema::Loading);
            spawn_local(async move {
                schema.try_set(match app.api().tool(&name).await {
                    Ok(tool) => Schema::Known(Arc::new(tool.parameters.unwrap_or_default())),
                    Err(failure) => {
                        let sentence = failure.sentence();
                        let suggestions = match failure {
                            Failure::Refused(problem) => problem.suggestions,
                            Failure::Offline | Failure::Cancelled => Vec::new(),
                        };
                        Schema::Unknown { sentence, suggestions }
                    }
                });
            });
        }
    };
    load();
    let panel = NodeRef::<Div>::new();
    Effect::new(move |_| {
        if panel.get().is_some() {
            focus_by_id("drawer-title");
        }
    });
    let trying = RwSignal::new(false);
    let exists = Memo::new(move |_| tool.with(Option::is_some));
    let body = {
        let name = name.clone();
        move || {
            if exists.get() {
                view! { <Body name=name.clone() tool schema trying retry=Callback::new({ let load = load.clone(); move |()| load() }) /> }.into_any()
            } else {
                view! { <Missing name=name.clone() schema /> }.into_any()
            }
        }
    };
    view! {
        <div
            class="drawer"
            role="dialog"
            aria-modal=move || if app.narrow.get() { "true" } else { "false" }
            aria-labelledby="drawer-title"
            node_ref=panel
        >
            <header class="drawer-head">
                <h2 id="drawer-title" tabindex="-1">{name}</h2>
                <button class="btn ghost square small" type="button" aria-label="Close" title="Close (Esc)" on:click=move |_| app.open(None)>
                    <Icon name="close" />
                </button>
            </header>
            {body}
        </div>
    }
}

#[component]
fn Body(
    name: String,
    tool: Memo<Option<Arc<Tool>>>,
    schema: RwSignal<Schema>,
    trying: RwSignal<bool>,
    retry: Callback<()>,
) -> impl IntoView {
    let app = use_app();
    let title = move || tool.with(|tool| tool.as_ref().and_then(|tool| tool.title.clone()));
    // Arrows move between the two tabs and take the focus along.
    let arrows = move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "ArrowLeft" | "ArrowRight") {
            event.prevent_default();
            trying.update(|trying| *trying = !*trying);
            focus_by_id(if trying.get_untracked() { "tab-try" } else { "tab-details" });
        }
    };
    let tab = move |own: bool, id: &'static str, panel: &'static str, label: &'static str| {
        view! {
            <button
                type="button"
                role="tab"
                id=id
                aria-controls=panel
                aria-selected=move || if trying.get() == own { "true" } else { "false" }
                tabindex=move || if trying.get() == own { "0" } else { "-1" }
                on:click=move |_| trying.set(own)
                on:keydown=arrows
            >
                {label}
            </button>
        }
    };
    let admin = move || {
        if !app.is_admin() {
            return None;
        }
        let now = tool.get()?;
        let view = if now.disabled.is_some() {
            view! { <button class="btn small" type="button" on:click=move |_| app.enable(&now)>"Enable again"</button> }.into_any()
        } else {
            view! { <button class="btn small danger" type="button" on:click=move |_| app.ask_to_disable(&now.name)>"Disable for everyone"</button> }.into_any()
        };
        Some(view)
    };
    view! {
        <div class="drawer-sum">
            {move || title().map(|title| view! { <p class="sub">{title}</p> })}
            <div class="drawer-badges">
                {move || tool.get().map(|tool| view! { <Badges tool=Arc::clone(&tool) /> <place::Facts tool /> })}
            </div>
        </div>
        <div class="drawer-bar">
            <div class="tabs" role="tablist" aria-label="Tool">
                {tab(false, "tab-details", "panel-details", "Details")}
                {tab(true, "tab-try", "panel-try", "Try it")}
            </div>
            {admin}
        </div>
        // Both panels stay: what is entered or running in one is not lost by a look at the other.
        <div class="drawer-body" role="tabpanel" id="panel-details" aria-labelledby="tab-details" tabindex="0" hidden=move || trying.get()>
            <Details name=name.clone() tool schema retry />
        </div>
        <div class="drawer-body" role="tabpanel" id="panel-try" aria-labelledby="tab-try" tabindex="-1" hidden=move || !trying.get()>
            {move || match schema.get() {
                Schema::Known(schema) => view! { <TryIt name=name.clone() tool schema /> }.into_any(),
                Schema::Loading => view! { <Skeleton /> }.into_any(),
                Schema::Unknown { sentence, .. } => view! { <Retry sentence retry /> }.into_any(),
            }}
        </div>
    }
}

/// The address names a tool that the catalog does not hold.
#[component]
fn Missing(name: String, schema: RwSignal<Schema>) -> impl IntoView {
    let app = use_app();
    let close = move || match schema.get() {
        Schema::Unknown { suggestions, .. } if !suggestions.is_empty() => Some(view! {
            <p class="sub">"Did you mean one of these?"</p>
            <ul class="suggestions">
                {suggestions.into_iter().map(|name| {
                    let target = name.clone();
                    view! { <li><button class="btn small mono" type="button" on:click=move |_| app.open(Some(target.clone()))>{name}</button></li> }
                }).collect_view()}
            </ul>
        }),
        _ => None,
    };
    view! {
        <div class="state">
            <Icon name="search" />
            <h3>"There is no tool of this name"</h3>
            <p class="sub">{format!("{name} is not in the catalog. It may have been renamed, or its source is not connected.")}</p>
            {close}
        </div>
    }
}

/// Takes the place of what is loading.
#[component]
fn Skeleton() -> AnyView {
    view! { <div class="skeleton short" role="status" aria-label="Loading"><i></i><i></i><i></i></div> }
        .into_any()
}

/// Says what failed, and tries again.
#[component]
fn Retry(sentence: String, retry: Callback<()>) -> AnyView {
    view! {
        <div class="notice bad" role="alert">
            <Icon name="alert" />
            <p>{sentence}</p>
            <button class="btn small" type="button" on:click=move |_| retry.run(())><Icon name="retry" />"Retry"</button>
        </div>
    }
    .into_any()
}
