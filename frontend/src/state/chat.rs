//! Conversations: the list, the open one, and what is about to be sent.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{
    Change, Conversation, CreateConversation, CreateTurn, Message, MessageRole, Model, Resolve, Run,
    RunState, StartsWith, UpdateConversation,
};
use toolshelf_frontend::model::chat::{Settings, override_before, override_of};
use toolshelf_frontend::model::route::Route;

use super::app::App;
use crate::api::{Failure, Offer, RunStream};

/// The chat; a handle that is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Chat {
    app: App,
    /// The conversations that the list shows.
    pub(crate) list: RwSignal<Vec<Conversation>>,
    pub(crate) query: RwSignal<String>,
    /// Where the next page of the list begins.
    pub(crate) more: RwSignal<Option<String>>,
    /// The open conversation's id; none for one that is not made yet.
    pub(crate) id: Memo<Option<String>>,
    /// The open conversation.
    pub(crate) talk: RwSignal<Option<Conversation>>,
    /// Why the open conversation cannot be shown.
    pub(crate) trouble: RwSignal<Option<String>>,
    /// What a conversation that is not made yet will have.
    draft_settings: RwSignal<Settings>,
    /// What was said, oldest first.
    pub(crate) messages: RwSignal<Vec<Message>>,
    /// Where the older messages begin.
    pub(crate) older: RwSignal<Option<String>>,
    /// The run that goes on.
    pub(crate) run: RwSignal<Option<Run>>,
    stream: StoredValue<Option<RunStream>, LocalStorage>,
    /// A toolset for the next message only.
    pub(crate) only_now: RwSignal<Option<String>>,
    /// What is being written.
    pub(crate) text: RwSignal<String>,
    /// What the next message would carry.
    pub(crate) offer: RwSignal<Option<Offer>>,
    /// Why that is not known, or why a message was not sent.
    pub(crate) mistake: RwSignal<Option<String>>,
    pub(crate) start: RwSignal<Option<StartsWith>>,
    pub(crate) models: RwSignal<Vec<Model>>,
    pub(crate) sending: RwSignal<bool>,
}

/// The chat of the page.
pub(crate) fn use_chat() -> Chat {
    expect_context()
}

impl Chat {
    pub(crate) fn new(app: App) -> Self {
        let id = Memo::new(move |_| {
            app.route.with(|route| match route {
                Route::Chat { id } => id.clone(),
                _ => None,
            })
        });
        let chat = Self {
            app,
            list: RwSignal::new(Vec::new()),
            query: RwSignal::new(String::new()),
            more: RwSignal::new(None),
            id,
            talk: RwSignal::new(None),
            trouble: RwSignal::new(None),
            draft_settings: RwSignal::new(Settings::default()),
            messages: RwSignal::new(Vec::new()),
            older: RwSignal::new(None),
            run: RwSignal::new(None),
            stream: StoredValue::new_local(None),
            only_now: RwSignal::new(None),
            text: RwSignal::new(String::new()),
            offer: RwSignal::new(None),
            mistake: RwSignal::new(None),
            start: RwSignal::new(None),
            models: RwSignal::new(Vec::new()),
            sending: RwSignal::new(false),
        };
        chat.follow();
        chat
    }

