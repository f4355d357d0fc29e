//! Importing servers from an `mcp.json`.

use serde_json::{Value, json};
use toolshelf_tests::{FakeMcp, TestApp};

use super::Watch;

#[tokio::test]
async fn documents_of_every_client_are_read_and_nothing_starts_before_it_is_confirmed() {
    let (_app, admin) = TestApp::with_admin().await;
    let preview = async |document: Value| {
        let answer = admin.post("/api/v1/mcp-servers/import", json!({ "document": document })).await;
        answer.expect(200).json()["servers"].as_array().unwrap().clone()
    };
    let claude = preview(json!({"mcpServers": {
        "GitHub": {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": "s3cret"}},
        "remote": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer s3cret"}, "autoApprove": []},
    }}))
    .await;
    assert_eq!(claude[0]["name"], "github");
    assert_eq!(
        claude[0]["connection"],
        json!({"transport": "stdio", "command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": true}})
    );
    assert_eq!(
        (&claude[1]["connection"]["transport"], &claude[1]["ignored"]),
        (&json!("http"), &json!(["autoApprove"]))
    );
    assert!(!json!(claude).to_string().contains("s3cret"));

    let code = preview(json!("{\n  // what VS Code writes\n  \"inputs\": [{\"id\": \"token\"}],\n  \"servers\": {\n    \"a\": {\"type\": \"http\", \"url\": \"https://x.example/\", \"headers\": {\"X\": \"${input:token}\"}},\n    \"b\": {\"type\": \"sse\", \"url\": \"https://x.example/\"},\n  },\n}")).await;
    assert_eq!(code[0]["needs"], json!(["input:token"]));
    assert!(code[1]["problem"].as_str().unwrap().contains("SSE"), "{code:?}");
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 0);
}

#[tokio::test]
async fn a_document_is_added_whole_or_not_at_all() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    let entry =
        |fake: &FakeMcp| json!({"command": fake.connection()["command"], "args": fake.connection()["args"]});
    let mut with_secret = entry(&fake);
    with_secret["env"] = json!({"TOKEN": "${input:token}"});
    let document = json!({"mcpServers": {"good": entry(&fake), "needs": with_secret, "bad": {"command": 7}}});
    let import = async |more: Value| {
        let mut body = json!({"document": document, "confirm": true});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        admin.post("/api/v1/mcp-servers/import", body).await
    };
    import(json!({})).await.problem(422, "invalid").pointers(&["/document/needs", "/document/bad"]);
    import(json!({"only": ["good", "needs"]})).await.problem(422, "invalid").pointers(&["/document/needs"]);
    import(json!({"only": ["other"]})).await.problem(422, "invalid").pointers(&["/only/0"]);
    import(json!({"only": []})).await.problem(422, "invalid");
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 0);
    let added = import(json!({"only": ["good", "needs"], "values": {"input:token": "s3cret"}}))
        .await
        .expect(200)
        .json();
    assert_eq!((&added["added"], added["servers"].as_array().unwrap().len()), (&json!(true), 2));
    watch.until("good", |server| server["status"]["state"] == "ready").await;
    watch.until("needs", |server| server["status"]["state"] == "ready").await;
    let again = admin
        .post("/api/v1/mcp-servers/import", json!({"document": document, "only": ["good"], "confirm": true}));
    again.await.problem(422, "invalid").pointers(&["/document/good"]);
}

#[tokio::test]
async fn what_is_no_such_document_is_refused_with_its_place() {
    let (_app, admin) = TestApp::with_admin().await;
    for (document, word) in [
        (json!("{\n  \"mcpServers\": {\n    \"a\": [\n"), "line"),
        (json!("hello"), ""),
        (json!([]), "object"),
        (json!({}), "mcpServers"),
        (json!({"mcpServers": []}), "object"),
        (json!({"mcpServers": {}}), "no server"),
        (json!({"other": {"a": 1}}), "mcpServers"),
        (json!(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), "deeper"),
    ] {
        let problem = admin.post("/api/v1/mcp-servers/import", json!({ "document": document })).await;
        let problem = problem.problem(422, "invalid").pointers(&["/document"]);
        assert!(problem["detail"].as_str().unwrap().contains(word), "{word}: {}", problem["detail"]);
    }
}
