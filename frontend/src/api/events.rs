//! The stream of notices.

use serde::Deserialize;
use toolshelf_api::{EventKind, Tool};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{EventSource, MessageEvent};

/// What a notice holds. Which kind it is, the name of the browser's event says; to read the tagged
/// [`toolshelf_api::Event`] would cost the page a second copy of every shape inside of it.
#[derive(Deserialize)]
struct Body {
    revision: u64,
    #[serde(default)]
    tool: Option<Box<Tool>>,
    #[serde(default)]
    name: Option<String>,
}

/// What the stream tells.
pub(crate) enum Notice {
    /// The stream is open.
    Hello {
        /// The revision of the snapshot.
        revision: u64,
    },
    /// Notices were missed.
    Resync,
    /// A tool changed.
    Changed {
        /// The revision of the snapshot.
        revision: u64,
        /// The tool as it is now, if it is registered.
        tool: Option<Box<Tool>>,
    },
    /// A profile was made, changed or deleted.
    Profiles,
    /// Tools came or went.
    Catalog {
        /// The revision of the snapshot.
        revision: u64,
    },
    /// An upstream server changed or is gone.
    Upstream {
        /// Its name.
        name: String,
    },
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
            let Ok(Body { revision, tool, name }) = serde_json::from_str(&data) else { return };
            on_event(match message.type_().as_str() {
                EventKind::HELLO => Notice::Hello { revision },
                EventKind::TOOL_CHANGED => Notice::Changed { revision, tool },
                EventKind::PROFILE_CHANGED => Notice::Profiles,
                EventKind::CATALOG_CHANGED => Notice::Catalog { revision },
                EventKind::UPSTREAM_CHANGED => Notice::Upstream { name: name.unwrap_or_default() },
                _ => Notice::Resync,
            });
        });
        for kind in [
            EventKind::HELLO,
            EventKind::RESYNC,
            EventKind::TOOL_CHANGED,
            EventKind::PROFILE_CHANGED,
            EventKind::CATALOG_CHANGED,
            EventKind::UPSTREAM_CHANGED,
        ] {
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