    fn follow(self) {
        let app = self.app;
        spawn_local(async move {
            if let Ok(models) = app.api().models().await {
                self.models.try_set(models.items);
            }
        });
        Effect::new(move |_| {
            self.query.track();
            self.load_list();
        });
        // Another conversation: what was shown of the one before goes away at once.
        Effect::new(move |before: Option<Option<String>>| {
            let id = self.id.get();
            let made_here = self.talk.with_untracked(|talk| talk.as_ref().map(|talk| talk.id.clone())) == id
                && id.is_some();
            if before.as_ref() != Some(&id) && !made_here {
                self.open(id.clone());
            }
            id
        });
        // What is written is kept until it is sent.
        Effect::new(move |before: Option<()>| {
            let text = self.text.get();
            if before.is_some() {
                keep_draft(self.id.get_untracked().as_deref(), &text);
            }
        });
        // A profile that was renamed or deleted is called otherwise in the conversation.
        Effect::new(move |before: Option<()>| {
            app.profiles.list.track();
            let id = self.id.get_untracked();
            if let (Some(()), Some(id)) = (before, id) {
                spawn_local(async move {
                    if let Ok(talk) = app.api().talk(&id).await {
                        self.take(talk);
                    }
                });
            }
        });
        // Whatever changes what a message would carry.
        Effect::new(move |_| {
            self.talk.track();
            self.draft_settings.track();
            self.only_now.track();
            self.start.track();
            app.profiles.list.track();
            app.catalog.with(|catalog| catalog.revision);
            self.ask_offer();
        });
        let back = window_event_listener_untyped("visibilitychange", move |_| {
            if document().visibility_state() == web_sys::VisibilityState::Visible {
                self.refresh();
            }
        });
        on_cleanup(move || {
            back.remove();
            self.stream.try_set_value(None);
        });
    }

    /// What is set now.
    pub(crate) fn settings(&self) -> Settings {
        self.talk.with(|talk| match talk {
            Some(talk) => Settings {
                profile: talk.profile.clone(),
                tools: talk.tools_enabled,
                web: talk.web_search,
                attended: talk.attended,
                model: talk.model.clone(),
            },
            None => self.draft_settings.get(),
        })
    }

    fn load_list(self) {
        let app = self.app;
        let query = self.query.get_untracked();
        spawn_local(async move {
            let page = app.api().talks(query.trim(), None).await;
            if let Ok(page) = page
                && self.query.try_get_untracked().as_deref() == Some(query.as_str())
            {
                self.list.set(page.items);
                self.more.set(page.next_cursor);
            }
        });
    }

    /// Reads the next page of the list.
    pub(crate) fn load_more(self) {
        let app = self.app;
        let Some(cursor) = self.more.get_untracked() else { return };
        let query = self.query.get_untracked();
        spawn_local(async move {
            if let Ok(page) = app.api().talks(query.trim(), Some(&cursor)).await {
                self.list.try_update(|list| list.extend(page.items));
                self.more.try_set(page.next_cursor);
            }
        });
    }

    fn open(self, id: Option<String>) {
        self.stream.set_value(None);
        self.run.set(None);
        self.talk.set(None);
        self.trouble.set(None);
        self.mistake.set(None);
        self.messages.set(Vec::new());
        self.older.set(None);
        self.only_now.set(None);
        self.text.set(kept_draft(id.as_deref()));
        if id.is_none() {
            self.draft_settings.set(Settings::default());
        }
        self.refresh();
    }

    /// Reads the open conversation again: another tab or device may have changed it.
    pub(crate) fn refresh(self) {
        let app = self.app;
        let id = self.id.get_untracked();
        spawn_local(async move {
            let api = app.api();
            if let Ok(start) = api.start().await {
                self.start.try_set(Some(start));
            }
            let Some(id) = id else { return };
            let talk = api.talk(&id).await;
            if self.id.try_get_untracked() != Some(Some(id.clone())) {
                return;
            }
            match talk {
                Ok(talk) => self.take(talk),
                Err(failure) => return self.trouble.set(Some(failure.sentence())),
            }
            self.read_messages(&id).await;
        });
    }

    /// Shows a conversation as it is now.
    fn take(self, talk: Conversation) {
        self.list.update(|list| {
            if let Some(known) = list.iter_mut().find(|known| known.id == talk.id) {
                known.clone_from(&talk);
            }
        });
        if self.id.get_untracked().as_ref() == Some(&talk.id) {
            self.talk.set(Some(talk));
        }
    }

    async fn read_messages(self, id: &str) {
        let Ok(mut page) = self.app.api().messages(id, None).await else { return };
        if self.id.try_get_untracked() != Some(Some(id.to_owned())) {
            return;
        }
        page.items.reverse();
        // A message without an answer has a run that goes on.
        let waits = page.items.last().filter(|message| message.role == MessageRole::User);
        let waits = waits.map(|message| message.run_id.clone());
        self.messages.set(page.items);
        self.older.set(page.next_cursor);
        let listening = self.run.with_untracked(|run| run.as_ref().map(|run| run.id.clone()));
        match waits {
            Some(run) if listening.as_ref() != Some(&run) => self.listen(&run),
            Some(_) => {}
            None => self.run.set(None),
        }
    }

