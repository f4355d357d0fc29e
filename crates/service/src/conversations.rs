//! Conversations, and what is chosen in them.

use toolshelf_api::{
    Change, ChosenToolset, Conversation, CreateConversation, Page, ToolsetOrigin, UpdateConversation,
};
use toolshelf_core::Snapshot;
use toolshelf_runtime::store::{ConversationRow, FallbackOrigin, LoadedToolRow, UnitOfWork};

use crate::Service;
use crate::account_rules::Fields;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::models::DEFAULT_MODEL;
use crate::references;
use crate::starts::{chosen, starting};
use crate::times::rfc3339;

/// The title of a conversation that nobody named.
pub(crate) const UNTITLED: &str = "New conversation";

/// A conversation as it is shown, with the deferred tools that it loaded.
fn shape(snapshot: &Snapshot, row: ConversationRow, loaded: Vec<LoadedToolRow>) -> Conversation {
    Conversation {
        profile: row.pick.as_deref().map(|pick| references::shown(snapshot, pick)),
        toolset: in_force(snapshot, &row),
        id: row.id,
        title: row.title,
        model: row.model,
        agent: None,
        tools_enabled: row.tools_enabled,
        web_search: row.web_search,
        attended: row.attended,
        loaded: loaded.into_iter().map(|loaded| loaded.tool).collect(),
        revision: row.revision,
        created_at: rfc3339(row.created_at),
        updated_at: rfc3339(row.updated_at),
    }
}

/// The toolset that is in force while a message names none, and what it comes from.
fn in_force(snapshot: &Snapshot, row: &ConversationRow) -> ChosenToolset {
    let (reference, origin) = match (&row.pick, &row.fallback) {
        (Some(pick), _) => (pick.as_str(), ToolsetOrigin::Pick),
        (None, Some((fallback, FallbackOrigin::Start))) => (fallback.as_str(), ToolsetOrigin::Start),
        (None, Some((fallback, FallbackOrigin::Active))) => (fallback.as_str(), ToolsetOrigin::Active),
        (None, None) => ("default", ToolsetOrigin::Default),
    };
    // Everything that is chosen is cut to a pin, so a choice of everything is the pin.
    let (reference, origin) = match &row.pin {
        Some(pin) if reference == "default" => (pin.as_str(), ToolsetOrigin::Pin),
        _ => (reference, origin),
    };
    let missing = references::is_missing(snapshot, reference);
    let name = if missing { String::new() } else { references::shown(snapshot, reference) };
    ChosenToolset { name, origin, missing }
}

