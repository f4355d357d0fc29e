//! The profiles that the page knows, and the one that is open for editing.

use std::collections::HashSet;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{CreateProfile, EditProfileTools, Profile, UpdateProfile};
use toolshelf_frontend::model::chat::toolset_title;
use toolshelf_frontend::model::profile::{Edit, Members, Mode, Undo};

use super::address;
use super::app::{App, Load};
use crate::api::Failure;

/// What is being decided in a dialog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ask {
    /// The name of a new profile, which copies the named one.
    New {
        /// What is copied at first.
        from: String,
    },
    /// Another name or description.
    Rename(Arc<Profile>),
    /// What takes its place where it is used.
    Delete(Arc<Profile>),
    /// The revision to go back to.
    History(Arc<Profile>),
}

/// The profiles; a handle that is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Profiles {
    /// All of them, `default` first.
    pub(crate) list: RwSignal<Vec<Arc<Profile>>>,
    pub(crate) load: RwSignal<Load>,
    /// Whether the list was read once.
    pub(crate) known: RwSignal<bool>,
    /// The name of the open one; none while the whole catalog is shown.
    pub(crate) open: RwSignal<Option<String>>,
    /// The open one was deleted or cannot be found, and why.
    pub(crate) gone: RwSignal<Option<String>>,
    /// The workspace's active toolset.
    pub(crate) active: RwSignal<String>,
    /// What the user's own new conversations start with, if the user chose.
    pub(crate) start: RwSignal<Option<String>>,
    pub(crate) mode: RwSignal<Mode>,
    pub(crate) undo: RwSignal<Undo>,
    pub(crate) ask: RwSignal<Option<Ask>>,
}

impl Profiles {
    pub(crate) fn new(open: Option<String>) -> Self {
        let undo = remembered(open.as_deref());
        Self {
            list: RwSignal::new(Vec::new()),
            load: RwSignal::new(Load::Current),
            known: RwSignal::new(false),
            open: RwSignal::new(open),
            gone: RwSignal::new(None),
            active: RwSignal::new("default".to_owned()),
            start: RwSignal::new(None),
            mode: RwSignal::new(Mode::All),
            undo: RwSignal::new(undo),
            ask: RwSignal::new(None),
        }
    }

    /// The open profile as it is now.
    pub(crate) fn current(&self) -> Option<Arc<Profile>> {
        let name = self.open.get()?;
        self.list.with(|list| list.iter().find(|profile| profile.name == name).cloned())
    }

    fn current_untracked(&self) -> Option<Arc<Profile>> {
        let name = self.open.get_untracked()?;
        self.list.with_untracked(|list| list.iter().find(|profile| profile.name == name).cloned())
    }

    /// The open profile's tools, for the list.
    pub(crate) fn members(&self) -> Option<Members> {
        let profile = self.current()?;
        Some(Members { tools: profile.tools.iter().cloned().collect(), mode: self.mode.get() })
    }

    /// Takes a profile as it is now, under the name that it had.
    fn take(&self, before: &str, now: Profile) {
        let name = now.name.clone();
        self.list.update(|list| {
            list.retain(|profile| profile.name != before && profile.name != name);
            list.push(Arc::new(now));
            // `default` is first; the others go by name without letter case.
            list.sort_by_key(|profile| (profile.owner.is_some(), profile.name.to_lowercase()));
        });
        if self.open.with_untracked(|open| open.as_deref() == Some(before)) && before != name {
            self.open.set(Some(name));
        }
    }
}

impl App {
    /// Reads all profiles.
    pub(crate) fn load_profiles(self) {
        let app = self;
        let profiles = app.profiles;
        spawn_local(async move {
            match app.api().profiles().await {
                Ok(page) => {
                    profiles.list.set(page.items.into_iter().map(Arc::new).collect());
                    profiles.known.set(true);
                    profiles.load.set(Load::Current);
                    app.find_open().await;
                    app.read_starts().await;
                }
                Err(failure) => profiles.load.set(Load::Failed(failure.sentence())),
            }
        });
    }

