//! The upstream servers that the page knows, and what is being decided about them.

use std::sync::Arc;
use std::time::Duration;

use js_sys::{Function, Promise};
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{UpdateMcpServer, UpdateServerSettings};
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::server_form::ServerForm;
use toolshelf_frontend::model::text::count;
use toolshelf_frontend::model::upstream::Server;
use wasm_bindgen::JsValue;

use super::app::{App, Load};
use crate::api::{Failure, ask_password_with};

/// What is being decided in a dialog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServerAsk {
    /// Which servers to add.
    Add {
        /// Whether to begin with the form, and not with a document.
        by_form: bool,
    },
    /// How to reach one.
    Edit(Arc<Server>),
    /// Whether to remove one.
    Remove(Arc<Server>),
}

/// The servers; a handle that is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Upstreams {
    /// All of them, by name.
    pub(crate) list: RwSignal<Vec<Arc<Server>>>,
    pub(crate) load: RwSignal<Load>,
    /// Whether the list was read once.
    pub(crate) known: RwSignal<bool>,
    pub(crate) ask: RwSignal<Option<ServerAsk>>,
    /// The browser's time in milliseconds, second by second while somebody looks at the servers.
    pub(crate) now: RwSignal<f64>,
    /// Grows with each server that was read again: what hangs on one is then read again too.
    pub(crate) heard: RwSignal<u32>,
    /// The document that is being pasted; it outlives the dialog, so that a key that closes it loses nothing.
    pub(crate) document: RwSignal<String>,
    /// The server that is being entered; it outlives the dialog too.
    pub(crate) entered: RwSignal<ServerForm>,
    /// What waits for the password: it is called with whether it was confirmed.
    pub(crate) confirming: RwSignal<Option<Function>, LocalStorage>,
}

impl Upstreams {
    pub(crate) fn new() -> Self {
        Self {
            list: RwSignal::new(Vec::new()),
            load: RwSignal::new(Load::Current),
            known: RwSignal::new(false),
            ask: RwSignal::new(None),
            now: RwSignal::new(js_sys::Date::now()),
            heard: RwSignal::new(0),
            document: RwSignal::new(String::new()),
            entered: RwSignal::new(ServerForm::default()),
            confirming: RwSignal::new_local(None),
        }
    }

    /// Keeps the time while the page is there.
    pub(crate) fn tick(self) {
        let now = self.now;
        now.set(js_sys::Date::now());
        let timer = set_interval_with_handle(move || now.set(js_sys::Date::now()), Duration::from_secs(1));
        on_cleanup(move || {
            if let Ok(timer) = timer {
                timer.clear();
            }
        });
    }

    /// Has requests that need a fresh password ask for it in a dialog.
    pub(crate) fn ask_for_password(self) {
        ask_password_with(move || {
            self.confirmed(false);
            Promise::new(&mut |resolve, _| self.confirming.set(Some(resolve)))
        });
    }

    /// Tells whoever waits for the password whether it was confirmed.
    pub(crate) fn confirmed(self, confirmed: bool) {
        if let Some(waiting) = self.confirming.get_untracked() {
            self.confirming.set(None);
            // The function is a promise's own, which throws nothing.
            let _ = waiting.call1(&JsValue::NULL, &JsValue::from_bool(confirmed));
        }
    }

    /// Takes a server as it is now.
    fn take(self, now: Server) {
        self.list.update(|list| {
            let place = list.partition_point(|server| server.name < now.name);
            match list.get_mut(place).filter(|server| server.name == now.name) {
                Some(server) => *server = Arc::new(now),
                None => list.insert(place, Arc::new(now)),
            }
        });
        self.heard.update(|heard| *heard = heard.wrapping_add(1));
    }

    fn drop_server(self, name: &str) {
        self.list.update(|list| list.retain(|server| server.name != name));
    }
}

impl App {
    /// A server as it is now, followed through its changes.
    pub(crate) fn server(self, name: String) -> Memo<Option<Arc<Server>>> {
        let list = self.upstreams.list;
        Memo::new(move |_| list.with(|list| list.iter().find(|server| server.name == name).cloned()))
    }

