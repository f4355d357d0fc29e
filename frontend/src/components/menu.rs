//! Menus in the browser's top layer: where they stand, and their keys.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

/// Puts a popover above the button that opens it. It is in the browser's top layer, so nothing cuts it off.
pub(crate) fn place_above(button: &str, popover: &str) {
    let find =
        |id: &str| document().get_element_by_id(id).and_then(|found| found.dyn_into::<HtmlElement>().ok());
    let (Some(button), Some(popover)) = (find(button), find(popover)) else { return };
    let at = button.get_bounding_client_rect();
    let height = window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(800.0);
    let style = popover.style();
    let _ = style.set_property("--left", &format!("{}px", at.left()));
    let _ = style.set_property("--bottom", &format!("{}px", height - at.top() + 6.0));
}

/// Puts a popover below the button that opens it, or above where there is more room.
pub(crate) fn place_below(button: &str, popover: &str) {
    let find =
        |id: &str| document().get_element_by_id(id).and_then(|found| found.dyn_into::<HtmlElement>().ok());
    let (Some(from), Some(over)) = (find(button), find(popover)) else { return };
    let at = from.get_bounding_client_rect();
    let height = window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(800.0);
    if at.bottom() > height * 0.6 {
        return place_above(button, popover);
    }
    let style = over.style();
    let _ = style.set_property("--left", &format!("{}px", at.left()));
    let _ = style.set_property("--top", &format!("{}px", at.bottom() + 4.0));
    let _ = style.set_property("--bottom", "auto");
}

/// Closes a popover, and gives the focus back to what opened it.
pub(crate) fn close(popover: &str, button: &str) {
    let find =
        |id: &str| document().get_element_by_id(id).and_then(|found| found.dyn_into::<HtmlElement>().ok());
    if let Some(popover) = find(popover) {
        let _ = popover.hide_popover();
    }
    if let Some(button) = find(button) {
        let _ = button.focus();
    }
}

/// Moves through the items that match a selector: arrows, Home, End, and the first letter.
pub(crate) fn move_in(event: &KeyboardEvent, selector: &str) {
    let Some(menu) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) else {
        return;
    };
    let Ok(found) = menu.query_selector_all(selector) else { return };
    let items: Vec<HtmlElement> =
        (0..found.length()).filter_map(|place| found.get(place)?.dyn_into::<HtmlElement>().ok()).collect();
    let Some(last) = items.len().checked_sub(1) else { return };
    let focused = document().active_element();
    let now = items.iter().position(|item| focused.as_ref() == Some(item.as_ref()));
    let key = event.key();
    let next = match (key.as_str(), now) {
        ("ArrowDown", None) | ("Home", _) => 0,
        ("ArrowDown", Some(now)) if now == last => 0,
        ("ArrowDown", Some(now)) => now + 1,
        ("ArrowUp", None | Some(0)) | ("End", _) => last,
        ("ArrowUp", Some(now)) => now - 1,
        // Letters go into a field, if one has the focus.
        (letter, Some(now)) if letter.chars().count() == 1 && letter != " " => {
            let starts = |place: &usize| {
                let text = items[*place].text_content().unwrap_or_default().to_lowercase();
                text.trim().starts_with(&letter.to_lowercase())
            };
            match (now + 1..=last).chain(0..=now).find(starts) {
                Some(place) => place,
                None => return,
            }
        }
        _ => return,
    };
    event.prevent_default();
    let _ = items[next].focus();
}

/// Gives the focus to the first item of a menu that opened.
pub(crate) fn focus_first(menu: &str) {
    let item = document()
        .get_element_by_id(menu)
        .and_then(|menu| menu.query_selector("[role^=menuitem]").ok().flatten());
    if let Some(item) = item.and_then(|item| item.dyn_into::<HtmlElement>().ok()) {
        let _ = item.focus();
    }
}