/// Whether a text has the form of an id, a UUID in lower case.
fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && groups.concat().bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Service {
    /// One page of the actor's conversations, newest first. The cursor is the id of the last one of the page before.
    pub async fn list_conversations(
        &self,
        actor: &Actor,
        query: Option<&str>,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Conversation>, ServiceError> {
        if cursor.is_some_and(|cursor| !is_id(cursor)) {
            return Err(ServiceError::invalid("cursor", "This is no cursor of this list."));
        }
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.store().read().await?;
        let mut rows = unit.list_conversations(actor.user_id(), query, cursor, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.id.clone());
        let total = unit.count_conversations(actor.user_id(), query).await?;
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let mut loaded = unit.list_loaded_tools_of(actor.user_id(), &ids).await?;
        let items = rows
            .into_iter()
            .map(|row| {
                let loaded = loaded.remove(&row.id).unwrap_or_default();
                shape(&snapshot, row, loaded)
            })
            .collect();
        Ok(Page { items, next_cursor, total })
    }

    /// Makes a conversation. It starts with the user's start profile, else the workspace's active one, for as long as
    /// nobody picks; later changes of either do not touch it.
    pub async fn create_conversation(
        &self,
        actor: &Actor,
        new: CreateConversation,
    ) -> Result<Conversation, ServiceError> {
        let title = new.title.as_deref().unwrap_or(UNTITLED).trim().to_owned();
        let mut fields = Fields::default();
        fields.line("/title", &title, 200);
        if new.agent.is_some() {
            fields.refuse("/agent", "There are no agents here yet. Leave this field out.");
        }
        fields.finish()?;
        let model = new.model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        self.model_limits(&model)?;
        let snapshot = self.registry().snapshot().load()?;
        let pin = actor.caller().identity().key.as_ref().and_then(|key| key.pinned.as_ref());
        let now = self.now();
        let mut unit = self.begin_for(actor).await?;
        let pick = match &new.profile {
            Some(name) => Some(chosen(&mut *unit, &snapshot, name, "/profile").await?),
            None => None,
        };
        let row = ConversationRow {
            id: self.environment().new_id(),
            user_id: actor.user_id().to_owned(),
            title,
            pick,
            fallback: starting(&mut *unit, actor.user_id()).await?,
            pin: pin.and_then(references::stored),
            model,
            tools_enabled: new.tools_enabled.unwrap_or(true),
            web_search: new.web_search,
            attended: new.attended.unwrap_or(true),
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        unit.insert_conversation(&row).await?;
        unit.commit().await?;
        Ok(shape(&snapshot, row, Vec::new()))
    }

    /// One of the actor's conversations.
    pub async fn get_conversation(&self, actor: &Actor, id: &str) -> Result<Conversation, ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let row = self.own_conversation(actor, id).await?;
        let loaded = self.store().read().await?.list_loaded_tools(id).await?;
        Ok(shape(&snapshot, row, loaded))
    }

    /// Changes one of the actor's conversations.
    pub async fn update_conversation(
        &self,
        actor: &Actor,
        id: &str,
        expected_revision: Option<u64>,
        change: UpdateConversation,
    ) -> Result<Conversation, ServiceError> {
        let mut fields = Fields::default();
        let title = change.title.as_deref().map(str::trim);
        if let Some(title) = title {
            fields.line("/title", title, 200);
        }
        fields.finish()?;
        if let Some(model) = &change.model {
            self.model_limits(model)?;
        }
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.begin_for(actor).await?;
        let before = find_own(&mut *unit, actor, id, expected_revision, &snapshot).await?;
        let loaded = unit.list_loaded_tools(id).await?;
        let mut row = before.clone();
        row.title = title.map_or(row.title, str::to_owned);
        match &change.profile {
            Change::Set(name) => row.pick = Some(chosen(&mut *unit, &snapshot, name, "/profile").await?),
            Change::Clear => row.pick = None,
            Change::Keep => {}
        }
        row.model = change.model.unwrap_or(row.model);
        row.tools_enabled = change.tools_enabled.unwrap_or(row.tools_enabled);
        row.web_search = change.web_search.apply(row.web_search);
        row.attended = change.attended.unwrap_or(row.attended);
        if row != before {
            row.revision += 1;
            row.updated_at = self.now();
            if !unit.update_conversation(&row, before.revision).await? {
                return Err(ServiceError::Internal(format!(
                    "the conversation {id} changed in a transaction"
                )));
            }
            unit.commit().await?;
        }
        Ok(shape(&snapshot, row, loaded))
    }

    /// Removes one of the actor's conversations with all that belongs to it.
    pub async fn delete_conversation(
        &self,
        actor: &Actor,
        id: &str,
        expected_revision: Option<u64>,
    ) -> Result<(), ServiceError> {
        let snapshot = self.registry().snapshot().load()?;
        let mut unit = self.begin_for(actor).await?;
        find_own(&mut *unit, actor, id, expected_revision, &snapshot).await?;
        unit.delete_conversation(id).await?;
        unit.commit().await?;
        for live in self.runs().all().iter().filter(|live| live.conversation_id == id) {
            live.cancel();
        }
        Ok(())
    }

    /// Another user's conversation answers like one that does not exist.
    pub(crate) async fn own_conversation(
        &self,
        actor: &Actor,
        id: &str,
    ) -> Result<ConversationRow, ServiceError> {
        let row = self.store().read().await?.find_conversation(id).await?;
        row.filter(|row| row.user_id == actor.user_id())
            .ok_or_else(|| ServiceError::not_found("conversation", id))
    }
}

/// The actor's conversation, if it is at the revision that the actor saw.
async fn find_own(
    unit: &mut dyn UnitOfWork,
    actor: &Actor,
    id: &str,
    expected_revision: Option<u64>,
    snapshot: &Snapshot,
) -> Result<ConversationRow, ServiceError> {
    let row = unit.find_conversation(id).await?.filter(|row| row.user_id == actor.user_id());
    let Some(row) = row else { return Err(ServiceError::not_found("conversation", id)) };
    if expected_revision.is_some_and(|expected| expected != row.revision) {
        let loaded = unit.list_loaded_tools(id).await?;
        let current = serde_json::to_value(shape(snapshot, row, loaded)).map_err(|error| {
            ServiceError::Internal(format!("a conversation cannot be written as JSON: {error}"))
        })?;
        return Err(ServiceError::Stale { current });
    }
    Ok(row)
}
