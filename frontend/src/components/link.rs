//! Links within the app, which keep its state.

use leptos::prelude::*;
use toolshelf_frontend::model::route::Route;
use web_sys::MouseEvent;

use crate::state::{App, use_app};

/// What a click on a link to a place does. With a modifier the browser does what it always does.
pub(crate) fn goes_to(app: App, route: Route) -> Box<dyn Fn(MouseEvent)> {
    Box::new(move |event| {
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            app.go(route.clone());
        }
    })
}

/// A link to a place in the app.
#[component]
pub(crate) fn Go(
    route: Route,
    #[prop(optional)] class: &'static str,
    #[prop(optional)] title: Option<String>,
    children: Children,
) -> AnyView {
    let app = use_app();
    let href = app.address(&route);
    view! { <a class=class title=title href=href on:click=goes_to(app, route)>{children()}</a> }.into_any()
}
