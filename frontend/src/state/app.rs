//! The state that every view shares.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{Boot, Me, Problem, Role, Tool, Verdict};
use toolshelf_frontend::model::catalog::Catalog;
use toolshelf_frontend::model::form::Entries;
use toolshelf_frontend::model::profile::Mode;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::shelf::{Show, View};

use super::profiles::Profiles;
use super::toasts::Toasts;
use super::upstreams::Upstreams;
use super::{address, live};
use crate::api::{Api, Failure};

/// Whether the list shows what the server holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// It does, or will when the answer is there.
    Current,
    /// The last attempt to read it failed.
    Failed(String),
}

/// Whether the catalog is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Not,
    Now,
    /// It is, and what is being read is out of date already.
    AndAgain,
}

/// What was entered to try a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    /// The form.
    pub(crate) entries: Entries,
    /// Raw JSON, while that is how the arguments are entered.
    pub(crate) raw: Option<String>,
}

/// The state that every view shares, as a handle. Nearly every closure of the page holds one, so it is a single pointer.
#[derive(Clone, Copy)]
pub(crate) struct App(&'static Shared);

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.0
    }
}

/// What the handle leads to.
pub(crate) struct Shared {
    pub(crate) me: StoredValue<Me>,
    pub(crate) version: StoredValue<String>,
    /// The address of the icon sprite.
    pub(crate) icons: StoredValue<String>,
    pub(crate) catalog: RwSignal<Catalog>,
    pub(crate) load: RwSignal<Load>,
    pub(crate) query: RwSignal<String>,
    pub(crate) show: RwSignal<Show>,
    /// What the filter leaves.
    pub(crate) view: Memo<View>,
    pub(crate) route: RwSignal<Route>,
    /// The row that the keyboard is on, by the tool's name.
    pub(crate) active: RwSignal<Option<String>>,
    /// A row that is to come into view and take the focus.
    pub(crate) wanted: RwSignal<Option<String>>,
    /// Whether the stream of notices is down.
    pub(crate) cut_off: RwSignal<bool>,
    /// Whether the screen is a phone's.
    pub(crate) narrow: RwSignal<bool>,
    /// The tool whose disabling is being decided on.
    pub(crate) disabling: RwSignal<Option<Arc<Tool>>>,
    pub(crate) toasts: Toasts,
    /// What was entered to try tools, by tool; it outlives the drawer.
    pub(crate) drafts: StoredValue<HashMap<String, Draft>>,
    /// The conversation in which tools that need one are tried.
    pub(crate) conversation: RwSignal<Option<String>>,
    /// Where the files of whoever is signed in are, for admins.
    pub(crate) workspace: StoredValue<Option<String>>,
    /// The profiles, and the open one.
    pub(crate) profiles: Profiles,
    /// The upstream servers.
    pub(crate) upstreams: Upstreams,
    reading: StoredValue<Reading>,
    api: StoredValue<Api>,
}

/// The app's state.
pub(crate) fn use_app() -> App {
    expect_context()
}