    /// Reads what was said before.
    pub(crate) fn load_older(self) {
        let (Some(id), Some(cursor)) = (self.id.get_untracked(), self.older.get_untracked()) else { return };
        let app = self.app;
        spawn_local(async move {
            if let Ok(mut page) = app.api().messages(&id, Some(&cursor)).await {
                page.items.reverse();
                self.messages.try_update(|messages| {
                    messages.splice(0..0, page.items);
                });
                self.older.try_set(page.next_cursor);
            }
        });
    }

    fn listen(self, run: &str) {
        let id = self.id.get_untracked().unwrap_or_default();
        self.stream.set_value(RunStream::open(run, move |heard, over| {
            self.run.try_update(|run| *run = heard.apply(run.take()));
            if over {
                let id = id.clone();
                spawn_local(async move {
                    // The answer is stored by now, and takes the place of what was streamed.
                    self.read_messages(&id).await;
                    if let Ok(talk) = self.app.api().talk(&id).await {
                        self.take(talk);
                    }
                });
            }
        }));
    }

    /// Whether an answer is being written.
    pub(crate) fn is_running(&self) -> bool {
        self.run.with(|run| run.as_ref().is_some_and(|run| run.state == RunState::Running))
    }

    /// Sends what is written.
    pub(crate) fn send(self) {
        let text = self.text.get_untracked();
        self.say(text, override_of(self.only_now.get_untracked().as_deref()));
    }

    /// Says something; makes the conversation first if there is none.
    pub(crate) fn say(self, text: String, tools_override: Option<serde_json::Value>) {
        if text.trim().is_empty() || self.sending.get_untracked() {
            return;
        }
        self.sending.set(true);
        self.mistake.set(None);
        spawn_local(async move {
            if let Err(failure) = self.try_to_say(text, tools_override).await {
                self.mistake.try_set(Some(failure.sentence()));
            }
            self.sending.try_set(false);
        });
    }

    async fn try_to_say(
        self,
        text: String,
        tools_override: Option<serde_json::Value>,
    ) -> Result<(), Failure> {
        let api = self.app.api();
        let id = if let Some(id) = self.id.get_untracked() {
            id
        } else {
            let settings = self.draft_settings.get_untracked();
            let new = CreateConversation {
                profile: settings.profile,
                tools_enabled: Some(settings.tools),
                web_search: settings.web,
                attended: Some(settings.attended),
                model: Some(settings.model),
                ..CreateConversation::default()
            };
            let talk = api.create_talk(&new).await?;
            let id = talk.id.clone();
            keep_draft(None, "");
            self.list.update(|list| list.insert(0, talk.clone()));
            self.talk.set(Some(talk));
            self.app.go(Route::Chat { id: Some(id.clone()) });
            id
        };
        let turn = CreateTurn { message: text, tools_override };
        let started = api.say(&id, &turn).await?;
        self.text.set(String::new());
        self.only_now.set(None);
        self.messages.update(|messages| {
            messages.push(Message {
                id: started.message_id,
                role: MessageRole::User,
                text: turn.message,
                run_id: started.run_id.clone(),
                state: RunState::Running,
                code: None,
                detail: None,
                tools_override: turn.tools_override,
                calls: Vec::new(),
                created_at: String::new(),
            });
        });
        self.listen(&started.run_id);
        Ok(())
    }

    /// Stops the run that goes on.
    pub(crate) fn stop(self) {
        let Some(run) = self.run.with_untracked(|run| run.as_ref().map(|run| run.id.clone())) else { return };
        let app = self.app;
        spawn_local(async move {
            if let Err(failure) = app.api().cancel(&run).await {
                app.toasts.warn(&failure.sentence());
            }
        });
    }

