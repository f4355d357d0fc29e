//! The list of profiles. On phones it is a popover behind a button.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::Profile;
use toolshelf_frontend::model::text::thousands;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, MouseEvent};

use crate::components::Icon;
use crate::components::menu::{close as close_menu, focus_first, move_in, place_below};
use crate::state::{Ask, Load, use_app};

/// How a profile is called: `default` is every tool.
pub(crate) fn title(name: &str) -> &str {
    if name == "default" { "All tools" } else { name }
}

/// The list of profiles, `default` first.
#[component]
pub(crate) fn Sidebar() -> AnyView {
    let app = use_app();
    let filter = RwSignal::new(String::new());
    let shown = move || {
        let filter = filter.with(|filter| filter.trim().to_lowercase());
        app.profiles.list.with(|list| {
            let matches = |profile: &&Arc<Profile>| title(&profile.name).to_lowercase().contains(&filter);
            list.iter().filter(matches).cloned().collect::<Vec<_>>()
        })
    };
    let many = move || app.profiles.list.with(|list| list.len() > 8);
    let failed = move || match app.profiles.load.get() {
        Load::Current => None,
        Load::Failed(sentence) => Some(view! {
            <div class="notice bad" role="alert">
                <p>{sentence}</p>
                <button class="btn small" type="button" on:click=move |_| app.load_profiles()>"Retry"</button>
            </div>
        }),
    };
    view! {
        <aside class="profiles" id="profiles" popover="auto" aria-label="Profiles">
            <header class="profiles-head">
                <h2>"Profiles"</h2>
                <button
                    class="btn small"
                    type="button"
                    on:click=move |_| {
                        close();
                        app.profiles.ask.set(Some(Ask::New { from: "default".to_owned() }));
                    }
                >
                    <Icon name="plus" />"New"
                </button>
            </header>
            {failed}
            {move || many().then(|| view! {
                <input
                    class="input"
                    type="text"
                    inputmode="search"
                    autocomplete="off"
                    placeholder="Filter profiles"
                    aria-label="Filter profiles"
                    prop:value=move || filter.get()
                    on:input=move |event| filter.set(event_target_value(&event))
                />
            })}
            <ul role="list">
                <For each=shown key=|profile| profile.name.clone() children=move |profile| view! { <Entry name=profile.name.clone() /> } />
            </ul>
            {move || (app.profiles.known.get() && app.profiles.list.with(|list| list.len() == 1)).then(|| view! {
                <p class="sub profiles-none">"A profile is a named set of tools. Make one for each kind of work, and pick it in a conversation."</p>
            })}
        </aside>
    }
    .into_any()
}

#[component]
fn Entry(name: String) -> AnyView {
    let app = use_app();
    let is_default = name == "default";
    let profile = {
        let name = name.clone();
        Memo::new(move |_| {
            app.profiles.list.with(|list| list.iter().find(|profile| profile.name == name).cloned())
        })
    };
    let is_open = {
        let name = name.clone();
        move || app.profiles.open.with(|open| open.as_deref().unwrap_or("default") == name)
    };
    let open = {
        let name = name.clone();
        move |event: MouseEvent| {
            if event.ctrl_key() || event.meta_key() || event.shift_key() {
                return;
            }
            event.prevent_default();
            close();
            app.open_profile((name != "default").then(|| name.clone()));
        }
    };
    let href = if is_default {
        "/functions".to_owned()
    } else {
        let escaped: String = js_sys::encode_uri_component(&name).into();
        format!("/functions?profile={escaped}")
    };
    let figures = move || {
        profile.with(|profile| {
            let profile = profile.as_ref()?;
            let count = profile.tools.len() as u64;
            let word = if count == 1 { "tool" } else { "tools" };
            Some(format!("{} {word} · ≈ {} tokens", thousands(count), thousands(profile.tokens.into())))
        })
    };
    let shown = title(&name).to_owned();
    let tip = shown.clone();
    let marks = {
        let name = name.clone();
        move || {
            let own = app.profiles.start.with(|start| start.as_ref() == Some(&name));
            let everybodys = app.profiles.active.with(|active| *active == name && name != "default");
            let mark = |text: &'static str, title: &'static str| view! { <span class="badge info" title=title><span>{text}</span></span> };
            view! {
                {own.then(|| mark("yours", "Your new conversations start with it."))}
                {everybodys.then(|| mark("workspace", "New conversations start with it, unless somebody chose otherwise."))}
            }
        }
    };
    view! {
        <li class="profile-row">
            <a class="profile" href=href title=tip aria-current=move || is_open().then_some("true") on:click=open>
                <span class="profile-name"><span>{shown}</span>{is_default.then(|| view! { <Icon name="lock" /> })}</span>
                <span class="profile-figures num">{figures}</span>
                <span class="profile-marks">{marks}</span>
            </a>
            <Actions name profile />
        </li>
    }
    .into_any()
}

