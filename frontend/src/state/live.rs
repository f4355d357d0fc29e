//! Follows the server's notices while the page is visible.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::VisibilityState;

use super::app::App;
use crate::api::{Events, Notice};

/// A stream that breaks for a shorter time is not worth a word.
const PATIENCE: Duration = Duration::from_millis(1_200);
/// Between attempts, when the browser has given up.
const PAUSE: Duration = Duration::from_secs(3);

/// Opens the stream now, closes it while the tab is hidden, and opens it again after that.
pub(crate) fn follow(app: App) {
    let live = Live { app, stream: StoredValue::new_local(None), said_hello: StoredValue::new(false) };
    live.open();
    let visibility = window_event_listener_untyped("visibilitychange", move |_| {
        if document().visibility_state() == VisibilityState::Hidden {
            // Browsers allow few connections to a server, and hidden tabs must not use them up.
            live.close();
        } else {
            live.open();
            app.reload();
            app.load_profiles();
            app.load_servers();
        }
    });
    let online = window_event_listener(ev::online, move |_| live.open());
    on_cleanup(move || {
        visibility.remove();
        online.remove();
        live.close();
    });
}

#[derive(Clone, Copy)]
struct Live {
    app: App,
    stream: StoredValue<Option<Events>, LocalStorage>,
    said_hello: StoredValue<bool>,
}

impl Live {
    fn open(self) {
        self.said_hello.set_value(false);
        self.stream.set_value(Events::open(move |notice| self.hear(notice)));
    }

    fn close(self) {
        self.stream.try_set_value(None);
    }

    fn hear(self, notice: Notice) {
        let app = self.app;
        let held = app.catalog.with_untracked(|catalog| catalog.revision);
        if !matches!(notice, Notice::Broken { .. }) {
            self.said_hello.set_value(true);
            app.cut_off.set(false);
        }
        match notice {
            Notice::Hello { revision } if revision == held => {}
            Notice::Changed { revision, .. } if revision < held => {}
            Notice::Changed { revision, tool: Some(tool) } => {
                app.catalog.update_untracked(|catalog| catalog.revision = revision);
                app.take(*tool);
            }
            Notice::Profiles => app.load_profiles(),
            Notice::Catalog { revision } if revision < held => {}
            Notice::Catalog { .. } => app.reload(),
            Notice::Upstream { name } => app.read_server(name),
            Notice::Hello { .. } | Notice::Resync | Notice::Changed { tool: None, .. } => {
                app.reload();
                app.load_profiles();
                app.load_servers();
            }
            Notice::Broken { ended } => {
                self.said_hello.set_value(false);
                set_timeout(
                    move || {
                        if self.is_open() && !self.said_hello.get_value() {
                            self.app.cut_off.set(true);
                        }
                    },
                    PATIENCE,
                );
                if ended {
                    // An event source does not say why; a request does, and leads to the sign-in page if need be.
                    spawn_local(async move {
                        let _ = self.app.api().me().await;
                    });
                    set_timeout(
                        move || {
                            if self.is_open() && !self.said_hello.get_value() {
                                self.open();
                            }
                        },
                        PAUSE,
                    );
                }
            }
        }
    }

    fn is_open(self) -> bool {
        self.stream.try_with_value(Option::is_some) == Some(true)
    }
}
