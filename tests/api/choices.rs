//! What is chosen in a conversation and for a single message, and what the resolver makes of it.

use serde_json::{Value, json};
use toolshelf_tests::{Client, TestApp};

async fn make(client: &Client, name: &str, tools: &[&str]) {
    client.post("/api/v1/profiles", json!({"name": name, "tools": tools})).await.expect(201);
}

async fn talk(client: &Client, new: Value) -> Value {
    client.post("/api/v1/conversations", new).await.expect(201).json()
}

fn path(conversation: &Value) -> String {
    format!("/api/v1/conversations/{}", conversation["id"].as_str().expect("a text"))
}

/// What a message in a conversation would get, by name and sorted.
async fn offered(client: &Client, conversation: &Value, said: Value) -> Vec<String> {
    let asked = json!({"conversation_id": conversation["id"], "tools_override": said});
    let resolved = client.post("/api/v1/resolve", asked).await.expect(200).json();
    let tools = resolved["tools"].as_array().expect("a list").iter();
    let mut names: Vec<String> =
        tools.map(|tool| tool["name"].as_str().expect("a text").to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_pick_belongs_to_the_conversation_and_stays() {
    let (app, admin) = TestApp::with_admin().await;
    make(&admin, "research", &["web_fetch", "read"]).await;
    let untouched = talk(&admin, json!({})).await;
    assert_eq!(untouched["profile"], json!(null));
    assert_eq!(untouched["toolset"], json!({"name": "default", "origin": "default", "missing": false}));
    let picked = talk(&admin, json!({"profile": "Research", "title": "Sources"})).await;
    assert_eq!(picked["profile"], "research");
    assert_eq!(picked["toolset"], json!({"name": "research", "origin": "pick", "missing": false}));
    assert_eq!(offered(&admin, &picked, json!(null)).await, ["read", "web_fetch"]);
    assert_eq!(offered(&admin, &untouched, json!(null)).await.len(), 7);

    // It is by id, so a rename changes the name that is shown and nothing else.
    admin.patch("/api/v1/profiles/research", json!({"name": "sources"})).await.expect(200);
    let renamed = admin.get(&path(&picked)).await.expect(200).json();
    assert_eq!((&renamed["profile"], &renamed["revision"]), (&json!("sources"), &json!(1)));
    admin.post("/api/v1/profiles/sources/tools", json!({"remove": ["read"]})).await.expect(200);

    let app = app.restart().await;
    let admin = app.log_in(toolshelf_tests::ADMIN, toolshelf_tests::PASSWORD).await;
    assert_eq!(admin.get(&path(&picked)).await.expect(200).json(), renamed);
    assert_eq!(offered(&admin, &picked, json!(null)).await, ["web_fetch"]);

    // Null takes the pick back; an absent field leaves it.
    let titled = admin.patch(&path(&picked), json!({"title": "New"})).await.expect(200).json();
    assert_eq!((&titled["profile"], &titled["title"]), (&json!("sources"), &json!("New")));
    let freed = admin.patch(&path(&picked), json!({"profile": null})).await.expect(200).json();
    assert_eq!((&freed["profile"], &freed["toolset"]["origin"]), (&json!(null), &json!("default")));
}

#[tokio::test]
async fn switches_are_kept_and_combined_with_what_a_message_says() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "files", &["read", "grep"]).await;
    let settings = json!({"profile": "files", "tools_enabled": false, "web_search": true, "attended": false});
    let conversation = talk(&admin, settings).await;
    assert_eq!(
        (&conversation["tools_enabled"], &conversation["web_search"], &conversation["attended"]),
        (&json!(false), &json!(true), &json!(false))
    );
    for (said, expected) in [
        (json!(null), &["web_fetch"][..]),
        (json!({"tools": true}), &["grep", "read", "web_fetch"]),
        (json!({"tools": true, "web_search": false}), &["grep", "read"]),
        (json!(["glob"]), &["glob"]),
        (json!([]), &[]),
        (json!({"tools": true, "profile": "none", "add": ["list"]}), &["list", "web_fetch"]),
    ] {
        assert_eq!(offered(&admin, &conversation, said.clone()).await, expected, "{said}");
    }
    let on = json!({"tools_enabled": true, "web_search": null, "attended": true});
    let now = admin.patch(&path(&conversation), on).await.expect(200).json();
    assert_eq!((&now["web_search"], &now["attended"]), (&json!(null), &json!(true)));
    assert_eq!(offered(&admin, &conversation, json!(null)).await, ["grep", "read"]);
    // A call in the conversation goes through the same choice.
    let call = json!({"arguments": {}, "conversation_id": conversation["id"]});
    admin.post("/api/v1/tools/read/call", call.clone()).await.problem(422, "invalid_input");
    let refused = admin.post("/api/v1/tools/list/call", call).await;
    assert_eq!(refused.problem(403, "unauthorized")["verdict"]["code"], "not_in_toolset");
}

