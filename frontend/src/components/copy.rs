//! A button that copies a text.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::Icon;
use crate::state::use_app;

/// Copies what `text` gives at the time of the click.
#[component]
pub(crate) fn Copy(
    /// What is copied, for the button's name.
    what: &'static str,
    #[prop(into)] text: Signal<String>,
) -> AnyView {
    let app = use_app();
    let copied = RwSignal::new(false);
    let copy = move |_| {
        // Without a secure context there is no clipboard, whatever the bindings say.
        let navigator = window().navigator();
        if js_sys::Reflect::get(&navigator, &"clipboard".into())
            .is_ok_and(|clipboard| clipboard.is_undefined())
        {
            app.toasts.warn(
                "The browser allows copying only over https or on this machine. Select the text instead.",
            );
            return;
        }
        let done = navigator.clipboard().write_text(&text.get_untracked());
        spawn_local(async move {
            if JsFuture::from(done).await.is_ok() {
                copied.try_set(true);
                let reset = move || {
                    copied.try_set(false);
                };
                set_timeout(reset, Duration::from_secs(2));
            } else {
                app.toasts.warn("The browser refused to copy. Select the text instead.");
            }
        });
    };
    view! {
        <button class="btn small ghost" type="button" aria-label=format!("Copy {what}") on:click=copy>
            {move || if copied.get() { view! { <Icon name="check" /> } } else { view! { <Icon name="copy" /> } }}
            <span aria-live="polite">{move || if copied.get() { "Copied" } else { "Copy" }}</span>
        </button>
    }
    .into_any()
}