/// What can be done with a profile.
#[component]
fn Actions(name: String, profile: Memo<Option<Arc<Profile>>>) -> AnyView {
    let app = use_app();
    // Ids hold no spaces, and names may.
    let escaped: String = js_sys::encode_uri_component(&name).into();
    let (button, menu) = (format!("of-{escaped}"), format!("menu-of-{escaped}"));
    let is_default = name == "default";
    let own = {
        let name = name.clone();
        move || app.profiles.start.with(|start| start.as_ref() == Some(&name))
    };
    let can_edit = move || profile.with(|profile| profile.as_ref().is_some_and(|profile| profile.can_edit));
    let item = {
        let (button, menu) = (button.clone(), menu.clone());
        move |label: &'static str, to: fn(Arc<Profile>) -> Ask| {
            let (button, menu) = (button.clone(), menu.clone());
            let ask = move |_| {
                close_menu(&menu, &button);
                close();
                app.profiles.ask.set(profile.get_untracked().map(to));
            };
            view! { <button class="item plain" type="button" role="menuitem" tabindex="-1" on:click=ask>{label}</button> }.into_any()
        }
    };
    let clone = |profile: Arc<Profile>| Ask::New { from: profile.name.clone() };
    let (from, over, first, keyed) =
        (button.clone(), menu.clone(), menu.clone(), (menu.clone(), button.clone()));
    let closing = keyed.clone();
    let shown = title(&name).to_owned();
    view! {
        <button
            class="btn ghost square small profile-more"
            type="button"
            id=button
            popovertarget=menu.clone()
            aria-haspopup="menu"
            aria-label=format!("More about {}", title(&name))
            on:click=move |_| place_below(&from, &over)
        >
            <Icon name="more" />
        </button>
        <div class="over menu" id=menu popover="auto" role="menu" aria-label=shown
            on:toggle=move |_| focus_first(&first)
            on:keydown=move |event: KeyboardEvent| match event.key().as_str() {
                "Tab" => close_menu(&keyed.0, &keyed.1),
                _ => move_in(&event, "[role=menuitem]"),
            }
        >
            {move || {
                let item = item.clone();
                let edit = can_edit();
                let (is_own, mine, everybodys) = (own(), name.clone(), name.clone());
                let act = |label: &'static str, act: Callback<()>| {
                    let (menu, button) = closing.clone();
                    view! { <button class="item plain" type="button" role="menuitem" tabindex="-1" on:click=move |_| { close_menu(&menu, &button); act.run(()); }>{label}</button> }.into_any()
                };
                let starts = if is_own {
                    act("Start as the workspace says", Callback::new(move |()| app.set_start(None)))
                } else {
                    act("Start my conversations with it", Callback::new(move |()| app.set_start(Some(mine.clone()))))
                };
                let active = app.is_admin().then(|| act("Make it the workspace default", Callback::new(move |()| app.set_active(everybodys.clone()))));
                view! {
                    {edit.then(|| item("Rename", Ask::Rename))}
                    {item("Clone", clone)}
                    {(!is_default).then(|| item("History", Ask::History))}
                    {starts}
                    {active}
                    {edit.then(|| item("Delete", Ask::Delete))}
                }
            }}
        </div>
    }
    .into_any()
}

/// Closes the popover of phones.
fn close() {
    if let Some(list) =
        document().get_element_by_id("profiles").and_then(|list| list.dyn_into::<HtmlElement>().ok())
    {
        // Fails where it is no open popover, and then there is nothing to close.
        let _ = list.hide_popover();
    }
}
