//! Dialogs about servers, and the one that asks for the password.

use std::sync::Arc;

use leptos::html::Dialog;
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_frontend::model::server_form::ServerForm;
use toolshelf_frontend::model::upstream::Server;
use web_sys::SubmitEvent;

use super::add::{AddServers, ServerEditor};
use super::form::Mistakes;
use crate::components::dialogs::follow_open;
use crate::components::{Icon, focus_by_id};
use crate::state::{ServerAsk, use_app};

/// The dialog about what is being decided.
#[component]
pub(crate) fn ServerDialog() -> AnyView {
    let app = use_app();
    let ask = app.upstreams.ask;
    let dialog = NodeRef::<Dialog>::new();
    follow_open(dialog, move || ask.with(Option::is_some));
    let wide = move || ask.with(|ask| matches!(ask, Some(ServerAsk::Add { .. } | ServerAsk::Edit(_))));
    view! {
        <dialog class="dialog" class:wide=wide node_ref=dialog aria-labelledby="server-dialog-title" on:close=move |_| ask.set(None)>
            {move || ask.get().map(|ask| match ask {
                ServerAsk::Add { by_form } => view! { <AddServers by_form /> }.into_any(),
                ServerAsk::Edit(server) => view! { <Edit server /> }.into_any(),
                ServerAsk::Remove(server) => view! { <Remove server /> }.into_any(),
            })}
        </dialog>
    }
    .into_any()
}

/// Changes how a server is called and reached.
#[component]
fn Edit(server: Arc<Server>) -> AnyView {
    let form = RwSignal::new(ServerForm::of(&server));
    let title = server.title.clone();
    view! {
        <div class="dialog-head">
            <h2 id="server-dialog-title">"Edit "<bdi>{title}</bdi></h2>
            <Close />
        </div>
        <ServerEditor form before=Some(server) />
    }
    .into_any()
}

/// Closes the dialog.
#[component]
pub(super) fn Close() -> AnyView {
    let ask = use_app().upstreams.ask;
    view! {
        <button class="btn ghost square small" type="button" aria-label="Close" on:click=move |_| ask.set(None)><Icon name="close" /></button>
    }
    .into_any()
}

/// Removes a server, after saying what that means.
#[component]
fn Remove(server: Arc<Server>) -> AnyView {
    let app = use_app();
    let mistakes = Mistakes::new();
    let busy = RwSignal::new(false);
    let title = server.title.clone();
    let server = app.server(server.name.clone());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        mistakes.clear();
        // As it is now: what it was asked about is its name.
        let Some(server) = server.get_untracked() else { return };
        busy.set(true);
        spawn_local(async move {
            match app.remove_server(&server).await {
                Ok(()) => app.upstreams.ask.set(None),
                Err(failure) => mistakes.take(failure),
            }
            busy.try_set(false);
        });
    };
    view! {
        <form on:submit=submit>
            <h2 id="server-dialog-title">"Remove "<bdi>{title}</bdi></h2>
            <ul class="consequences">
                <li>"Its tools disappear at once, from every conversation and every connected agent."</li>
                <li>"Profiles keep the names of its tools and show them as missing."</li>
                <li>"Its keys are deleted. If it comes back, its tools count as changed and wait for an admin."</li>
            </ul>
            <p class="sub">"To keep all of this and only disconnect it, disable it instead."</p>
            {mistakes.view()}
            <div class="dialog-actions">
                <button class="btn" type="button" autofocus on:click=move |_| app.upstreams.ask.set(None)>"Cancel"</button>
                <button class="btn danger solid" disabled=move || busy.get()>"Remove"</button>
            </div>
        </form>
    }
    .into_any()
}

/// Asks for the password while a request waits for it. It lies over the dialog that made the request.
#[component]
pub(crate) fn PasswordDialog() -> AnyView {
    let app = use_app();
    let upstreams = app.upstreams;
    let dialog = NodeRef::<Dialog>::new();
    let asked = move || upstreams.confirming.with(Option::is_some);
    follow_open(dialog, asked);
    view! {
        <dialog class="dialog" node_ref=dialog aria-labelledby="password-title" on:close=move |_| upstreams.confirmed(false)>
            {move || asked().then(|| view! { <Password /> })}
        </dialog>
    }
    .into_any()
}

#[component]
fn Password() -> AnyView {
    let app = use_app();
    let upstreams = app.upstreams;
    let password = RwSignal::new(String::new());
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let username = app.me.with_value(|me| me.username.clone());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        if password.with_untracked(String::is_empty) {
            mistake.set(Some("Enter your password.".to_owned()));
            focus_by_id("confirm-password");
            return;
        }
        busy.set(true);
        mistake.set(None);
        spawn_local(async move {
            match app.api().confirm(password.get_untracked()).await {
                Ok(()) => upstreams.confirmed(true),
                Err(failure) => {
                    mistake.try_set(Some(failure.beside()));
                    busy.try_set(false);
                    focus_by_id("confirm-password");
                }
            }
        });
    };
    view! {
        <form on:submit=submit novalidate>
            <h2 id="password-title">"Confirm your password"</h2>
            <p class="sub">"This decides what runs on the server's machine. You will not be asked again for ten minutes."</p>
            <input class="visually-hidden" type="text" autocomplete="username" tabindex="-1" aria-hidden="true" readonly value=username />
            <div class="field">
                <label for="confirm-password">"Password"</label>
                <input
                    class="input"
                    type="password"
                    id="confirm-password"
                    autocomplete="current-password"
                    autofocus
                    aria-invalid=move || mistake.with(Option::is_some).then_some("true")
                    aria-describedby="confirm-mistake"
                    prop:value=move || password.get()
                    on:input=move |event| password.set(event_target_value(&event))
                />
                <p class="error" id="confirm-mistake" role="alert">{move || mistake.get()}</p>
            </div>
            <div class="dialog-actions">
                <button class="btn" type="button" on:click=move |_| upstreams.confirmed(false)>"Cancel"</button>
                <button class="btn primary" disabled=move || busy.get()>"Confirm"</button>
            </div>
        </form>
    }
    .into_any()
}
