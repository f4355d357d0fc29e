//! The catalog, with one tool open or none.

use leptos::prelude::*;
use toolshelf_frontend::model::catalog::Catalog;
use toolshelf_frontend::model::text::{count, thousands};

use crate::components::{Bulk, Drawer, EditorHead, Icon, Shelf, Sidebar, Toolbar};
use crate::state::{Load, use_app};

/// The catalog on the left, the open tool on the right.
#[component]
pub(crate) fn FunctionsPage(
    /// Opens the list of keys.
    help: RwSignal<bool>,
) -> impl IntoView {
    let app = use_app();
    let open = Memo::new(move |_| app.route.with(|route| route.tool().map(str::to_owned)));
    view! {
        <main class="content shelf-page" class:with-drawer=move || open.get().is_some() id="main" tabindex="-1">
            <Sidebar />
            <Shelf covered=Signal::derive(move || app.narrow.get() && open.get().is_some())>
                <Picker />
                {move || if app.profiles.open.with(Option::is_some) { view! { <EditorHead /> }.into_any() } else { view! { <Head /> }.into_any() }}
                <Toolbar help />
                {move || app.profiles.open.with(Option::is_some).then(|| view! { <Bulk /> })}
                <Trouble />
            </Shelf>
            {move || open.get().map(|name| view! { <Drawer name /> }.into_any())}
        </main>
    }
}

/// On phones, the way to the list of profiles.
#[component]
fn Picker() -> AnyView {
    let app = use_app();
    let open = move || app.profiles.open.get().unwrap_or_else(|| "All tools".to_owned());
    view! {
        <button class="btn profile-button" type="button" popovertarget="profiles">
            <span class="sub">"Profile"</span><b>{open}</b><Icon name="down" />
        </button>
    }
    .into_any()
}

/// The title with the catalog's figures.
#[component]
fn Head() -> impl IntoView {
    let app = use_app();
    let total = Memo::new(move |_| app.catalog.with(|catalog| catalog.tools().len()));
    let tokens = Memo::new(move |_| app.catalog.with(Catalog::tokens));
    view! {
        <header class="shelf-head">
            <h1>"Functions"</h1>
            <p class="shelf-figures">
                <span><b class="num">{move || thousands(total.get() as u64)}</b>{move || if total.get() == 1 { " tool" } else { " tools" }}</span>
                <span><b class="num">{move || format!("≈ {}", thousands(tokens.get()))}</b>" tokens if all are sent"</span>
            </p>
        </header>
    }
}

/// What stands between the person and a list that is right: a failed load, a broken stream, tools left out.
#[component]
fn Trouble() -> impl IntoView {
    let app = use_app();
    let failed = move || match app.load.get() {
        Load::Current => None,
        Load::Failed(sentence) => Some(view! {
            <div class="notice bad shelf-note" role="alert">
                <Icon name="alert" />
                <p>{format!("The list may be out of date. {sentence}")}</p>
                <button class="btn small" type="button" on:click=move |_| app.reload()><Icon name="retry" />"Retry"</button>
            </div>
        }),
    };
    let left_out = Memo::new(move |_| app.catalog.with(|catalog| catalog.not_registered.clone()));
    let missing = move || {
        let tools = left_out.get();
        (!tools.is_empty()).then(|| {
            let title = count(tools.len(), "tool was declared but not registered", "tools were declared but not registered");
            view! {
                <details class="left-out shelf-note">
                    <summary>{title}</summary>
                    <ul>
                        {tools.into_iter().map(|tool| view! {
                            <li><code>{tool.name.to_string()}</code><span>{tool.reason.to_string()}</span></li>
                        }).collect_view()}
                    </ul>
                </details>
            }
        })
    };
    view! { {failed} {missing} }
}