    /// Reads all servers.
    pub(crate) fn load_servers(self) {
        let app = self;
        let upstreams = app.upstreams;
        spawn_local(async move {
            match app.api().servers().await {
                Ok(servers) => {
                    upstreams.list.set(servers.into_iter().map(Arc::new).collect());
                    upstreams.known.set(true);
                    upstreams.heard.update(|heard| *heard = heard.wrapping_add(1));
                    upstreams.load.set(Load::Current);
                }
                Err(failure) => upstreams.load.set(Load::Failed(failure.sentence())),
            }
        });
    }

    /// Reads one server again, after a notice about it.
    pub(crate) fn read_server(self, name: String) {
        let app = self;
        spawn_local(async move {
            match app.api().server(&name).await {
                Ok(now) => app.upstreams.take(now),
                Err(Failure::Refused(problem)) if problem.status == 404 => app.upstreams.drop_server(&name),
                // The stream is down too then, and its return reads everything again.
                Err(_) => {}
            }
        });
    }

    /// Opens a server's details, or closes them.
    pub(crate) fn open_server(self, name: Option<String>) {
        self.go(Route::Upstreams { name });
    }

    /// Says that servers were added, shows them and forgets what was entered.
    pub(crate) fn added_servers(self, names: &[String]) {
        let upstreams = self.upstreams;
        upstreams.ask.set(None);
        upstreams.document.set(String::new());
        upstreams.entered.set(ServerForm::default());
        let text = match names {
            [name] => format!("{name} is added. It is being connected."),
            names => {
                format!("{} are added. They are being connected.", count(names.len(), "server", "servers"))
            }
        };
        self.toasts.say(&text);
        self.load_servers();
        self.open_server(names.first().filter(|_| names.len() == 1).cloned());
    }

    /// Changes a server as it was seen; what failed is told in a message.
    pub(crate) fn change_server(self, server: &Server, change: UpdateMcpServer, done: &'static str) {
        let app = self;
        let (name, revision) = (server.name.clone(), server.revision);
        spawn_local(async move {
            match app.update_server(&name, revision, &change).await {
                Ok(()) => app.toasts.say(&format!("{name}: {done}")),
                Err(failure) => app.toasts.warn(&failure.sentence()),
            }
        });
    }

    /// Changes what admins say about a server.
    pub(crate) fn set_server(self, server: &Server, settings: UpdateServerSettings) {
        let change = UpdateMcpServer { settings: Some(settings), ..UpdateMcpServer::default() };
        self.change_server(server, change, "saved.");
    }

    /// Changes a server as it was seen.
    pub(crate) async fn update_server(
        self,
        name: &str,
        revision: u64,
        change: &UpdateMcpServer,
    ) -> Result<(), Failure> {
        match self.api().update_server(name, revision, change).await {
            Ok(now) => {
                self.upstreams.take(now);
                Ok(())
            }
            Err(failure) => {
                // What is shown is put right: somebody else's change, or a switch that did not take.
                self.read_server(name.to_owned());
                Err(failure)
            }
        }
    }

    /// Connects a server anew, or reads its tools again.
    pub(crate) fn refresh_server(self, name: String) {
        let app = self;
        spawn_local(async move {
            match app.api().refresh_server(&name).await {
                Ok(()) => app.read_server(name),
                Err(failure) => app.toasts.warn(&failure.sentence()),
            }
        });
    }

    /// Removes a server.
    pub(crate) async fn remove_server(self, server: &Server) -> Result<(), Failure> {
        let name = server.name.as_str();
        let removed = self.api().delete_server(name, server.revision).await;
        if removed.is_err() {
            // Somebody else's change is shown, so that it can be decided on again.
            self.read_server(name.to_owned());
        }
        removed?;
        self.upstreams.drop_server(name);
        self.toasts.say(&format!("{name} is removed."));
        if self.route.with_untracked(|route| matches!(route, Route::Upstreams { .. })) {
            self.open_server(None);
        }
        Ok(())
    }
}