    /// Changes a setting: of the conversation at once, or of the one that is not made yet.
    pub(crate) fn set(self, change: UpdateConversation) {
        let Some(talk) = self.talk.get_untracked() else {
            return self.draft_settings.update(|settings| {
                settings.profile = change.profile.apply(settings.profile.take());
                settings.tools = change.tools_enabled.unwrap_or(settings.tools);
                settings.web = change.web_search.apply(settings.web);
                settings.attended = change.attended.unwrap_or(settings.attended);
                if let Some(model) = change.model {
                    settings.model = model;
                }
            });
        };
        let app = self.app;
        spawn_local(async move {
            if let Err(failure) = self.update(&talk.id, talk.revision, &change).await {
                app.toasts.warn(&failure.sentence());
                self.refresh();
            }
        });
    }

    /// Changes a conversation. A change of something else in the meantime is kept: only these fields are sent, and sent
    /// again for the revision of now.
    pub(crate) async fn update(
        self,
        id: &str,
        revision: u64,
        change: &UpdateConversation,
    ) -> Result<(), Failure> {
        let api = self.app.api();
        let now = match api.update_talk(id, revision, change).await {
            Err(Failure::Refused(problem)) if problem.status == 412 => {
                let now = api.talk(id).await?;
                api.update_talk(id, now.revision, change).await?
            }
            other => other?,
        };
        self.take(now);
        Ok(())
    }

    /// Picks a toolset for the conversation, or takes the pick back.
    pub(crate) fn pick(self, name: Option<String>) {
        let profile = name.map_or(Change::Clear, Change::Set);
        if !self.messages.with_untracked(Vec::is_empty) {
            self.app.toasts.say("Other tools from the next message on. A provider then reads the conversation anew: its prompt cache no longer fits.");
        }
        self.set(UpdateConversation { profile, ..UpdateConversation::default() });
    }

    /// Deletes a conversation.
    pub(crate) fn delete(self, id: String) {
        let app = self.app;
        spawn_local(async move {
            match app.api().delete_talk(&id).await {
                Ok(()) => {
                    self.list.update(|list| list.retain(|talk| talk.id != id));
                    keep_draft(Some(&id), "");
                    if self.id.get_untracked() == Some(id) {
                        app.go(Route::Chat { id: None });
                    }
                    app.toasts.say("The conversation is deleted.");
                }
                Err(failure) => app.toasts.warn(&failure.sentence()),
            }
        });
    }

    fn ask_offer(self) {
        let only_now = self.only_now.get_untracked();
        let talk = self.talk.get_untracked();
        if talk.is_none() && self.id.get_untracked().is_some() {
            return;
        }
        let asked = if let Some(talk) = &talk {
            Resolve {
                conversation_id: Some(talk.id.clone()),
                tools_override: override_of(only_now.as_deref()),
                ..Resolve::default()
            }
        } else {
            let settings = self.draft_settings.get_untracked();
            Resolve {
                new_conversation: true,
                tools_override: Some(override_before(&settings, only_now.as_deref())),
                model: Some(settings.model),
                ..Resolve::default()
            }
        };
        let app = self.app;
        spawn_local(async move {
            match app.api().offer(&asked).await {
                Ok(offer) => {
                    self.offer.try_set(Some(offer));
                }
                Err(failure) => {
                    self.offer.try_set(None);
                    self.mistake.try_set(Some(failure.sentence()));
                }
            }
        });
    }
}

fn key(id: Option<&str>) -> String {
    format!("toolshelf.draft.{}", id.unwrap_or("new"))
}

/// Keeps what is written in a conversation. Storage may be forbidden; it then lasts as long as the page.
fn keep_draft(id: Option<&str>, text: &str) {
    let Some(storage) = window().local_storage().ok().flatten() else { return };
    let _ = if text.is_empty() { storage.remove_item(&key(id)) } else { storage.set_item(&key(id), text) };
}

fn kept_draft(id: Option<&str>) -> String {
    let storage = window().local_storage().ok().flatten();
    storage.and_then(|storage| storage.get_item(&key(id)).ok().flatten()).unwrap_or_default()
}
