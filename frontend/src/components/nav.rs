//! The top bar and the navigation, as in the server's nav.html: keep them alike.

use leptos::prelude::*;
use toolshelf_api::Role;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::text::thousands;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, MouseEvent};

use super::Icon;
use super::link::goes_to;
use crate::state::{Theme, Themes, use_app};

/// The navigation; a popover behind the top bar's button on phones.
#[component]
pub(crate) fn Nav() -> impl IntoView {
    let app = use_app();
    let (username, role) = app.me.with_value(|me| (me.username.clone(), me.role));
    let shown_name = username.clone();
    let csrf = app.me.with_value(|me| me.csrf_token.clone().unwrap_or_default());
    let role = if role == Role::Admin { "admin" } else { "user" };
    let total = Memo::new(move |_| app.catalog.with(|catalog| catalog.tools().len()));
    let on_shelf = move || app.route.with(|route| matches!(route, Route::Functions { .. }));
    let in_chat = move || app.route.with(|route| matches!(route, Route::Chat { .. }));
    let at_servers = move || app.route.with(|route| matches!(route, Route::Upstreams { .. }));
    let explains = move || app.route.with(|route| matches!(route, Route::Explain { .. }));
    let click = move |route: Route| {
        let go = goes_to(app, route);
        move |event: MouseEvent| {
            go(event.clone());
            // What went elsewhere left the page as it is, and its menu too.
            if event.default_prevented() {
                close_menu();
            }
        }
    };
    let home = move || click(Route::Functions { tool: None });
    let link = move |route: Route,
                     here: Signal<bool>,
                     icon: &'static str,
                     text: &'static str,
                     count: AnyView| {
        let href = route.path();
        view! {
            <a class="side-link" href=href aria-current=move || here.get().then_some("page") on:click=click(route)><Icon name=icon />{text}{count}</a>
        }
        .into_any()
    };
    // Admins see from everywhere that something waits for them.
    let waiting = move || {
        let waiting: u64 =
            app.upstreams.list.with(|list| list.iter().map(|server| server.change_count).sum());
        (app.is_admin() && waiting > 0).then(|| view! { <span class="count badge warn">{thousands(waiting)}<span class="visually-hidden">" changes wait"</span></span> })
    };
    let version = app.version.get_value();
    view! {
        <header class="topbar">
            <a class="brand" href="/functions" on:click=home()><Icon name="mark" />"Toolshelf"</a>
            <button class="btn ghost square" type="button" popovertarget="menu" aria-label="Menu"><Icon name="menu" /></button>
        </header>
        <nav class="side" id="menu" popover="auto" aria-label="Main">
            <a class="brand" href="/functions" on:click=home() title=format!("Toolshelf {version}")><Icon name="mark" />"Toolshelf"</a>
            {link(Route::Functions { tool: None }, Signal::derive(on_shelf), "shelf", "Functions", view! { <span class="count">{move || thousands(total.get() as u64)}</span> }.into_any())}
            {link(Route::Chat { id: None }, Signal::derive(in_chat), "talk", "Chat", ().into_any())}
            {link(Route::Upstreams { name: None }, Signal::derive(at_servers), "plug", "Servers", waiting.into_any())}
            {link(Route::Explain { tool: None, place: String::new() }, Signal::derive(explains), "why", "Explain", ().into_any())}
            <a class="side-link" href="/keys"><Icon name="key" />"API keys"</a>
            {app.is_admin().then(|| view! {
                <h2>"Admin"</h2>
                <a class="side-link" href="/people"><Icon name="people" />"People"</a>
            })}
            <div class="side-gap"></div>
            <div class="account">
                <p class="account-who"><b title=username>{shown_name}</b><span>{role}</span></p>
                <div class="account-row">
                    <form method="post" action="/logout">
                        <input type="hidden" name="csrf_token" value=csrf />
                        <button class="btn ghost small"><Icon name="out" />"Sign out"</button>
                    </form>
                    <ThemeChoice />
                </div>
            </div>
        </nav>
    }
}

/// Closes the menu of phones, which a link within the app would leave open.
fn close_menu() {
    if let Some(menu) =
        document().get_element_by_id("menu").and_then(|menu| menu.dyn_into::<HtmlElement>().ok())
    {
        // Fails where the menu is no open popover, and then there is nothing to close.
        let _ = menu.hide_popover();
    }
}

#[component]
fn ThemeChoice() -> impl IntoView {
    let themes = Themes::new();
    let button = move |theme: Theme, label: &'static str, icon: &'static str| {
        view! {
            <button
                type="button"
                aria-label=label
                title=label
                aria-pressed=move || if themes.is(theme) { "true" } else { "false" }
                on:click=move |_| themes.choose(theme)
            >
                <Icon name=icon />
            </button>
        }
    };
    view! {
        <div class="themes" role="group" aria-label="Theme">
            {button(Theme::System, "Theme of the system", "screen")}
            {button(Theme::Light, "Light theme", "sun")}
            {button(Theme::Dark, "Dark theme", "moon")}
        </div>
    }
}