#[tokio::test]
async fn every_malformed_override_is_refused_with_pointers() {
    let (_app, admin) = TestApp::with_admin().await;
    let ask = |said: Value| admin.post("/api/v1/resolve", json!({"tools_override": said}));
    for (said, pointers) in [
        (json!(1), &["/tools_override"][..]),
        (json!("read"), &["/tools_override"]),
        (json!([1]), &["/tools_override/0"]),
        (json!(["read", "nope"]), &["/tools_override/1"]),
        (json!({"tools": 1}), &["/tools_override/tools"]),
        (json!({"web_search": null}), &["/tools_override/web_search"]),
        (json!({"profile": ["read"]}), &["/tools_override/profile"]),
        (json!({"add": ["read"], "remove": ["read"]}), &["/tools_override/add/0"]),
        (json!({"add": {"a": 1}}), &["/tools_override/add"]),
        (json!({"bundles": []}), &["/tools_override/bundles"]),
        (json!({"unknown": 1}), &["/tools_override/unknown"]),
    ] {
        ask(said).await.problem(422, "invalid").pointers(pointers);
    }
    let unknown = ask(json!({"profile": "defualt"})).await.problem(422, "unknown_toolset");
    unknown.pointers(&["/tools_override/profile"]).suggests(&["default"]);
}

#[tokio::test]
async fn wrong_choices_change_nothing() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "gone", &["read"]).await;
    admin.delete("/api/v1/profiles/gone").await.expect(204);
    let before = talk(&admin, json!({"profile": "none"})).await;
    for (change, status, code) in [
        (json!({"profile": "nope"}), 422, "unknown_toolset"),
        (json!({"profile": "gone"}), 410, "retired"),
        (json!({"model": "gpt-9"}), 422, "invalid"),
        (json!({"title": ""}), 422, "invalid"),
        (json!({"tools_enabled": "no"}), 422, "invalid"),
        (json!({"fallback": "default"}), 422, "invalid"),
    ] {
        let asked = admin.patch(&path(&before), change.clone()).await;
        assert_eq!(asked.status(), status, "{change}: {}", asked.text());
        asked.problem(status, code);
        if change.get("fallback").is_none() {
            let asked = admin.post("/api/v1/conversations", change).await;
            asked.problem(status, code);
        }
    }
    let agent = admin.post("/api/v1/conversations", json!({"agent": "x"})).await;
    agent.problem(422, "invalid").pointers(&["/agent"]);
    let stale = admin.patch(&path(&before), json!({"title": "x"})).if_match(9).await;
    assert_eq!(stale.problem(412, "stale_revision")["current"], before);
    assert_eq!(admin.get(&path(&before)).await.expect(200).json(), before);
    assert_eq!(admin.get("/api/v1/conversations").await.expect(200).json()["total"], 1);
}

#[tokio::test]
async fn a_conversation_keeps_the_pin_of_the_key_that_made_it() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "files", &["read", "grep"]).await;
    let scopes = ["read", "curate", "call"];
    let key = admin.key_as(json!({"name": "robot", "scopes": scopes, "profile": "files"})).await;
    let conversation = talk(&key, json!({})).await;
    assert_eq!(conversation["toolset"], json!({"name": "files", "origin": "pin", "missing": false}));
    // Its owner speaks in it with a browser session, and the pin holds all the same.
    for said in [json!(null), json!({"profile": "default"}), json!({"web_search": true})] {
        assert_eq!(offered(&admin, &conversation, said.clone()).await, ["grep", "read"], "{said}");
    }
    let asked = json!({"conversation_id": conversation["id"]});
    let resolved = admin.post("/api/v1/resolve", asked).await.expect(200).json();
    let verdicts = resolved["verdicts"].as_array().unwrap();
    let verdict = verdicts.iter().find(|verdict| verdict["tool"] == "glob").unwrap();
    assert_eq!((&verdict["code"], &verdict["by"]["kind"]), (&json!("outside_pin"), &json!("conversation")));
}

#[tokio::test]
async fn conversations_are_searched_by_title() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    for title in ["Weather in Oslo", "WEATHER data", "100%", "天气"] {
        talk(&admin, json!({"title": title})).await;
    }
    for (query, titles) in [
        ("weather", &["WEATHER data", "Weather in Oslo"][..]),
        ("%25", &["100%"]),
        ("%E5%A4%A9", &["天气"]),
        ("nothing", &[]),
    ] {
        let page = admin.get(&format!("/api/v1/conversations?query={query}")).await.expect(200).json();
        let items = page["items"].as_array().unwrap().iter();
        // The clock of the test stands, so their order is open.
        let mut found: Vec<&str> = items.map(|item| item["title"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!((found, &page["total"]), (titles.to_vec(), &json!(titles.len())), "{query}");
        assert_eq!(bob.get(&format!("/api/v1/conversations?query={query}")).await.json()["total"], 0);
    }
}
