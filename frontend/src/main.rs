//! The browser app.
use leptos::prelude::*;

fn main() {
    leptos::mount::mount_to_body(|| view! { <p>"Toolshelf"</p> });
}
