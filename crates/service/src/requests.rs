//! The only builder of requests: everything that lists, shows, resolves or calls goes through it.

use serde_json::Value;
use toolshelf_api::{FieldError, Resolve};
use toolshelf_core::{
    Approvals, Conversation, InvalidOverride, Loaded, ModelLimits, Pattern, Request, RequestError, Scope,
    Snapshot, Toolset, TurnOverride,
};
use toolshelf_runtime::store::{ConversationRow, LoadedToolRow, StoreError};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::references;
use crate::starts::starting;

/// What somebody asks for, beyond who they are. Everything absent stands for itself.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The toolset.
    pub toolset: Option<Toolset>,
    /// What the message says about tools.
    pub turn: TurnOverride,
    /// The model that the tools are meant for; absent means the conversation's.
    pub model: Option<String>,
    /// Whether a person reads along; absent means as the conversation says.
    pub attended: Option<bool>,
    /// The id of one of the actor's conversations.
    pub conversation_id: Option<String>,
    /// Whether to ask as in a conversation that the actor would make now.
    pub new_conversation: bool,
    /// Channels to add.
    pub source: Vec<String>,
    /// Patterns of which a tool must match one.
    pub allow: Option<Vec<Pattern>>,
    /// Patterns of tools to remove.
    pub deny: Vec<Pattern>,
    /// Whether tools that cannot run now are shown all the same. Previews only.
    pub unavailable_too: bool,
}

impl Asked {
    /// Reads a resolve request; reports every field that is wrong.
    pub fn from_resolve(snapshot: &Snapshot, resolve: Resolve) -> Result<Self, ServiceError> {
        let mut errors = Vec::new();
        let allow = resolve.allow.map(|allow| patterns("/allow", &allow, &mut errors));
        let deny = patterns("/deny", &resolve.deny, &mut errors);
        for (position, channel) in resolve.source.iter().enumerate() {
            let valid = (1..=32).contains(&channel.len())
                && channel
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            if !valid {
                let message =
                    "Use 1 to 32 lower-case letters, digits or '-', such as web or telegram.".to_owned();
                errors.push(FieldError { pointer: format!("/source/{position}"), message });
            }
        }
        let toolset = match resolve.toolset {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(Toolset::named(snapshot, &name)?),
            Some(Value::Array(names)) => list(&names, &mut errors).map(Toolset::List),
            Some(_) => {
                let message = "Use the name of a toolset, or a list of tool names.".to_owned();
                errors.push(FieldError { pointer: "/toolset".to_owned(), message });
                None
            }
        };
        let turn = match resolve.tools_override {
            None => TurnOverride::default(),
            Some(value) => match turn_override(snapshot, &value) {
                Ok(turn) => turn,
                Err(ServiceError::Invalid(wrong)) => {
                    errors.extend(wrong);
                    TurnOverride::default()
                }
                Err(other) => return Err(other),
            },
        };
        if resolve.new_conversation && resolve.conversation_id.is_some() {
            let message = "Name a conversation, or ask as in a new one, not both.".to_owned();
            errors.push(FieldError { pointer: "/new_conversation".to_owned(), message });
        }
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        Ok(Self {
            toolset,
            turn,
            model: resolve.model,
            attended: resolve.attended,
            conversation_id: resolve.conversation_id,
            new_conversation: resolve.new_conversation,
            source: resolve.source,
            allow,
            deny,
            unavailable_too: resolve.only_available == Some(false),
        })
    }
}

/// Reads what a message says about tools.
pub(crate) fn turn_override(snapshot: &Snapshot, value: &Value) -> Result<TurnOverride, ServiceError> {
    TurnOverride::parse(snapshot, value).map_err(|error| match error {
        InvalidOverride::Parts(parts) => ServiceError::Invalid(
            parts
                .into_iter()
                .map(|part| {
                    let close = part.suggestions.join(", ");
                    let message = if close.is_empty() {
                        part.message
                    } else {
                        format!("{} Close names: {close}.", part.message)
                    };
                    FieldError { pointer: format!("/tools_override{}", part.pointer), message }
                })
                .collect(),
        ),
        InvalidOverride::Toolset(error) => {
            ServiceError::Request { error, pointer: "/tools_override/profile" }
        }
    })
}

