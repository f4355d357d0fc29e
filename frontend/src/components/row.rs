//! One tool in the list.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::Tool;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::shelf::has_badges;
use toolshelf_frontend::model::text::{summary, thousands};
use web_sys::MouseEvent;

use super::{Badges, Icon};
use crate::state::use_app;

/// A row that is in view: the tool, and its place in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DrawnRow {
    pub(crate) name: String,
    /// From 1.
    pub(crate) position: usize,
}

/// A row: the name is a link that covers it; admins have a switch beside.
#[component]
pub(crate) fn Row(
    name: String,
    /// Its place in the group, from 1.
    position: Signal<usize>,
    /// How many rows the group shows.
    size: Signal<usize>,
) -> AnyView {
    let app = use_app();
    let tool = app.tool(name.clone());
    let with = move |read: fn(&Tool) -> bool| tool.with(|tool| tool.as_deref().is_some_and(read));
    let disabled = Memo::new(move |_| with(|tool| tool.disabled.is_some()));
    let badges = Memo::new(move |_| with(has_badges));
    let is_open = {
        let name = name.clone();
        Memo::new(move |_| app.route.with(|route| route.tool() == Some(name.as_str())))
    };
    let is_active = {
        let name = name.clone();
        Memo::new(move |_| app.active.with(|active| active.as_ref() == Some(&name)))
    };
    let tab = move || if is_active.get() { "0" } else { "-1" };
    let href = Route::Functions { tool: Some(name.clone()) }.path();
    let open = {
        let name = name.clone();
        move |event: MouseEvent| {
            app.active.set(Some(name.clone()));
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                app.open(Some(name.clone()));
            }
        }
    };
    let focused = {
        let name = name.clone();
        move |_| app.active.set(Some(name.clone()))
    };
    let tick_name = name.clone();
    let switch =
        app.is_admin().then(|| view! { <Switch name=name.clone() tool disabled tab=Signal::derive(tab) /> });
    let description = move || tool.with(|tool| tool.as_deref().map(|tool| summary(&tool.description)));
    let tokens = move || tool.with(|tool| tool.as_deref().map(|tool| thousands(u64::from(tool.tokens))));
    view! {
        <li
            class="row"
            class:off=move || disabled.get()
            class:open=move || is_open.get()
            class:badged=move || badges.get()
            data-testid="tool-row"
            data-tool=name.clone()
            aria-posinset=move || position.get().to_string()
            aria-setsize=move || size.get().to_string()
        >
            <a
                class="row-link"
                id=format!("row-{name}")
                href=href
                title=name.clone()
                tabindex=tab
                aria-current=move || is_open.get().then_some("true")
                aria-describedby=format!("about-{name}")
                on:click=open
                on:focus=focused
            >
                {name.clone()}
            </a>
            <span class="row-text" id=format!("about-{name}")>{description}</span>
            <span class="row-badges">{move || tool.get().map(|tool| view! { <Badges tool /> })}</span>
            <span class="row-tokens num">{tokens}<span class="visually-hidden">" tokens"</span></span>
            {move || app.profiles.open.with(Option::is_some).then(|| {
                let name = tick_name.clone();
                view! { <Tick name tab=Signal::derive(tab) /> }
            })}
            {switch}
        </li>
    }
    .into_any()
}

/// Whether the tool is in the open profile.
#[component]
fn Tick(name: String, tab: Signal<&'static str>) -> AnyView {
    let app = use_app();
    let label = format!("{name} is in the profile");
    let (asked, turned) = (name.clone(), name);
    let is_in =
        Memo::new(move |_| app.profiles.current().is_some_and(|profile| profile.tools.contains(&asked)));
    let locked = move || app.profiles.current().is_none_or(|profile| !profile.can_edit);
    let turn = move |_| {
        let names = vec![turned.clone()];
        if is_in.get_untracked() { app.remove_tools(names) } else { app.add_tools(names) }
    };
    view! {
        <button
            class="tick"
            type="button"
            role="checkbox"
            aria-label=label
            aria-checked=move || if is_in.get() { "true" } else { "false" }
            disabled=locked
            tabindex=move || tab.get()
            on:click=turn
        >
            <Icon name="check" />
        </button>
    }
    .into_any()
}

#[component]
fn Switch(
    name: String,
    tool: Memo<Option<Arc<Tool>>>,
    disabled: Memo<bool>,
    tab: Signal<&'static str>,
) -> AnyView {
    let app = use_app();
    let label = format!("{name} is enabled for everyone");
    let turn = move |_| match tool.get_untracked() {
        Some(now) if now.disabled.is_some() => app.enable(&now),
        Some(now) => app.ask_to_disable(&now.name),
        None => {}
    };
    view! {
        <button
            class="switch"
            type="button"
            role="switch"
            aria-label=label
            aria-checked=move || if disabled.get() { "false" } else { "true" }
            title=move || if disabled.get() { "Enable again" } else { "Disable for everyone" }
            tabindex=move || tab.get()
            on:click=turn
        >
            <span class="switch-knob"></span>
        </button>
    }
    .into_any()
}