impl App {
    /// The state at the beginning: what the boot document says.
    pub(crate) fn new(boot: Boot, icons: String) -> Self {
        let api = Api::new(&boot.me);
        let (me, version) = (boot.me.clone(), boot.version.clone());
        let workspace = StoredValue::new(boot.workspace.clone());
        let catalog = RwSignal::new(Catalog::new(boot));
        let start = address::read();
        let query = RwSignal::new(start.query);
        let show = RwSignal::new(start.show);
        let profiles = Profiles::new(start.profile);
        // Apart from the filter, so that a letter typed does not copy the names of a profile.
        let members = Memo::new(move |_| profiles.members());
        let view = Memo::new(move |_| {
            members.with(|members| {
                catalog.with(|catalog| {
                    query.with(|query| catalog.filter_in(query, show.get(), members.as_ref()))
                })
            })
        });
        // The app is there for as long as its page, so what it shares is never given back.
        let app = Self(Box::leak(Box::new(Shared {
            me: StoredValue::new(me),
            version: StoredValue::new(version),
            icons: StoredValue::new(icons),
            catalog,
            load: RwSignal::new(Load::Current),
            query,
            show,
            view,
            route: RwSignal::new(start.route),
            active: RwSignal::new(None),
            wanted: RwSignal::new(None),
            cut_off: RwSignal::new(false),
            narrow: RwSignal::new(false),
            workspace,
            disabling: RwSignal::new(None),
            toasts: Toasts::new(),
            drafts: StoredValue::new(HashMap::new()),
            conversation: RwSignal::new(None),
            profiles,
            upstreams: Upstreams::new(),
            reading: StoredValue::new(Reading::Not),
            api: StoredValue::new(api),
        })));
        app.load_profiles();
        app.load_servers();
        app.upstreams.ask_for_password();
        address::follow(app);
        live::follow(app);
        app
    }

    /// Makes requests.
    pub(crate) fn api(self) -> Api {
        self.api.get_value()
    }

    /// Whether the user may disable tools.
    pub(crate) fn is_admin(self) -> bool {
        self.me.with_value(|me| me.role == Role::Admin)
    }

    /// A tool as it is now, followed through its changes.
    pub(crate) fn tool(self, name: String) -> Memo<Option<Arc<Tool>>> {
        let catalog = self.catalog;
        Memo::new(move |_| catalog.with(|catalog| catalog.get(&name).cloned()))
    }

    /// What is decided about a tool now.
    pub(crate) fn verdict(self, name: String) -> Memo<Option<Arc<Verdict>>> {
        let catalog = self.catalog;
        Memo::new(move |_| catalog.with(|catalog| catalog.verdict(&name).cloned()))
    }

    /// Opens a tool in the drawer, or closes the drawer.
    pub(crate) fn open(self, tool: Option<String>) {
        self.go(Route::Functions { tool });
    }

    /// The address of a place, with what is kept beside it.
    pub(crate) fn address(self, route: &Route) -> String {
        address::address(self, route)
    }

    /// Goes to a place in the app.
    pub(crate) fn go(self, route: Route) {
        if self.route.with_untracked(|now| *now != route) {
            address::push(self, &route);
            self.route.set(route);
        }
    }

    /// Shows every tool again.
    pub(crate) fn clear_filter(self) {
        self.query.set(String::new());
        self.show.set(Show::All);
        self.profiles.mode.set(Mode::All);
    }

    /// Reads the whole catalog again. While it is being read, however many ask for it again get one more reading: fifty
    /// servers that connect at once announce fifty changes.
    pub(crate) fn reload(self) {
        let app = self;
        let before = app.reading.get_value();
        app.reading.set_value(if before == Reading::Not { Reading::Now } else { Reading::AndAgain });
        if before != Reading::Not {
            return;
        }
        spawn_local(async move {
            loop {
                match app.read_catalog().await {
                    Ok(()) => app.load.set(Load::Current),
                    Err(failure) => app.load.set(Load::Failed(failure.sentence())),
                }
                if app.reading.get_value() == Reading::Now {
                    break;
                }
                app.reading.set_value(Reading::Now);
            }
            app.reading.set_value(Reading::Not);
        });
    }

    async fn read_catalog(self) -> Result<(), Failure> {
        /// The catalog may change between the two answers; then both are asked for again.
        const ATTEMPTS: usize = 3;
        let api = self.api();
        for _ in 0..ATTEMPTS {
            let (page, revision) = api.tools().await?;
            let resolved = api.resolve().await?;
            let same = revision.is_none_or(|revision| revision == resolved.revision);
            self.catalog.update(|catalog| {
                catalog.replace(revision.unwrap_or(resolved.revision), page.items);
                catalog.set_verdicts(resolved.verdicts);
                catalog.not_registered = resolved.not_registered;
            });
            if same {
                break;
            }
        }
        Ok(())
    }

