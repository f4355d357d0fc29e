//! Conversations, and tools that need one.

use serde_json::json;
use toolshelf_tests::TestApp;

#[tokio::test]
async fn conversations_are_their_owners_alone() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let created = bob.post("/api/v1/conversations", json!({"title": " Plans "})).await.expect(201);
    let conversation = created.json();
    assert_eq!((created.header("etag"), &conversation["title"]), ("\"r1\"", &json!("Plans")));
    let id = conversation["id"].as_str().unwrap();
    let path = format!("/api/v1/conversations/{id}");
    let shown = bob.get(&path).await.expect(200);
    assert_eq!((shown.header("etag"), shown.json()), ("\"r1\"", conversation.clone()));

    // An admin sees other people's as little as anybody.
    admin.get(&path).await.problem(404, "unknown_conversation");
    admin.delete(&path).await.problem(404, "unknown_conversation");
    assert_eq!(admin.get("/api/v1/conversations").await.expect(200).json()["total"], 0);
    let elsewhere = json!({"arguments": {"todos": ["x"]}, "conversation_id": id});
    for (path, body) in [
        ("/api/v1/tools/todo_create/call", elsewhere),
        ("/api/v1/resolve", json!({"conversation_id": id})),
        ("/api/v1/resolve", json!({"conversation_id": "nonsense"})),
    ] {
        admin.post(path, body).await.problem(422, "invalid").pointers(&["/conversation_id"]);
    }

    bob.delete(&path).await.expect(204);
    bob.get(&path).await.problem(404, "unknown_conversation");
    bob.delete(&path).await.problem(404, "unknown_conversation");
}

#[tokio::test]
async fn deleting_on_an_old_revision_is_refused_with_the_current_state() {
    let (_app, admin) = TestApp::with_admin().await;
    let conversation = admin.post("/api/v1/conversations", json!({})).await.expect(201).json();
    let path = format!("/api/v1/conversations/{}", conversation["id"].as_str().unwrap());
    let stale = admin.delete(&path).if_match(2).await;
    assert_eq!(stale.problem(412, "stale_revision")["current"], conversation);
    admin.delete(&path).header("if-match", "1").await.problem(400, "malformed_if_match");
    admin.get(&path).await.expect(200);
    admin.delete(&path).if_match(1).await.expect(204);
}

#[tokio::test]
async fn titles_are_one_line() {
    let (_app, admin) = TestApp::with_admin().await;
    let long = "x".repeat(201);
    for title in ["", " ", "a\nb", "a\u{202E}b", long.as_str()] {
        let asked = admin.post("/api/v1/conversations", json!({"title": title}));
        asked.await.problem(422, "invalid").pointers(&["/title"]);
    }
    admin.post("/api/v1/conversations", json!({"title": "读".repeat(200)})).await.expect(201);
}

#[tokio::test]
async fn todos_belong_to_a_conversation() {
    let (_app, admin) = TestApp::with_admin().await;
    for tool in ["todo_create", "todo_list"] {
        let arguments = if tool == "todo_create" { json!({"todos": ["x"]}) } else { json!({}) };
        let refused = admin.call(tool, arguments).await.problem(403, "inactive");
        assert_eq!(
            (&refused["verdict"]["layer"], &refused["verdict"]["code"]),
            (&json!("L4"), &json!("no_conversation"))
        );
    }
    let mut ids = Vec::new();
    for _ in 0..2 {
        let conversation = admin.post("/api/v1/conversations", json!({})).await.expect(201).json();
        ids.push(conversation["id"].as_str().unwrap().to_owned());
    }
    let call = async |tool: &str, arguments: serde_json::Value, id: &str| {
        let body = json!({"arguments": arguments, "conversation_id": id});
        admin.post(&format!("/api/v1/tools/{tool}/call"), body).await.expect(200).json()
    };
    let created = call("todo_create", json!({"todos": ["buy milk", "drink it"]}), &ids[0]).await;
    assert_eq!(
        (&created["is_error"], &created["code"]),
        (&json!(false), &serde_json::Value::Null),
        "{created}"
    );
    let listed = call("todo_list", json!({}), &ids[0]).await;
    assert_eq!(listed["text"], "1. [ ] buy milk\n2. [ ] drink it");
    assert_eq!(call("todo_list", json!({}), &ids[1]).await["data"], json!({"todos": []}));

    let resolve = async |body: serde_json::Value| {
        let resolved = admin.post("/api/v1/resolve", body).await.expect(200).json();
        resolved["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "todo_list")
    };
    assert!(!resolve(json!({})).await);
    // A preview can show what its check stops, and never what lacks a conversation.
    assert!(!resolve(json!({"only_available": false})).await);
    assert!(resolve(json!({"conversation_id": ids[0]})).await);

    // What is deleted takes its list along.
    admin.delete(&format!("/api/v1/conversations/{}", ids[0])).await.expect(204);
    let gone = json!({"arguments": {}, "conversation_id": ids[0]});
    admin
        .post("/api/v1/tools/todo_list/call", gone)
        .await
        .problem(422, "invalid")
        .pointers(&["/conversation_id"]);
}
