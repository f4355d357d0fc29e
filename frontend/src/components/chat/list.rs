//! The list of conversations. On phones it is a popover behind a button.

use leptos::prelude::*;
use toolshelf_api::{Conversation, UpdateConversation};
use toolshelf_frontend::model::route::Route;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, MouseEvent};

use crate::components::{Icon, focus_by_id};
use crate::state::{use_app, use_chat};

#[component]
pub(crate) fn TalkList() -> AnyView {
    let chat = use_chat();
    let app = use_app();
    let new = move |event: MouseEvent| {
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            close();
            app.go(Route::Chat { id: None });
            focus_by_id("message");
        }
    };
    let nothing = move || {
        chat.list.with(Vec::is_empty).then(|| {
            let text = if chat.query.with(|query| query.trim().is_empty()) {
                "No conversation yet."
            } else {
                "No conversation of this name."
            };
            view! { <p class="sub profiles-none">{text}</p> }
        })
    };
    view! {
        <aside class="profiles talks" id="talks" popover="auto" aria-label="Conversations">
            <header class="profiles-head">
                <h2>"Conversations"</h2>
                <a class="btn small" href="/chat" on:click=new><Icon name="plus" />"New"</a>
            </header>
            <input
                class="input"
                type="text"
                inputmode="search"
                autocomplete="off"
                placeholder="Search titles"
                aria-label="Search conversations by title"
                prop:value=move || chat.query.get()
                on:input=move |event| chat.query.set(event_target_value(&event))
            />
            <ul role="list">
                <For each=move || chat.list.get() key=|talk| (talk.id.clone(), talk.revision) children=move |talk| view! { <Entry talk /> } />
            </ul>
            {nothing}
            {move || chat.more.with(Option::is_some).then(|| view! {
                <button class="btn small" type="button" on:click=move |_| chat.load_more()>"Older"</button>
            })}
        </aside>
    }
    .into_any()
}

#[component]
fn Entry(talk: Conversation) -> AnyView {
    let chat = use_chat();
    let app = use_app();
    let (id, title, revision) = (talk.id, talk.title, talk.revision);
    let renaming = RwSignal::new(false);
    // A deletion is asked about in place: the second press does it.
    let sure = RwSignal::new(false);
    let path = Route::Chat { id: Some(id.clone()) }.path();
    let is_open = {
        let id = id.clone();
        move || chat.id.with(|open| open.as_ref() == Some(&id))
    };
    let open = {
        let id = id.clone();
        move |event: MouseEvent| {
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                close();
                app.go(Route::Chat { id: Some(id.clone()) });
            }
        }
    };
    let rename = {
        let id = id.clone();
        move |title: String| {
            let id = id.clone();
            renaming.set(false);
            leptos::task::spawn_local(async move {
                let change = UpdateConversation { title: Some(title), ..UpdateConversation::default() };
                if let Err(failure) = chat.update(&id, revision, &change).await {
                    app.toasts.warn(&failure.sentence());
                }
            });
        }
    };
    let before = title.clone();
    let field = move || {
        let (rename, before) = (rename.clone(), before.clone());
        let keys = move |event: KeyboardEvent| match event.key().as_str() {
            "Enter" => rename(event_target_value(&event)),
            "Escape" => {
                event.stop_propagation();
                event.prevent_default();
                renaming.set(false);
            }
            _ => {}
        };
        view! { <input class="input" id="rename" aria-label="Title" maxlength="200" prop:value=before on:keydown=keys on:blur=move |_| renaming.set(false) /> }
    };
    let shown = title.clone();
    view! {
        <li class="talk" class:sure=move || sure.get()>
            {move || if renaming.get() { field().into_any() } else {
                let (shown, path, open) = (shown.clone(), path.clone(), open.clone());
                let tip = shown.clone();
                let here = is_open.clone();
                view! { <a class="profile" href=path title=tip aria-current=move || here().then_some("true") on:click=open><span class="profile-name"><span>{shown}</span></span></a> }.into_any()
            }}
            <span class="talk-actions">
                <button class="btn ghost small" type="button" aria-label=format!("Rename {title}") on:click=move |_| { renaming.set(true); request_animation_frame(|| focus_by_id("rename")); }>"Rename"</button>
                <button
                    class="btn ghost small danger"
                    type="button"
                    aria-label=format!("Delete {title}")
                    on:click=move |_| if sure.get_untracked() { chat.delete(id.clone()); } else { sure.set(true); }
                    on:blur=move |_| sure.set(false)
                >
                    {move || if sure.get() { "Really delete" } else { "Delete" }}
                </button>
            </span>
        </li>
    }
    .into_any()
}

/// Closes the popover of phones.
fn close() {
    if let Some(list) =
        document().get_element_by_id("talks").and_then(|list| list.dyn_into::<HtmlElement>().ok())
    {
        // Fails where it is no open popover, and then there is nothing to close.
        let _ = list.hide_popover();
    }
}
