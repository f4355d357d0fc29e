//! Light, dark, or as the system has it.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Where the choice is kept; base.html reads it before the first paint.
const KEY: &str = "toolshelf.theme";

/// A choice of theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    System,
    Light,
    Dark,
}

/// The chosen theme.
#[derive(Clone, Copy)]
pub(crate) struct Themes(RwSignal<Theme>);

impl Themes {
    /// The theme that base.html applied.
    pub(crate) fn new() -> Self {
        let theme = root().and_then(|root| root.dataset().get("theme"));
        Self(RwSignal::new(match theme.as_deref() {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        }))
    }

    /// Whether this is the choice.
    pub(crate) fn is(self, theme: Theme) -> bool {
        self.0.get() == theme
    }

    /// Chooses, here and for the next visit.
    pub(crate) fn choose(self, theme: Theme) {
        self.0.set(theme);
        let name = match theme {
            Theme::System => None,
            Theme::Light => Some("light"),
            Theme::Dark => Some("dark"),
        };
        // Storage may be forbidden; the choice then lasts as long as the page.
        let storage = window().local_storage().ok().flatten();
        match (name, root()) {
            (Some(name), Some(root)) => {
                let _ = root.dataset().set("theme", name);
                let _ = storage.map(|storage| storage.set_item(KEY, name));
            }
            (None, Some(root)) => {
                root.dataset().delete("theme");
                let _ = storage.map(|storage| storage.remove_item(KEY));
            }
            (_, None) => {}
        }
    }
}

fn root() -> Option<HtmlElement> {
    document().document_element()?.dyn_into().ok()
}
