//! Short messages that go away by themselves.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

/// Long enough to read a sentence and reach for Undo.
const STAY: Duration = Duration::from_secs(10);
/// More would cover the page.
const MOST: usize = 4;

/// What a toast's button does.
type Act = Arc<dyn Fn() + Send + Sync>;

/// A message, perhaps with something to do about it.
#[derive(Clone)]
pub(crate) struct Toast {
    pub(crate) id: u32,
    pub(crate) text: String,
    pub(crate) bad: bool,
    pub(crate) act: Option<(&'static str, Act)>,
}

/// The messages on show, oldest first.
#[derive(Clone, Copy)]
pub(crate) struct Toasts {
    list: RwSignal<Vec<Toast>>,
    next: StoredValue<u32>,
    /// Whether the pointer or the focus is on them: then none goes away.
    pub(crate) held: RwSignal<bool>,
}

impl Toasts {
    pub(crate) fn new() -> Self {
        Self { list: RwSignal::new(Vec::new()), next: StoredValue::new(0), held: RwSignal::new(false) }
    }

    /// The messages on show.
    pub(crate) fn list(&self) -> Vec<Toast> {
        self.list.get()
    }

    /// Says that something is done.
    pub(crate) fn say(&self, text: &str) {
        self.add(text, false, None);
    }

    /// Says that something failed.
    pub(crate) fn warn(&self, text: &str) {
        self.add(text, true, None);
    }

    /// Says that something is done, with a button.
    pub(crate) fn offer(&self, text: &str, label: &'static str, act: impl Fn() + Send + Sync + 'static) {
        self.add(text, false, Some((label, Arc::new(act))));
    }

    /// Takes a message away.
    pub(crate) fn dismiss(&self, id: u32) {
        self.list.update(|list| list.retain(|toast| toast.id != id));
        if self.list.with_untracked(Vec::is_empty) {
            // Whatever was hovered or focused is gone, and no event will say so.
            self.held.set(false);
        }
    }

    fn add(&self, text: &str, bad: bool, act: Option<(&'static str, Act)>) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.list.update(|list| {
            list.push(Toast { id, text: text.to_owned(), bad, act });
            let surplus = list.len().saturating_sub(MOST);
            list.drain(..surplus);
        });
        self.expire(id);
    }

    fn expire(&self, id: u32) {
        let toasts = *self;
        set_timeout(
            move || if toasts.held.get_untracked() { toasts.expire(id) } else { toasts.dismiss(id) },
            STAY,
        );
    }
}
