//! Times of the API as people read them.

use leptos::prelude::*;

/// A time in the person's zone and language.
pub(crate) fn local_time(time: &str) -> String {
    let date = js_sys::Date::new(&time.into());
    if date.get_time().is_nan() {
        return time.to_owned();
    }
    let style = js_sys::Object::new();
    for (part, length) in [("dateStyle", "medium"), ("timeStyle", "short")] {
        let _ = js_sys::Reflect::set(&style, &part.into(), &length.into());
    }
    date.to_locale_string("default", &style).into()
}

/// A time, which programs can read too.
#[component]
pub(crate) fn Time(at: String) -> AnyView {
    let shown = local_time(&at);
    view! { <time datetime=at>{shown}</time> }.into_any()
}
