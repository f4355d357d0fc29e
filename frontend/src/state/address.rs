//! The address bar: which tool is open, and the filter.

use leptos::ev;
use leptos::prelude::*;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::shelf::Show;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::app::App;

/// What an address says.
pub(crate) struct Start {
    pub(crate) route: Route,
    pub(crate) query: String,
    pub(crate) show: Show,
    /// The profile that is open beside the catalog.
    pub(crate) profile: Option<String>,
}

/// Reads the address.
pub(crate) fn read() -> Start {
    let location = window().location();
    let search = location.search().unwrap_or_default();
    let values = UrlSearchParams::new_with_str(&search).ok();
    let value = |name: &str| values.as_ref().and_then(|values| values.get(name)).unwrap_or_default();
    let mut route = Route::parse(&location.pathname().unwrap_or_default());
    if let Route::Explain { tool, place } = &mut route {
        *place = value("in");
        if tool.is_none() {
            *tool = Some(value("tool")).filter(|name| !name.is_empty());
        }
    }
    Start {
        route,
        query: value("q"),
        show: Show::parse(&value("show")),
        profile: Some(value("profile")).filter(|name| !name.is_empty()),
    }
}

/// Keeps the address and the state alike.
pub(crate) fn follow(app: App) {
    let handle = window_event_listener(ev::popstate, move |_| {
        // The filter stays through back and forward: it belongs to the page and not to the step.
        let now = read();
        app.route.set(now.route);
        app.profiles.open.set(now.profile);
        replace(app);
    });
    on_cleanup(move || handle.remove());
    Effect::new(move |before: Option<()>| {
        app.query.track();
        app.show.track();
        if before.is_some() {
            replace(app);
        }
    });
}

/// Goes to a place, so that Back leads here again.
pub(crate) fn push(app: App, route: &Route) {
    if let Ok(history) = window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&address(app, route)));
    }
}

/// Makes the address say what is shown, without a step back to what it said before.
pub(crate) fn replace(app: App) {
    let route = app.route.get_untracked();
    if route == Route::Unknown {
        return;
    }
    if let Ok(history) = window().history() {
        // Browsers refuse too many of these in a short time; the address is then a little behind.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address(app, &route)));
    }
}

/// The address of a place, with the filter.
pub(crate) fn address(app: App, route: &Route) -> String {
    let mut address = route.path();
    if let Route::Explain { place, .. } = route
        && !place.is_empty()
    {
        let place: String = js_sys::encode_uri_component(place).into();
        return format!("{address}?in={place}");
    }
    if !matches!(route, Route::Functions { .. }) {
        return address;
    }
    let Ok(values) = UrlSearchParams::new() else { return address };
    app.query.with_untracked(|query| {
        if !query.is_empty() {
            values.set("q", query);
        }
    });
    app.profiles.open.with_untracked(|open| {
        if let Some(name) = open {
            values.set("profile", name);
        }
    });
    let show = app.show.get_untracked();
    if show != Show::All {
        values.set("show", show.as_str());
    }
    let values: String = values.to_string().into();
    if !values.is_empty() {
        address.push('?');
        address.push_str(&values);
    }
    address
}
