//! Profiles, by what is done with them.

mod create;
mod delete;
mod edit;
mod history;
mod names;
mod permissions;
mod random;
mod selection;

use serde_json::{Value, json};
use toolshelf_tests::{Client, Key, Session};

/// The catalog, in its order.
const ALL: [&str; 7] = ["glob", "grep", "list", "read", "todo_create", "todo_list", "web_fetch"];

/// The path of a profile, its name percent-encoded.
fn path(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encoded = name
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("/api/v1/profiles/{}", encoded.collect::<String>())
}

/// Makes a profile of exactly these tools.
async fn make(client: &Client, name: &str, tools: &[&str]) -> Value {
    let new = json!({"name": name, "tools": tools});
    client.post("/api/v1/profiles", new).await.expect(201).json()
}

async fn show(client: &Client, name: &str) -> Value {
    client.get(&path(name)).await.expect(200).json()
}

/// Adds and removes tools.
async fn edit(client: &Client, name: &str, add: &[&str], remove: &[&str]) -> toolshelf_tests::Answer {
    client.post(&format!("{}/tools", path(name)), json!({"add": add, "remove": remove})).await
}

/// A key that reads and calls, pinned to a profile.
async fn pinned_key(session: &Session, profile: &str) -> Key {
    session.key_as(json!({"name": "robot", "scopes": ["read", "call"], "profile": profile})).await
}

/// What a toolset offers, by name and sorted.
async fn offered(client: &Client, toolset: Value) -> Vec<String> {
    let resolved = client.post("/api/v1/resolve", json!({"toolset": toolset})).await.expect(200).json();
    let mut names: Vec<String> = resolved["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect();
    names.sort();
    names
}

/// The verdict about one tool under a toolset.
async fn verdict(client: &Client, toolset: Value, tool: &str) -> Value {
    let resolved = client.post("/api/v1/resolve", json!({"toolset": toolset})).await.expect(200).json();
    let verdicts = resolved["verdicts"].as_array().expect("a list");
    verdicts.iter().find(|verdict| verdict["tool"] == tool).expect("a verdict").clone()
}

/// The names of the profiles, in the order of the list.
async fn listed(client: &Client) -> Vec<String> {
    let page = client.get("/api/v1/profiles?limit=500").await.expect(200).json();
    let items = page["items"].as_array().expect("a list");
    items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}
