//! Adding servers: a document of another program, or a form.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::TriedConnection;
use toolshelf_frontend::model::server_form::ServerForm;
use toolshelf_frontend::model::text::{count, duration};
use toolshelf_frontend::model::upstream::{Server, visible};
use web_sys::{AbortController, KeyboardEvent, SubmitEvent};

use super::dialogs::Close;
use super::form::{Mistakes, ServerFields, focus_mistake, show};
use super::import::Import;
use super::{ONE_ACCOUNT, Untrusted};
use crate::components::{Icon, focus_by_id};
use crate::state::use_app;

/// The two ways. Both stay: what is entered in one is not lost by a look at the other.
#[component]
pub(super) fn AddServers(by_form: bool) -> AnyView {
    let app = use_app();
    let by_form = RwSignal::new(by_form);
    let arrows = move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "ArrowLeft" | "ArrowRight") {
            event.prevent_default();
            by_form.update(|by_form| *by_form = !*by_form);
            focus_by_id(if by_form.get_untracked() { "add-tab-form" } else { "add-tab-paste" });
        }
    };
    let tab = move |own: bool, id: &'static str, panel: &'static str, label: &'static str| {
        view! {
            <button
                type="button"
                role="tab"
                id=id
                aria-controls=panel
                aria-selected=move || if by_form.get() == own { "true" } else { "false" }
                tabindex=move || if by_form.get() == own { "0" } else { "-1" }
                on:click=move |_| by_form.set(own)
                on:keydown=arrows
            >
                {label}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="dialog-head">
            <h2 id="server-dialog-title">"Add servers"</h2>
            <Close />
        </div>
        <div class="tabs" role="tablist" aria-label="Ways to add servers">
            {tab(false, "add-tab-paste", "add-paste", "Paste mcp.json")}
            {tab(true, "add-tab-form", "add-form", "Fill in a form")}
        </div>
        <div class="dialog-panel" role="tabpanel" id="add-paste" aria-labelledby="add-tab-paste" hidden=move || by_form.get()><Import /></div>
        <div class="dialog-panel" role="tabpanel" id="add-form" aria-labelledby="add-tab-form" hidden=move || !by_form.get()><ServerEditor form=app.upstreams.entered before=None /></div>
    }
    .into_any()
}

/// A new server, or changes of one, which can be tried first.
#[component]
pub(super) fn ServerEditor(form: RwSignal<ServerForm>, before: Option<Arc<Server>>) -> AnyView {
    let app = use_app();
    let is_new = before.is_none();
    let before = StoredValue::new(before);
    let mistakes = Mistakes::new();
    let busy = RwSignal::new(false);
    let trying = RwSignal::new_local(None::<AbortController>);
    let tried = RwSignal::new(None::<TriedConnection>);
    let running = move || trying.with(Option::is_some);
    let moves = Memo::new(move |_| {
        form.with(|form| before.with_value(|before| before.as_ref().is_some_and(|before| form.moves(before))))
    });
    // Sends the form, or only tries what it says.
    let send = Callback::new(move |only_try: bool| {
        mistakes.clear();
        tried.set(None);
        let missing = form.with_untracked(ServerForm::mistakes);
        if !missing.is_empty() {
            mistakes.fields.set(missing);
            focus_mistake();
            return;
        }
        if busy.get_untracked() {
            return;
        }
        let abort = only_try.then(AbortController::new).transpose();
        // A trial that could not be stopped is none, and must not become an addition.
        let Ok(abort) = abort else { return };
        busy.set(true);
        trying.set(abort.clone());
        if only_try {
            request_animation_frame(|| show("dialog[open] .tried"));
        }
        spawn_local(async move {
            let failure = match (abort, before.get_value()) {
                (Some(abort), _) => {
                    let new = form.with_untracked(ServerForm::create);
                    let result = app.api().try_server(&new, &abort.signal()).await;
                    result.map(|result| drop(tried.try_set(Some(result))))
                }
                (None, None) => {
                    let new = form.with_untracked(ServerForm::create);
                    app.api().create_server(&new).await.map(|now| app.added_servers(&[now.name]))
                }
                (None, Some(server)) => {
                    let change = form.with_untracked(|form| form.change(&server));
                    app.update_server(&server.name, server.revision, &change).await.map(|()| {
                        app.upstreams.ask.set(None);
                        app.toasts.say(&format!("{}: saved.", server.name));
                    })
                }
            };
            if let Err(failure) = failure {
                mistakes.take(failure);
            }
            trying.try_set(None);
            busy.try_set(false);
            if only_try {
                request_animation_frame(|| show("dialog[open] .tried"));
            }
        });
    });
    let stop = move || {
        trying.try_with_untracked(|trying| trying.as_ref().map(AbortController::abort));
    };
    // A trial whose result nobody will see need not go on.
    on_cleanup(stop);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        send.run(false);
    };
    view! {
        <form on:submit=submit novalidate>
            <ServerFields form mistakes is_new />
            <p class="fix"><Icon name="info" /><span>{ONE_ACCOUNT}</span></p>
            {move || moves.get().then(|| view! {
                <div class="notice warn"><Icon name="alert" /><p>"It will be reached in another way. All its tools then count as changed and wait for an admin, unless this server holds nothing."</p></div>
            })}
            {mistakes.view()}
            <div class="tried" role="status">
                {move || running().then(|| view! {
                    <p class="running"><span class="pulse" aria-hidden="true"></span>"Connecting once. This may take half a minute."<button class="btn small" type="button" on:click=move |_| stop()>"Stop"</button></p>
                })}
                {move || tried.get().map(|tried| view! { <Tried tried /> })}
            </div>
            <div class="dialog-actions">
                <button class="btn" type="button" disabled=move || busy.get() on:click=move |_| send.run(true)>"Test connection"</button>
                <button class="btn primary" disabled=move || busy.get()>{if is_new { "Add server" } else { "Save" }}</button>
            </div>
        </form>
    }
    .into_any()
}

/// What a trial came to.
#[component]
fn Tried(tried: TriedConnection) -> AnyView {
    let took = duration(tried.duration_ms);
    let (class, icon, text) = if tried.ok {
        let who =
            tried.info.as_ref().map_or_else(String::new, |info| format!(" {} {}", info.name, info.version));
        let tools = count(tried.tools.len(), "tool", "tools");
        ("notice ok", "check", format!("It answers:{who}, {tools}, in {took}.").replace(":,", ","))
    } else {
        let reason = tried.reason.clone().unwrap_or_default();
        ("notice bad", "alert", format!("It does not answer, after {took}. {reason}"))
    };
    let names = (!tried.tools.is_empty()).then(|| {
        view! { <p class="tried-tools mono small" tabindex="0" role="group" aria-label="Its tools">{visible(&tried.tools.join(", "))}</p> }
    });
    let rejected = tried.rejected.into_iter().map(|tool| {
        view! { <li><code dir="auto">{visible(&tool.name)}</code><span dir="auto">{visible(&tool.reason)}</span></li> }.into_any()
    });
    let rejected: Vec<_> = rejected.collect();
    let rejected = (!rejected.is_empty()).then(|| {
        view! { <p class="small">"These would be rejected:"</p><ul class="rejected" role="list">{rejected}</ul> }
    });
    let log = (!tried.ok && !tried.log.is_empty()).then(
        || view! { <Untrusted label="The last lines of its standard error" text=tried.log.join("\n") /> },
    );
    view! { <div class=class><Icon name=icon /><p dir="auto">{visible(&text)}</p></div>{names}{rejected}{log} }.into_any()
}
