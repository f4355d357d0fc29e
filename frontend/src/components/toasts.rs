//! The messages in the corner.

use leptos::prelude::*;

use super::Icon;
use crate::state::{Toast, use_app};

/// All messages on show, and the sign that the stream is down.
#[component]
pub(crate) fn ToastList() -> impl IntoView {
    let app = use_app();
    let toasts = app.toasts;
    view! {
        <div
            class="toasts"
            on:mouseenter=move |_| toasts.held.set(true)
            on:mouseleave=move |_| toasts.held.set(false)
            on:focusin=move |_| toasts.held.set(true)
            on:focusout=move |_| toasts.held.set(false)
        >
            <div role="status" aria-live="polite" class="toasts-live">
                <For each=move || toasts.list() key=|toast| toast.id children=move |toast| view! { <ToastView toast /> } />
                {move || app.cut_off.get().then(|| view! {
                    <p class="toast reconnecting"><span class="pulse" aria-hidden="true"></span>"Reconnecting…"</p>
                })}
            </div>
        </div>
    }
}

#[component]
fn ToastView(toast: Toast) -> AnyView {
    let toasts = use_app().toasts;
    let id = toast.id;
    let act = toast.act.map(|(label, act)| {
        let run = move |_| {
            toasts.dismiss(id);
            act();
        };
        view! { <button class="btn small" type="button" on:click=run>{label}</button> }
    });
    let icon = if toast.bad { "alert" } else { "check" };
    view! {
        <div class="toast" class:bad=toast.bad>
            <Icon name=icon />
            <p>{toast.text}</p>
            {act}
            <button class="btn small ghost square" type="button" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                <Icon name="close" />
            </button>
        </div>
    }
    .into_any()
}