    async fn read_starts(self) {
        let (profiles, api) = (self.profiles, self.api());
        if let Ok(active) = api.active().await {
            profiles.active.set(active.name);
        }
        if let Ok(start) = api.start().await {
            profiles.start.set(start.name);
        }
    }

    /// Makes the user's own new conversations start with a toolset, or leaves it to the workspace.
    pub(crate) fn set_start(self, name: Option<String>) {
        let app = self;
        spawn_local(async move {
            match app.api().set_start(name).await {
                Ok(now) => {
                    let text = match &now.name {
                        Some(name) => format!("Your new conversations start with {}.", toolset_title(name)),
                        None => "Your new conversations start as the workspace says.".to_owned(),
                    };
                    app.profiles.start.set(now.name);
                    app.toasts.say(&text);
                }
                Err(failure) => app.toasts.warn(&failure.sentence()),
            }
        });
    }

    /// Makes the new conversations of everybody who has not chosen start with a toolset.
    pub(crate) fn set_active(self, name: String) {
        let app = self;
        let before = self.profiles.active.get_untracked();
        spawn_local(async move {
            match app.api().set_active(name).await {
                Ok(now) => {
                    let text = format!(
                        "New conversations start with {}, unless somebody chose otherwise.",
                        toolset_title(&now.name)
                    );
                    app.profiles.active.set(now.name);
                    app.toasts.offer(&text, "Undo", move || app.set_active(before.clone()));
                }
                Err(failure) => app.toasts.warn(&failure.sentence()),
            }
        });
    }

    /// Follows the open profile to its new name, or says that it is gone.
    async fn find_open(self) {
        let profiles = self.profiles;
        let Some(name) = profiles.open.get_untracked() else { return };
        if profiles.current_untracked().is_some() {
            profiles.gone.set(None);
            return;
        }
        match self.api().profile(&name).await {
            Ok(now) => {
                if now.name != name {
                    self.toasts.say(&format!("{name} is called {} now.", now.name));
                }
                profiles.open.set(Some(now.name.clone()));
                address::replace(self);
                profiles.take(&name, now);
            }
            Err(failure) => profiles.gone.set(Some(failure.sentence())),
        }
    }

    /// Opens a profile beside the catalog, or closes it.
    pub(crate) fn open_profile(self, name: Option<String>) {
        let profiles = self.profiles;
        if profiles.open.get_untracked() == name {
            return;
        }
        profiles.undo.set(remembered(name.as_deref()));
        profiles.gone.set(None);
        profiles.mode.set(Mode::All);
        profiles.open.set(name);
        let route = self.route.get_untracked();
        address::push(self, &route);
    }

    /// Puts tools into the open profile.
    pub(crate) fn add_tools(self, names: Vec<String>) {
        self.change(|members| Edit::add(names, members));
    }

    /// Takes tools out of the open profile.
    pub(crate) fn remove_tools(self, names: Vec<String>) {
        self.change(|members| Edit::remove(names, members));
    }

    fn change(self, edit: impl FnOnce(&HashSet<String>) -> Edit) {
        let Some(profile) = self.profiles.current_untracked().filter(|profile| profile.can_edit) else {
            return;
        };
        let edit = edit(&profile.tools.iter().cloned().collect());
        if edit.is_empty() {
            return;
        }
        let app = self;
        self.send_edit(&profile, edit.clone(), move |name| {
            app.profiles.undo.update(|undo| undo.did(edit.clone()));
            app.remember();
            app.toasts.offer(&edit.sentence(name), "Undo", move || app.undo());
        });
    }

    /// Takes the last change to the open profile back.
    pub(crate) fn undo(self) {
        self.step("Undone", Undo::undo);
    }

    /// Does it again.
    pub(crate) fn redo(self) {
        self.step("Done again", Undo::redo);
    }

