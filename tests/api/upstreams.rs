//! Upstream MCP servers: adding, changing and removing them, what they list, and calling their tools.

mod calls;
mod changes;
mod entries;
mod hostile;
mod import;
mod loading;
mod real;

use serde_json::{Value, json};
use toolshelf_tests::{EventStream, FakeMcp, Session, within};

/// An admin who hears what happens to servers.
pub(crate) struct Watch {
    pub(crate) admin: Session,
    events: EventStream,
}

impl Watch {
    pub(crate) async fn new(admin: Session) -> Self {
        let events = admin.listen().await;
        Self { admin, events }
    }

    /// Adds a scripted server.
    pub(crate) async fn add(&mut self, name: &str, fake: &FakeMcp, settings: Value) -> Value {
        let new = json!({"name": name, "connection": fake.connection(), "settings": settings});
        self.admin.post("/api/v1/mcp-servers", new).await.expect(201).json()
    }

    /// Adds a scripted server and waits until it answers.
    pub(crate) async fn ready(&mut self, name: &str, fake: &FakeMcp) -> Value {
        self.add(name, fake, json!({})).await;
        self.until(name, |server| server["status"]["state"] == "ready").await
    }

    /// A server as it is now.
    pub(crate) async fn server(&self, name: &str) -> Value {
        self.admin.get(&format!("/api/v1/mcp-servers/{name}")).await.expect(200).json()
    }

    /// Waits until a server is as it should be. Each notice is a reason to look again.
    pub(crate) async fn until(&mut self, name: &str, is: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let seen = within("a server to become as expected", async {
            loop {
                last = self.server(name).await;
                if is(&last) {
                    return last.clone();
                }
                let event = self.events.next().await;
                assert_ne!(event.name, "resync");
            }
        });
        seen.await
    }

    /// The names of a server's tools, as the catalog lists them.
    pub(crate) async fn tools(&self, server: &str) -> Vec<String> {
        let page =
            self.admin.get(&format!("/api/v1/tools?source=mcp:{server}&limit=5000")).await.expect(200).json();
        let items = page["items"].as_array().expect("a list");
        items.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The verdict of a tool for a call outside of a conversation.
    pub(crate) async fn verdict(&self, tool: &str) -> Value {
        let resolved = self.admin.post("/api/v1/resolve", json!({})).await.expect(200).json();
        let verdicts = resolved["verdicts"].as_array().expect("verdicts");
        verdicts.iter().find(|verdict| verdict["tool"] == tool).cloned().unwrap_or(Value::Null)
    }
}
