//! The only builder of requests: everything that lists, shows, resolves or calls goes through it.

use serde_json::Value;
use toolshelf_api::{FieldError, Resolve};
use toolshelf_core::{Approvals, Conversation, Pattern, Request, RequestError, Scope, Snapshot, Toolset};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;

/// What somebody asks for, beyond who they are. Everything absent stands for itself.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The toolset.
    pub toolset: Option<Toolset>,
    /// The id of one of the actor's conversations.
    pub conversation_id: Option<String>,
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
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        Ok(Self {
            toolset,
            conversation_id: resolve.conversation_id,
            source: resolve.source,
            allow,
            deny,
            unavailable_too: resolve.only_available == Some(false),
        })
    }
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
        let conversation = match asked.conversation_id {
            None => None,
            Some(id) => match self.own_conversation(actor, &id).await {
                Ok(row) => Some(Conversation { id: row.id.into() }),
                Err(ServiceError::NotFound { .. }) => {
                    return Err(ServiceError::invalid(
                        "/conversation_id",
                        "You have no conversation with this id.",
                    ));
                }
                Err(other) => return Err(other),
            },
        };
        let mut source = asked.source;
        let channel = if in_browser { "web" } else { "api" };
        if !source.iter().any(|known| known == channel) {
            source.push(channel.to_owned());
        }
        let scope = Scope {
            toolset: asked.toolset,
            conversation,
            source,
            can_ask: in_browser,
            approvals: if in_browser { Approvals::Inline } else { Approvals::Queue },
            allow: asked.allow,
            deny: asked.deny,
            only_available: !asked.unavailable_too,
        };
        Ok(Request::new(actor.caller().clone(), scope))
    }
}

impl From<RequestError> for ServiceError {
    fn from(error: RequestError) -> Self {
        Self::Request { error, pointer: "/toolset" }
    }
}
