//! The keyboard in the list: one row is reached by Tab, the arrows move to the others.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::state::App;

/// Rows that Page Up and Page Down move by.
const PAGE: usize = 10;

/// Focuses an element, if it is there.
pub(crate) fn focus_by_id(id: &str) {
    if let Some(element) =
        document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok())
    {
        let _ = element.focus();
    }
}

/// Scrolls so that an element begins at the top of what is seen, if it is there.
pub(crate) fn show_by_id(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.scroll_into_view();
    }
}

/// Brings a row into view and focuses it.
pub(crate) fn focus_row(app: App, name: &str) {
    app.active.set(Some(name.to_owned()));
    app.wanted.set(Some(name.to_owned()));
}

/// The group and row of a tool, if the filter shows it.
pub(crate) fn place_of(app: App, name: &str) -> Option<(usize, usize)> {
    app.view.with_untracked(|view| {
        app.catalog.with_untracked(|catalog| {
            let is_it = |place: usize| catalog.tools().get(place).is_some_and(|tool| tool.name == name);
            view.rows().find(|(_, _, place)| is_it(*place)).map(|(group, row, _)| (group, row))
        })
    })
}

/// Moves the active row.
pub(crate) fn move_by_key(app: App, event: &KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let names: Vec<String> = shown_names(app);
    let Some(last) = names.len().checked_sub(1) else { return };
    let active = app.active.get_untracked();
    let now = names.iter().position(|name| Some(name) == active.as_ref()).unwrap_or(0);
    let on_link = event_target::<web_sys::Element>(event).tag_name() == "A";
    if event.key() == " " && on_link && app.profiles.open.with_untracked(Option::is_some) {
        event.prevent_default();
        if let Some(name) = active {
            let is_in = app.profiles.members().is_some_and(|members| members.tools.contains(&name));
            if is_in { app.remove_tools(vec![name]) } else { app.add_tools(vec![name]) }
        }
        return;
    }
    let next = match event.key().as_str() {
        "ArrowDown" => (now + 1).min(last),
        "ArrowUp" if now == 0 => {
            event.prevent_default();
            return focus_by_id("filter");
        }
        "ArrowUp" => now - 1,
        "PageDown" => (now + PAGE).min(last),
        "PageUp" => now.saturating_sub(PAGE),
        "Home" => 0,
        "End" => last,
        _ => return,
    };
    event.prevent_default();
    focus_row(app, &names[next]);
}

/// Sees to it that one row that is shown can be reached by Tab.
pub(crate) fn keep_active_row(app: App) {
    Effect::new(move |_| {
        let first = app.view.with(|view| view.rows().next().map(|(_, _, place)| place));
        let active = app.active.get_untracked();
        let still_shown = active.as_ref().is_some_and(|name| place_of(app, name).is_some());
        if !still_shown {
            let name = first.and_then(|place| {
                app.catalog.with_untracked(|catalog| catalog.tools().get(place).map(|tool| tool.name.clone()))
            });
            app.active.set(name);
        }
    });
}

/// Gives the focus back to the row whose tool was open.
pub(crate) fn return_focus(app: App) {
    Effect::new(move |before: Option<Option<String>>| {
        let open = app.route.with(|route| route.tool().map(str::to_owned));
        if let (Some(Some(name)), None) = (before, &open) {
            focus_row(app, &name);
        }
        open
    });
}

fn shown_names(app: App) -> Vec<String> {
    app.view.with_untracked(|view| {
        app.catalog.with_untracked(|catalog| {
            view.rows()
                .filter_map(|(_, _, place)| catalog.tools().get(place))
                .map(|tool| tool.name.clone())
                .collect()
        })
    })
}
