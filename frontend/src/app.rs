//! Starts the app and lays out its frame.

use leptos::ev;
use leptos::mount::mount_to;
use leptos::prelude::*;
use toolshelf_api::Boot;
use toolshelf_frontend::model::route::Route;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::components::{
    DisableDialog, KeysDialog, Nav, PasswordDialog, ProfileDialog, ServerDialog, ToastList, focus_by_id,
};
use crate::pages::{ChatPage, ExplainPage, FunctionsPage, UnknownPage, UpstreamsPage};
use crate::state::App;

/// Phones, as in the style sheets.
const NARROW: &str = "(max-width: 760px)";

/// Replaces the skeleton by the app. Without a readable boot document the skeleton's message stays.
pub(crate) fn start() {
    let Some(root) = document().get_element_by_id("app").and_then(|root| root.dyn_into::<HtmlElement>().ok())
    else {
        return;
    };
    let boot = document().get_element_by_id("boot").and_then(|boot| boot.text_content()).unwrap_or_default();
    let Ok(boot) = serde_json::from_str::<Boot>(&boot) else {
        if let Some(message) = document().get_element_by_id("load-failed") {
            let _ = message.remove_attribute("hidden");
        }
        return;
    };
    let icons = root.dataset().get("icons").unwrap_or_default();
    root.set_text_content(None);
    mount_to(root, move || view! { <Shell boot icons /> }).forget();
}

/// The kinds of pages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    Functions,
    Chat,
    Upstreams,
    Explain,
    Unknown,
}

#[component]
fn Shell(boot: Boot, icons: String) -> impl IntoView {
    let app = App::new(boot, icons);
    provide_context(app);
    follow_width(app);
    let help = RwSignal::new(false);
    listen_to_keys(app, help);
    Effect::new(move |_| {
        let title = match app.route.get() {
            Route::Functions { tool: Some(name) } | Route::Upstreams { name: Some(name) } => {
                format!("{name} · Toolshelf")
            }
            Route::Functions { tool: None } => match app.profiles.open.get() {
                Some(profile) => format!("{profile} · Toolshelf"),
                None => "Functions · Toolshelf".to_owned(),
            },
            Route::Chat { .. } => "Chat · Toolshelf".to_owned(),
            Route::Upstreams { name: None } => "Servers · Toolshelf".to_owned(),
            Route::Explain { tool: Some(name), .. } => format!("Why {name}? · Toolshelf"),
            Route::Explain { tool: None, .. } => "Explain · Toolshelf".to_owned(),
            Route::Unknown => "Not found · Toolshelf".to_owned(),
        };
        document().set_title(&title);
    });
    // Only another kind of place draws another page.
    let page = Memo::new(move |_| {
        app.route.with(|route| match route {
            Route::Functions { .. } => Page::Functions,
            Route::Chat { .. } => Page::Chat,
            Route::Upstreams { .. } => Page::Upstreams,
            Route::Explain { .. } => Page::Explain,
            Route::Unknown => Page::Unknown,
        })
    });
    view! {
        <a class="skip" href="#main">"Skip to content"</a>
        <div class="frame">
            <Nav />
            {move || match page.get() {
                Page::Functions => view! { <FunctionsPage help /> }.into_any(),
                Page::Chat => view! { <ChatPage /> }.into_any(),
                Page::Upstreams => view! { <UpstreamsPage /> }.into_any(),
                Page::Explain => view! { <ExplainPage /> }.into_any(),
                Page::Unknown => view! { <UnknownPage /> }.into_any(),
            }}
        </div>
        <DisableDialog />
        <ProfileDialog />
        <ServerDialog />
        <PasswordDialog />
        <KeysDialog open=help />
        <ToastList />
    }
}

fn follow_width(app: App) {
    let Some(query) = window().match_media(NARROW).ok().flatten() else { return };
    app.narrow.set(query.matches());
    let handle = window_event_listener(ev::resize, move |_| {
        if app.narrow.get_untracked() != query.matches() {
            app.narrow.set(query.matches());
        }
    });
    on_cleanup(move || handle.remove());
}

/// The keys that work anywhere on the page.
fn listen_to_keys(app: App, help: RwSignal<bool>) {
    let handle = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
        let dialog = document().query_selector("dialog[open], [popover]:popover-open").ok().flatten();
        if event.default_prevented() || dialog.is_some() {
            return;
        }
        if event.key() == "Escape" {
            if app.route.with_untracked(|route| route.tool().is_some()) {
                event.prevent_default();
                app.open(None);
            } else if app.route.with_untracked(|route| matches!(route, Route::Upstreams { name: Some(_) })) {
                event.prevent_default();
                app.open_server(None);
            }
            return;
        }
        if is_editing(&event) {
            return;
        }
        if (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("z") {
            if app.profiles.open.with_untracked(Option::is_some) {
                event.prevent_default();
                if event.shift_key() { app.redo() } else { app.undo() }
            }
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "/" => {
                event.prevent_default();
                focus_by_id("filter");
            }
            "?" => help.set(true),
            _ => {}
        }
    });
    on_cleanup(move || handle.remove());
}

/// Whether the key goes into a field.
fn is_editing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT"))
}
