//! The calls that the app makes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolshelf_api::{
    Call, CallResult, Conversation, CreateConversation, DisableTool, Me, NotRegistered, Page, Resolve, Tool,
    Verdict,
};
use web_sys::AbortSignal;

use super::http::{Parts, Reply, send, send_revised};

/// Makes requests in the name of whoever is signed in.
#[derive(Clone)]
pub(crate) struct Api {
    csrf: Arc<str>,
}

/// The part of a [`toolshelf_api::Resolved`] that the page shows.
#[derive(Deserialize)]
pub(crate) struct Decided {
    /// The revision of the snapshot.
    pub(crate) revision: u64,
    /// One verdict for each tool.
    pub(crate) verdicts: Vec<Verdict>,
    /// Tools that did not enter the registry.
    pub(crate) not_registered: Vec<NotRegistered>,
}

/// What a write answers: the tool as it is now.
pub(crate) type Answer = Reply<Tool>;

impl Api {
    /// Requests of this user.
    pub(crate) fn new(me: &Me) -> Self {
        Self { csrf: me.csrf_token.as_deref().unwrap_or_default().into() }
    }

    /// A write without a body.
    pub(super) fn bare(&self, method: &'static str, revision: Option<u64>) -> Parts<'_> {
        Parts { method, csrf: Some(&self.csrf), revision, ..Parts::default() }
    }

    pub(super) fn write<T: Serialize>(&self, method: &'static str, body: &T) -> Parts<'_> {
        // Shapes of the API have string keys only, which is all that could fail.
        let body = serde_json::to_string(body).unwrap_or_default();
        Parts { method, body: Some(body), csrf: Some(&self.csrf), ..Parts::default() }
    }

    /// The whole catalog, without parameters, and the revision of the snapshot that it shows.
    pub(crate) async fn tools(&self) -> Reply<(Page<Tool>, Option<u64>)> {
        send_revised("/tools?limit=5000", Parts { method: "GET", ..Parts::default() }).await
    }

    /// One tool with its parameters.
    pub(crate) async fn tool(&self, name: &str) -> Reply<Tool> {
        send(&tool_path(name), Parts { method: "GET", ..Parts::default() }).await
    }

    /// Every verdict, for a call outside of a conversation.
    pub(crate) async fn resolve(&self) -> Reply<Decided> {
        send("/resolve", self.write("POST", &Resolve::default())).await
    }

    /// Disables a tool for everyone, if it is still at this revision.
    pub(crate) async fn disable(&self, name: &str, reason: String, revision: u64) -> Answer {
        let parts = Parts { revision: Some(revision), ..self.write("PUT", &DisableTool { reason }) };
        send(&format!("{}/disabled", tool_path(name)), parts).await
    }

    /// Enables a tool again, if it is still at this revision.
    pub(crate) async fn enable(&self, name: &str, revision: u64) -> Answer {
        send(&format!("{}/disabled", tool_path(name)), self.bare("DELETE", Some(revision))).await
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, name: &str, call: &Call, abort: &AbortSignal) -> Reply<CallResult> {
        let parts = Parts { abort: Some(abort), ..self.write("POST", call) };
        send(&format!("{}/call", tool_path(name)), parts).await
    }

    /// The user's conversations, newest first.
    pub(crate) async fn conversations(&self) -> Reply<Page<Conversation>> {
        send("/conversations", Parts { method: "GET", ..Parts::default() }).await
    }

    /// Makes a conversation.
    pub(crate) async fn create_conversation(&self, title: &str) -> Reply<Conversation> {
        let body = CreateConversation { title: Some(title.to_owned()), ..CreateConversation::default() };
        send("/conversations", self.write("POST", &body)).await
    }

    /// Who is signed in. Serves to notice that the session ended.
    pub(crate) async fn me(&self) -> Reply<Me> {
        send("/me", Parts { method: "GET", ..Parts::default() }).await
    }
}

fn tool_path(name: &str) -> String {
    // A name from the address bar may hold anything.
    let name: String = js_sys::encode_uri_component(name).into();
    format!("/tools/{name}")
}
