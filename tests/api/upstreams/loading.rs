//! Deferred tools in a conversation: the loader, and what stays loaded.

use serde_json::{Value, json};
use toolshelf_tests::{ADMIN, FakeMcp, PASSWORD, Session, TestApp, plain_tool};

use super::Watch;

async fn resolved(admin: &Session, id: &str) -> (Vec<String>, Vec<String>) {
    let answer = admin.post("/api/v1/resolve", json!({ "conversation_id": id })).await.expect(200).json();
    let names = |member: &str| -> Vec<String> {
        answer[member]
            .as_array()
            .expect("it is there")
            .iter()
            .map(|tool| tool["name"].as_str().expect("it is there").to_owned())
            .collect()
    };
    (names("tools"), names("deferred"))
}

async fn say(admin: &Session, id: &str, message: &str) -> Value {
    let turn = json!({ "message": message });
    let started = admin.post(&format!("/api/v1/conversations/{id}/turns"), turn).await.expect(202).json();
    let run = started["run_id"].as_str().expect("it is there").to_owned();
    admin.get(&format!("/api/v1/runs/{run}/events")).listen().await.rest().await;
    admin.get(&format!("/api/v1/runs/{run}")).await.expect(200).json()
}

#[tokio::test]
async fn a_tool_is_found_loaded_and_stays_loaded() {
    let (app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search_pages", "send_mail"]);
    watch.ready("docs", &fake).await;
    admin
        .post(
            "/api/v1/profiles",
            json!({"name": "p", "tools": ["read", "docs__search_pages", "docs__send_mail"]}),
        )
        .await
        .expect(201);
    let talk = admin.post("/api/v1/conversations", json!({"profile": "p"})).await.expect(201).json();
    let id = talk["id"].as_str().unwrap();
    assert_eq!(talk["loaded"], json!([]));
    let both = vec!["docs__search_pages".to_owned(), "docs__send_mail".to_owned()];
    assert_eq!(resolved(&admin, id).await, (vec!["tool_search".into(), "read".into()], both.clone()));

    // Searching loads what it finds.
    let run = say(&admin, id, "/call tool_search {\"queries\": [\"send a mail\"], \"limit\": 1}").await;
    let result = run["nodes"][2]["text"].as_str().unwrap();
    assert!(
        result.contains("docs__send_mail")
            && !result.contains("inputSchema")
            && result.contains("parameters"),
        "{result}"
    );
    let after = (vec!["tool_search".into(), "read".into(), "docs__send_mail".into()], both[..1].to_vec());
    assert_eq!(resolved(&admin, id).await, after);
    // Calling a deferred tool runs it and loads it too; then nothing is left to load and the loader rests.
    let run = say(&admin, id, "/call docs__search_pages {\"text\": \"x\"}").await;
    assert_eq!(run["nodes"][2]["state"], "done");
    let all = vec!["read".into(), "docs__send_mail".into(), "docs__search_pages".into()];
    assert_eq!(resolved(&admin, id).await, (all.clone(), vec![]));
    let shown = admin.get(&format!("/api/v1/conversations/{id}")).await.expect(200).json();
    assert_eq!(shown["loaded"], json!(["docs__send_mail", "docs__search_pages"]));

    // Another conversation has loaded nothing; a restart changes nothing.
    let other = admin.post("/api/v1/conversations", json!({"profile": "p"})).await.expect(201).json();
    assert_eq!(resolved(&admin, other["id"].as_str().unwrap()).await.1, both);
    let app = app.restart().await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    let mut watch = Watch::new(admin.clone()).await;
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    assert_eq!(resolved(&admin, id).await, (all, vec![]));

    // A tool that was changed and accepted has to be loaded anew.
    let mut changed = plain_tool("send_mail");
    changed["description"] = json!("Sends a letter.");
    fake.set(json!({"tools": [plain_tool("search_pages"), changed]}));
    watch.until("docs", |server| server["change_count"] == 1).await;
    admin
        .post("/api/v1/mcp-servers/docs/changes/docs__send_mail", json!({"decision": "accept"}))
        .await
        .expect(204);
    assert_eq!(resolved(&admin, id).await.1, ["docs__send_mail"]);
}

#[tokio::test]
async fn a_search_finds_nothing_that_the_caller_could_not_call() {
    let (app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search_pages", "send_mail"]);
    watch.ready("docs", &fake).await;
    admin.post("/api/v1/profiles", json!({"name": "p", "tools": ["docs__search_pages"]})).await.expect(201);
    let key = admin.key_as(json!({"name": "k", "scopes": ["read", "call"], "profile": "p"})).await;
    let names = |found: &Value| -> Vec<String> {
        found["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let search = json!({"queries": ["mail", "pages", "docs__send_mail"]});
    let found = key.post("/api/v1/tools/search", search.clone()).await.expect(200).json();
    assert_eq!(names(&found), ["docs__search_pages"]);
    let by_tool = key
        .call("tool_search", json!({"queries": ["mail"], "select": ["docs__send_mail"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&by_tool["data"]["tools"], &by_tool["data"]["unknown"]),
        (&json!([]), &json!(["docs__send_mail"]))
    );
    let found = admin.post("/api/v1/tools/search", search).await.expect(200).json();
    assert!(names(&found).contains(&"docs__send_mail".to_owned()));
    for (wrong, pointer) in [
        (json!({"queries": []}), "/queries"),
        (json!({"queries": ["x"], "limit": 0}), "/limit"),
        (json!({"queries": ["x"], "limit": 21}), "/limit"),
        (json!({"queries": ["x".repeat(501)]}), "/queries/0"),
        (json!({"queries": ["x"], "toolset": "nope"}), "/toolset"),
    ] {
        let answer = admin.post("/api/v1/tools/search", wrong).await;
        assert_eq!(answer.status(), 422);
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer);
    }
    drop(app);
}

#[tokio::test]
async fn without_the_loader_every_schema_ships() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &fake).await;
    assert_eq!(watch.verdict("docs__search").await["outcome"], "deferred");
    assert_eq!(watch.verdict("tool_search").await["outcome"], "offered");
    admin.get("/api/v1/tools/tool_search").await.expect(200);
    admin.disable("tool_search", "One list for all.").await.expect(200);
    assert_eq!(watch.verdict("docs__search").await["outcome"], "offered");
    admin.call("tool_search", json!({"queries": ["x"]})).await.problem(403, "unauthorized");
}