    /// Reads the verdicts again, after a change to one tool.
    pub(crate) fn refresh_verdicts(self) {
        let app = self;
        spawn_local(async move {
            // If this fails, the stream is down too, and its return reads everything again.
            if let Ok(resolved) = app.api().resolve().await {
                app.catalog.update(|catalog| {
                    catalog.set_verdicts(resolved.verdicts);
                    catalog.not_registered = resolved.not_registered;
                });
            }
        });
    }

    /// Takes the tool that a write answered with.
    pub(crate) fn take(self, tool: Tool) {
        let known = self.catalog.try_update(|catalog| catalog.update(tool));
        if known == Some(false) {
            self.reload();
        }
        self.refresh_verdicts();
    }

    /// Asks an admin for a reason, then disables the tool for everyone.
    pub(crate) fn ask_to_disable(self, name: &str) {
        self.disabling.set(self.catalog.with_untracked(|catalog| catalog.get(name).cloned()));
    }

    /// Disables a tool. A conflict comes back as the tool that it is now, beside the sentence.
    pub(crate) async fn disable(self, tool: &Tool, reason: String) -> Result<(), (Problem, Option<Tool>)> {
        match self.api().disable(&tool.name, reason, tool.revision).await {
            Ok(now) => {
                let app = self;
                let undo = now.clone();
                self.take(now);
                self.toasts.offer(&format!("{} is disabled for everyone.", tool.name), "Undo", move || {
                    app.enable(&undo);
                });
                Ok(())
            }
            Err(failure) => Err(self.conflict(failure)),
        }
    }

    /// Enables a tool again, and offers to undo that.
    pub(crate) fn enable(self, tool: &Tool) {
        let app = self;
        let tool = tool.clone();
        spawn_local(async move {
            match app.api().enable(&tool.name, tool.revision).await {
                Ok(now) => {
                    let undo = now.clone();
                    app.take(now);
                    let text = format!("{} is enabled again.", tool.name);
                    match tool.disabled {
                        Some(disabled) => {
                            app.toasts
                                .offer(&text, "Undo", move || app.disable_again(&undo, &disabled.reason));
                        }
                        None => app.toasts.say(&text),
                    }
                }
                Err(failure) => {
                    let (problem, now) = app.conflict(failure);
                    let text = match now {
                        Some(now) => changed_meanwhile(&now),
                        None => problem.detail,
                    };
                    app.toasts.warn(&text);
                }
            }
        });
    }

    fn disable_again(self, tool: &Tool, reason: &str) {
        let app = self;
        let (tool, reason) = (tool.clone(), reason.to_owned());
        spawn_local(async move {
            if let Err((problem, now)) = app.disable(&tool, reason).await {
                app.toasts.warn(&now.map_or(problem.detail, |now| changed_meanwhile(&now)));
            }
        });
    }

    /// Reads what a refused write says, and shows the tool as it is now.
    fn conflict(self, failure: Failure) -> (Problem, Option<Tool>) {
        let detail = failure.sentence();
        let problem = match failure {
            Failure::Refused(problem) => *problem,
            Failure::Offline | Failure::Cancelled => Problem { detail, ..Problem::default() },
        };
        let now: Option<Tool> = problem.current.as_ref().and_then(|current| {
            // Through text: a second way of reading a tool would cost the page more than this copy does.
            serde_json::from_str(&current.to_string()).ok()
        });
        if let Some(now) = &now {
            self.take(now.clone());
        }
        (problem, now)
    }
}

/// What somebody else did to a tool in the meantime.
pub(crate) fn changed_meanwhile(now: &Tool) -> String {
    match &now.disabled {
        Some(disabled) => {
            format!(
                "{} was changed in the meantime: {} disabled it: {}",
                now.name, disabled.by, disabled.reason
            )
        }
        None => format!("{} was changed in the meantime: it is enabled now.", now.name),
    }
}
