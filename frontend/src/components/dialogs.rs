//! Dialogs over the page: the reason for disabling a tool, and the list of keys.

use std::sync::Arc;

use leptos::html::Dialog;
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::Tool;
use web_sys::SubmitEvent;

use super::{Icon, focus_by_id};
use crate::state::{changed_meanwhile, use_app};

/// The longest reason, in characters.
const REASON_MAX: usize = 500;

/// Shows the browser's own dialog while `open` says so: it keeps the focus inside and gives it back.
pub(crate) fn follow_open(dialog: NodeRef<Dialog>, open: impl Fn() -> bool + 'static) {
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        if open() && !dialog.open() {
            let _ = dialog.show_modal();
        } else if !open() && dialog.open() {
            dialog.close();
        }
    });
}

/// Asks an admin why a tool is to be disabled for everyone.
#[component]
pub(crate) fn DisableDialog() -> impl IntoView {
    let app = use_app();
    let dialog = NodeRef::<Dialog>::new();
    follow_open(dialog, move || app.disabling.with(Option::is_some));
    view! {
        <dialog class="dialog" node_ref=dialog aria-labelledby="disable-title" on:close=move |_| app.disabling.set(None)>
            {move || app.disabling.get().map(|tool| view! { <DisableForm tool /> }.into_any())}
        </dialog>
    }
}

#[component]
fn DisableForm(tool: Arc<Tool>) -> impl IntoView {
    let app = use_app();
    let name = tool.name.clone();
    // The tool as it was decided on; after a conflict, as it is now.
    let decided = RwSignal::new(tool);
    let reason = RwSignal::new(String::new());
    let conflict = RwSignal::new(None::<String>);
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let length = move || reason.with(|reason| reason.chars().count());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let text = reason.get_untracked().trim().to_owned();
        if text.is_empty() {
            mistake.set(Some("Say why, so that others know what to do.".to_owned()));
            focus_by_id("reason");
            return;
        }
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        mistake.set(None);
        spawn_local(async move {
            let tool = decided.get_untracked();
            match app.disable(&tool, text).await {
                Ok(()) => app.disabling.set(None),
                Err((_, Some(now))) => {
                    conflict.try_set(Some(changed_meanwhile(&now)));
                    decided.try_set(Arc::new(now));
                    busy.try_set(false);
                }
                Err((problem, None)) => {
                    let beside = problem.errors.first().map(|error| error.message.clone());
                    mistake.try_set(Some(beside.unwrap_or(problem.detail)));
                    busy.try_set(false);
                    focus_by_id("reason");
                }
            }
        });
    };
    let already = move || decided.with(|tool| tool.disabled.is_some());
    view! {
        <form on:submit=submit novalidate>
            <h2 id="disable-title">"Disable "<code>{name}</code>" for everyone"</h2>
            <p class="sub">"It leaves every profile and every connected agent at once, and calls to it are refused. You can enable it again at any time."</p>
            {move || conflict.get().map(|text| view! {
                <div class="notice warn" role="alert"><Icon name="alert" /><p>{text}</p></div>
            })}
            <div class="field">
                <label for="reason">"Reason"</label>
                <textarea
                    class="textarea"
                    id="reason"
                    rows="3"
                    maxlength=REASON_MAX.to_string()
                    required
                    autofocus
                    aria-invalid=move || mistake.with(Option::is_some).then_some("true")
                    aria-describedby="reason-hint reason-mistake"
                    prop:value=move || reason.get()
                    on:input=move |event| reason.set(event_target_value(&event))
                ></textarea>
                <p class="hint" id="reason-hint">{move || format!("Everyone can read it. {} of {REASON_MAX} characters.", length())}</p>
                <p class="error" id="reason-mistake" role="alert">{move || mistake.get()}</p>
            </div>
            <div class="dialog-actions">
                <button class="btn" type="button" on:click=move |_| app.disabling.set(None)>"Cancel"</button>
                <button class="btn danger solid" disabled=move || busy.get()>
                    {move || if already() { "Replace the reason" } else { "Disable for everyone" }}
                </button>
            </div>
        </form>
    }
}

/// Lists the keys.
#[component]
pub(crate) fn KeysDialog(open: RwSignal<bool>) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    follow_open(dialog, move || open.get());
    let keys: [(&[&str], &str); 12] = [
        (&["/"], "Filter the tools"),
        (&["↑", "↓"], "Move through the list"),
        (&["Home", "End"], "First and last tool"),
        (&["Enter"], "Open the tool"),
        (&["Tab"], "From a tool to its switch"),
        (&["Space"], "Turn the switch, or tick the tool in an open profile"),
        (&["Ctrl", "Z"], "Undo the last change to a profile"),
        (&["Ctrl", "⇧", "Z"], "Do it again"),
        (&["Ctrl", "Click"], "Open in a new tab"),
        (&["Ctrl", "Enter"], "Run, while trying a tool"),
        (&["Esc"], "Clear the filter, or close what is open"),
        (&["?"], "Show this list"),
    ];
    let rows = keys.map(|(keys, text)| {
        view! { <div><dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dt><dd>{text}</dd></div> }
    });
    view! {
        <dialog class="dialog" node_ref=dialog aria-labelledby="keys-title" on:close=move |_| open.set(false)>
            <div class="dialog-head">
                <h2 id="keys-title">"Keyboard"</h2>
                <button class="btn ghost square small" type="button" aria-label="Close" on:click=move |_| open.set(false)><Icon name="close" /></button>
            </div>
            <dl class="keys">{rows.collect_view()}</dl>
        </dialog>
    }
}
