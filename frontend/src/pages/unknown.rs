//! An address that the app does not know.

use leptos::prelude::*;

/// Says so, and leads to a place that exists.
#[component]
pub(crate) fn UnknownPage() -> impl IntoView {
    view! {
        <main class="content" id="main" tabindex="-1">
            <div class="state">
                <h1>"There is no such page"</h1>
                <p class="sub">"The address may be mistyped, or the page may have moved."</p>
                <a class="btn primary" href="/functions">"Go to Functions"</a>
            </div>
        </main>
    }
}
