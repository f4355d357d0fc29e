//! The calls about conversations.

use serde::Deserialize;
use serde_json::Value;
use toolshelf_api::{
    Conversation, CreateConversation, CreateTurn, Message, Model, OverLimit, Page, Resolve, StartedRun,
    StartsWith, UpdateConversation, Verdict,
};
use toolshelf_frontend::model::chat::Heard;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{EventSource, MessageEvent};

use super::http::{Parts, Reply, send, send_empty};
use super::tools::Api;

/// The part of a [`toolshelf_api::Resolved`] that a composer shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Named>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) tokens: Total,
    pub(crate) over_limit: Option<OverLimit>,
}

/// A tool of which only the name matters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}

/// What tools cost.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Total {
    pub(crate) total: u32,
}

fn get() -> Parts<'static> {
    Parts { method: "GET", ..Parts::default() }
}

impl Api {
    /// The user's conversations whose title holds a text, newest first, after those before.
    pub(crate) async fn talks(&self, query: &str, cursor: Option<&str>) -> Reply<Page<Conversation>> {
        let mut path = "/conversations?limit=50".to_owned();
        for (name, value) in [("query", query), ("cursor", cursor.unwrap_or_default())] {
            if !value.is_empty() {
                let value: String = js_sys::encode_uri_component(value).into();
                path = format!("{path}&{name}={value}");
            }
        }
        send(&path, get()).await
    }

    /// One conversation.
    pub(crate) async fn talk(&self, id: &str) -> Reply<Conversation> {
        send(&format!("/conversations/{id}"), get()).await
    }

    /// Makes a conversation.
    pub(crate) async fn create_talk(&self, new: &CreateConversation) -> Reply<Conversation> {
        send("/conversations", self.write("POST", new)).await
    }

    /// Changes a conversation, if it is still at this revision.
    pub(crate) async fn update_talk(
        &self,
        id: &str,
        revision: u64,
        change: &UpdateConversation,
    ) -> Reply<Conversation> {
        let parts = Parts { revision: Some(revision), ..self.write("PATCH", change) };
        send(&format!("/conversations/{id}"), parts).await
    }

    /// Deletes a conversation.
    pub(crate) async fn delete_talk(&self, id: &str) -> Reply<()> {
        send_empty(&format!("/conversations/{id}"), self.bare("DELETE", None)).await
    }

    /// What was said, newest first, before a place.
    pub(crate) async fn messages(&self, id: &str, cursor: Option<&str>) -> Reply<Page<Message>> {
        let cursor = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        send(&format!("/conversations/{id}/messages{cursor}"), get()).await
    }

    /// Says something.
    pub(crate) async fn say(&self, id: &str, turn: &CreateTurn) -> Reply<StartedRun> {
        send(&format!("/conversations/{id}/turns"), self.write("POST", turn)).await
    }

    /// Stops a run.
    pub(crate) async fn cancel(&self, run: &str) -> Reply<()> {
        send_empty(&format!("/runs/{run}/cancel"), self.write("POST", &Value::Null)).await
    }

    /// The models that can answer.
    pub(crate) async fn models(&self) -> Reply<Page<Model>> {
        send("/models", get()).await
    }

    /// What new conversations start with.
    pub(crate) async fn start(&self) -> Reply<StartsWith> {
        send("/start-profile", get()).await
    }

    /// What a message would carry.
    pub(crate) async fn offer(&self, asked: &Resolve) -> Reply<Offer> {
        send("/resolve", self.write("POST", asked)).await
    }
}

/// An open stream of a run; dropping it closes it.
pub(crate) struct RunStream {
    source: EventSource,
    _message: Closure<dyn FnMut(MessageEvent)>,
}

impl RunStream {
    /// Opens the stream. The browser goes on by itself where a broken one stopped.
    pub(crate) fn open(run: &str, listen: impl Fn(Heard, bool) + 'static) -> Option<Self> {
        let source = EventSource::new(&format!("/api/v1/runs/{run}/events")).ok()?;
        let stop = source.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
            let Some(data) = message.data().as_string() else { return };
            let Ok(heard) = serde_json::from_str::<Heard>(&data) else { return };
            let over = message.type_() == "finished";
            if over {
                stop.close();
            }
            listen(heard, over);
        });
        for kind in ["resync", "node", "delta", "finished"] {
            source.add_event_listener_with_callback(kind, message.as_ref().unchecked_ref()).ok()?;
        }
        Some(Self { source, _message: message })
    }
}

impl Drop for RunStream {
    fn drop(&mut self) {
        self.source.close();
    }
}