    fn step(self, what: &'static str, step: fn(&mut Undo) -> Option<Edit>) {
        let Some(profile) = self.profiles.current_untracked().filter(|profile| profile.can_edit) else {
            return;
        };
        let mut edit = None;
        self.profiles.undo.update(|undo| edit = step(undo));
        let Some(edit) = edit else { return };
        let app = self;
        self.send_edit(&profile, edit.clone(), move |name| {
            app.remember();
            app.toasts.say(&format!("{what}: {}", edit.sentence(name)));
        });
    }

    /// Shows the change at once, sends it, and shows what the server made of it.
    fn send_edit(self, profile: &Profile, edit: Edit, done: impl FnOnce(&str) + 'static) {
        let (app, name) = (self, profile.name.clone());
        let shown = Profile { tools: edit.apply(&profile.tools), ..profile.clone() };
        app.profiles.take(&name, shown);
        let request = EditProfileTools { add: edit.add, remove: edit.remove };
        spawn_local(async move {
            match app.api().edit_profile(&name, &request).await {
                Ok(now) => {
                    let name = now.name.clone();
                    app.profiles.take(&name, now);
                    done(&name);
                }
                Err(failure) => {
                    app.toasts.warn(&failure.sentence());
                    app.load_profiles();
                }
            }
        });
    }

    /// Changes the open profile's fields, as they were seen.
    pub(crate) async fn update_profile(
        self,
        profile: &Profile,
        change: UpdateProfile,
    ) -> Result<(), Failure> {
        let now = self.api().update_profile(profile, &change).await;
        self.took(&profile.name, now).map(drop)
    }

    /// Makes a profile and opens it.
    pub(crate) async fn create_profile(self, new: CreateProfile) -> Result<(), Failure> {
        let made = match new.from.as_deref() {
            // A clone keeps the description and pins too.
            Some(from) if from != "default" && new.description.is_none() => {
                self.api().clone_profile(from, new.name).await
            }
            _ => self.api().create_profile(&new).await,
        };
        let name = self.took("", made)?;
        self.open_profile(Some(name));
        Ok(())
    }

    /// Deletes a profile.
    pub(crate) async fn delete_profile(self, profile: &Profile, replacement: &str) -> Result<(), Failure> {
        self.api().delete_profile(profile, replacement).await?;
        if self.profiles.open.with_untracked(|open| open.as_deref() == Some(&profile.name)) {
            self.open_profile(None);
        }
        self.profiles.list.update(|list| list.retain(|known| known.name != profile.name));
        self.toasts.say(&format!("{} is deleted.", profile.name));
        Ok(())
    }

    /// Goes back to a revision.
    pub(crate) async fn restore_profile(self, name: &str, revision: u64) -> Result<(), Failure> {
        let now = self.api().restore_profile(name, revision).await;
        self.took(name, now)?;
        self.toasts.say(&format!("{name} is as it was at revision {revision}."));
        Ok(())
    }

    /// Shows what a write answered: the profile as it is now, or as somebody else left it.
    fn took(self, before: &str, now: Result<Profile, Failure>) -> Result<String, Failure> {
        match now {
            Ok(now) => {
                let name = now.name.clone();
                self.profiles.take(before, now);
                address::replace(self);
                Ok(name)
            }
            Err(failure) => {
                if matches!(&failure, Failure::Refused(problem) if problem.status == 412) {
                    self.load_profiles();
                }
                Err(failure)
            }
        }
    }

    /// Keeps what can be taken back, for as long as the tab lives.
    fn remember(self) {
        let Some(name) = self.profiles.open.get_untracked() else { return };
        let text = self.profiles.undo.with_untracked(serde_json::to_string).unwrap_or_default();
        // Storage may be forbidden; the history then lasts as long as the page.
        if let Some(storage) = window().session_storage().ok().flatten() {
            let _ = storage.set_item(&key(&name), &text);
        }
    }
}

fn key(name: &str) -> String {
    format!("toolshelf.undo.{name}")
}

/// What can be taken back in a profile, from before the page was loaded.
fn remembered(name: Option<&str>) -> Undo {
    let storage = window().session_storage().ok().flatten();
    let text = name.and_then(|name| storage?.get_item(&key(name)).ok().flatten());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