/// What was chosen in a conversation. A reference that cannot be read is damage, and never becomes no choice.
fn chosen_in(row: &ConversationRow, loaded: Vec<LoadedToolRow>) -> Result<Conversation, ServiceError> {
    let read = |reference: &String| {
        references::read(reference).ok_or_else(|| {
            StoreError::Corrupt(format!("conversations where id = {}: {reference:?} is no toolset", row.id))
        })
    };
    Ok(Conversation {
        id: row.id.as_str().into(),
        pick: row.pick.as_ref().map(read).transpose()?,
        fallback: row.fallback.as_ref().map(|(reference, _)| read(reference)).transpose()?,
        pin: row.pin.as_ref().map(read).transpose()?,
        tools_enabled: row.tools_enabled,
        web_search: row.web_search,
        loaded: loaded
            .into_iter()
            .map(|row| Loaded { tool: row.tool.into(), definition: row.definition.into() })
            .collect(),
    })
}

fn patterns(pointer: &str, texts: &[String], errors: &mut Vec<FieldError>) -> Vec<Pattern> {
    let mut patterns = Vec::with_capacity(texts.len());
    for (position, text) in texts.iter().enumerate() {
        match Pattern::parse(text) {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => {
                errors.push(FieldError {
                    pointer: format!("{pointer}/{position}"),
                    message: error.to_string(),
                });
            }
        }
    }
    patterns
}

fn list(names: &[Value], errors: &mut Vec<FieldError>) -> Option<Vec<String>> {
    let mut list = Vec::with_capacity(names.len());
    for (position, name) in names.iter().enumerate() {
        match name {
            Value::String(name) => list.push(name.clone()),
            _ => errors.push(FieldError {
                pointer: format!("/toolset/{position}"),
                message: "Use the name of a tool.".to_owned(),
            }),
        }
    }
    errors.is_empty().then_some(list)
}

impl Service {
    /// Builds the request for an actor. The channel that it came over is added here; whatever is asked for can add
    /// others and remove none.
    pub async fn request(&self, actor: &Actor, asked: Asked) -> Result<Request, ServiceError> {
        let in_browser = actor.session().is_some();
        let row = match asked.conversation_id {
            None => None,
            Some(id) => match self.own_conversation(actor, &id).await {
                Ok(row) => Some(row),
                Err(ServiceError::NotFound { .. }) => {
                    return Err(ServiceError::invalid(
                        "/conversation_id",
                        "You have no conversation with this id.",
                    ));
                }
                Err(other) => return Err(other),
            },
        };
        let conversation = match &row {
            Some(row) => {
                let loaded = self.store().read().await?.list_loaded_tools(&row.id).await?;
                Some(chosen_in(row, loaded)?)
            }
            None if asked.new_conversation => Some(self.as_new(actor).await?),
            None => None,
        };
        let mut source = asked.source;
        let channel = if in_browser { "web" } else { "api" };
        if !source.iter().any(|known| known == channel) {
            source.push(channel.to_owned());
        }
        let limits = match asked.model.as_deref().or(row.as_ref().map(|row| row.model.as_str())) {
            None => ModelLimits::default(),
            Some(model) => self.model_limits(model)?,
        };
        // Whoever is not there cannot be asked, whatever the channel.
        let attended = asked.attended.unwrap_or_else(|| row.as_ref().is_none_or(|row| row.attended));
        let approvals = match (attended, in_browser) {
            (false, _) => Approvals::None,
            (true, true) => Approvals::Inline,
            (true, false) => Approvals::Queue,
        };
        let scope = Scope {
            turn: asked.turn,
            toolset: asked.toolset,
            conversation,
            source,
            can_ask: in_browser && attended,
            approvals,
            allow: asked.allow,
            deny: asked.deny,
            only_available: !asked.unavailable_too,
            limits,
        };
        Ok(Request::new(actor.caller().clone(), scope))
    }

    /// What a conversation would be that the actor made now. It has no id, and is stored nowhere.
    async fn as_new(&self, actor: &Actor) -> Result<Conversation, ServiceError> {
        let starts = starting(&mut *self.store().read().await?, actor.user_id()).await?;
        let fallback = starts.as_ref().and_then(|(reference, _)| references::read(reference));
        Ok(Conversation { fallback, ..Conversation::new("") })
    }
}

impl From<RequestError> for ServiceError {
    fn from(error: RequestError) -> Self {
        Self::Request { error, pointer: "/toolset" }
    }
}
