//! The calls about upstream servers.

use std::collections::BTreeMap;

use serde_json::Value;
use toolshelf_api::{
    AcceptChanges, ChangeDecision, ConfirmPassword, CreateMcpServer, DecideChange, ImportMcpServers,
    ToolChange, TriedConnection, UpdateMcpServer,
};
use toolshelf_frontend::model::upstream::{ImportedServer, Server};
use toolshelf_frontend::model::upstream_read as read;
use web_sys::AbortSignal;

use super::http::{CONFIRM, Failure, Parts, Reply, send, send_empty};
use super::tools::Api;

/// What reads a single thing.
fn get() -> Parts<'static> {
    Parts { method: "GET", ..Parts::default() }
}

/// A server's path. Its name may come from the address bar, and then holds anything.
fn path(name: &str, rest: &str) -> String {
    let name: String = js_sys::encode_uri_component(name).into();
    format!("/mcp-servers/{name}{rest}")
}

/// Sends a request whose answer is read by hand. All of them share this.
async fn ask(path: &str, parts: Parts<'_>) -> Reply<Value> {
    send(path, parts).await
}

/// Reads the server that a request answers with.
async fn ask_server(path: &str, parts: Parts<'_>) -> Reply<Server> {
    read::server(&ask(path, parts).await?).ok_or_else(|| Failure::unreadable(200))
}

impl Api {
    /// Every server, by name.
    pub(crate) async fn servers(&self) -> Reply<Vec<Server>> {
        let page = ask("/mcp-servers?limit=500", get()).await?;
        Ok(read::list(&page, "items", read::server).into_iter().flatten().collect())
    }

    /// One server.
    pub(crate) async fn server(&self, name: &str) -> Reply<Server> {
        ask_server(&path(name, ""), get()).await
    }

    /// Adds a server.
    pub(crate) async fn create_server(&self, new: &CreateMcpServer) -> Reply<Server> {
        ask_server("/mcp-servers", self.write("POST", new)).await
    }

    /// Changes a server, if it is still at this revision.
    pub(crate) async fn update_server(
        &self,
        name: &str,
        revision: u64,
        change: &UpdateMcpServer,
    ) -> Reply<Server> {
        let parts = Parts { revision: Some(revision), ..self.write("PATCH", change) };
        ask_server(&path(name, ""), parts).await
    }

    /// Removes a server, if it is still at this revision.
    pub(crate) async fn delete_server(&self, name: &str, revision: u64) -> Reply<()> {
        send_empty(&path(name, ""), self.bare("DELETE", Some(revision))).await
    }

    /// Connects a server anew, or reads its tools again.
    pub(crate) async fn refresh_server(&self, name: &str) -> Reply<()> {
        send_empty(&path(name, "/refresh"), self.write("POST", &Value::Null)).await
    }

    /// Connects once and adds nothing.
    pub(crate) async fn try_server(
        &self,
        new: &CreateMcpServer,
        abort: &AbortSignal,
    ) -> Reply<TriedConnection> {
        let parts = Parts { abort: Some(abort), ..self.write("POST", new) };
        Ok(read::tried(&ask("/mcp-servers/test", parts).await?))
    }

    /// Says what a document holds, or adds its servers.
    pub(crate) async fn import_servers(&self, import: &ImportMcpServers) -> Reply<Vec<ImportedServer>> {
        let answer = ask("/mcp-servers/import", self.write("POST", import)).await?;
        Ok(read::list(&answer, "servers", read::imported))
    }

    /// The tools of a server that wait for a decision.
    pub(crate) async fn changes(&self, name: &str) -> Reply<Vec<ToolChange>> {
        let page = ask(&path(name, "/changes?limit=500"), get()).await?;
        Ok(read::list(&page, "items", read::change))
    }

    /// Accepts one tool as it was shown.
    pub(crate) async fn accept(&self, name: &str, change: &ToolChange) -> Reply<()> {
        let definition = Some(change.definition.clone());
        let body = DecideChange { decision: ChangeDecision::Accept, definition };
        let tool: String = js_sys::encode_uri_component(&change.tool).into();
        send_empty(&path(name, &format!("/changes/{tool}")), self.write("POST", &body)).await
    }

    /// Accepts several tools as they were shown.
    pub(crate) async fn accept_all(&self, name: &str, changes: &[ToolChange]) -> Reply<()> {
        let mut definitions = BTreeMap::new();
        for change in changes {
            definitions.insert(change.tool.clone(), change.definition.clone());
        }
        let body = AcceptChanges { definitions };
        send_empty(&path(name, "/changes"), self.write("POST", &body)).await
    }

    /// Confirms the password for the next minutes.
    pub(crate) async fn confirm(&self, password: String) -> Reply<()> {
        send_empty(CONFIRM, self.write("POST", &ConfirmPassword { password })).await
    }
}
