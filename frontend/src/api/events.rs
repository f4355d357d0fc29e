//! The stream of notices.

use toolshelf_api::{Event, EventKind};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{EventSource, MessageEvent};

/// What the stream tells.
pub(crate) enum Notice {
    /// A notice of change.
    Event(Box<Event>),
    /// The stream broke. `ended` means that the browser will not try again by itself.
    Broken {
        /// Whether the browser gave up.
        ended: bool,
    },
}

/// An open stream; dropping it closes it.
pub(crate) struct Events {
    source: EventSource,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut()>,
}

impl Events {
    /// Opens the stream.
    pub(crate) fn open(listen: impl Fn(Notice) + Clone + 'static) -> Option<Self> {
        let source = EventSource::new("/api/v1/events").ok()?;
        let on_event = listen.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
            let Some(data) = message.data().as_string() else { return };
            // A notice of a newer server, which this page does not know, is none for it.
            if let Ok(event) = serde_json::from_str::<Event>(&data) {
                on_event(Notice::Event(Box::new(event)));
            }
        });
        for kind in [EventKind::HELLO, EventKind::RESYNC, EventKind::TOOL_CHANGED] {
            source.add_event_listener_with_callback(kind, message.as_ref().unchecked_ref()).ok()?;
        }
        let broken = source.clone();
        let error = Closure::<dyn FnMut()>::new(move || {
            listen(Notice::Broken { ended: broken.ready_state() == EventSource::CLOSED });
        });
        source.set_onerror(Some(error.as_ref().unchecked_ref()));
        Some(Self { source, _message: message, _error: error })
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.source.set_onerror(None);
        self.source.close();
    }
}
