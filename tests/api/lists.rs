//! Lists: limits, cursors, filters, entity tags.

use chrono::TimeDelta;
use serde_json::{Value, json};
use toolshelf_tests::{CATALOG, Client, PASSWORD, TestApp};

/// What a list shows, page by page.
async fn walk(client: &Client, path: &str, field: &str, limit: usize) -> Vec<Value> {
    let mut shown = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{path}?limit={limit}{cursor}")).await.expect(200).json();
        let items = page["items"].as_array().expect("a list");
        assert!(items.len() <= limit);
        shown.extend(items.iter().map(|item| item[field].clone()));
        let Some(next) = page["next_cursor"].as_str() else {
            assert_eq!(page["total"], shown.len(), "{path}");
            return shown;
        };
        cursor = format!("&cursor={next}");
    }
}

async fn filled() -> (TestApp, toolshelf_tests::Session) {
    let (app, admin) = TestApp::with_admin().await;
    for number in 0..5 {
        app.clock.advance(TimeDelta::seconds(1));
        admin.post("/api/v1/conversations", json!({"title": format!("c{number}")})).await.expect(201);
        admin.key_as(json!({"name": format!("k{number}"), "scopes": ["read"]})).await;
        let new = json!({"username": format!("u{number}"), "password": PASSWORD, "role": "user"});
        admin.post("/api/v1/users", new).await.expect(201);
    }
    (app, admin)
}

#[tokio::test]
async fn pages_of_every_size_show_the_same() {
    let (_app, admin) = filled().await;
    for (path, field, total) in
        [("/api/v1/tools", "name", 11), ("/api/v1/conversations", "title", 5), ("/api/v1/audit", "id", 11)]
    {
        let whole = walk(&admin, path, field, 500).await;
        assert_eq!(whole.len(), total, "{path}");
        for limit in [1, 2, total - 1, total, total + 1] {
            assert_eq!(walk(&admin, path, field, limit).await, whole, "{path}?limit={limit}");
        }
    }
    assert_eq!(walk(&admin, "/api/v1/conversations", "title", 2).await, ["c4", "c3", "c2", "c1", "c0"]);
}

#[tokio::test]
async fn users_and_keys_have_pages_too() {
    let (_app, admin) = filled().await;
    for (path, field, total) in [("/api/v1/users", "username", 6), ("/api/v1/api-keys", "name", 5)] {
        let whole = walk(&admin, path, field, 500).await;
        assert_eq!(whole.len(), total, "{path}");
        for limit in [1, 2, total - 1, total, total + 1] {
            assert_eq!(walk(&admin, path, field, limit).await, whole, "{path}?limit={limit}");
        }
        are_checked(&admin, path, 500).await;
    }
}

/// Fails unless wrong limits and unknown parameters of a list are refused.
async fn are_checked(client: &Client, path: &str, most: usize) {
    client.get(&format!("{path}?limit={most}")).await.expect(200);
    for limit in [0, most + 1] {
        let answer = client.get(&format!("{path}?limit={limit}")).await;
        answer.problem(422, "invalid").pointers(&["limit"]);
    }
    for query in
        ["limit=-1", "limit=x", "limit=", "limit=99999999999999999999", "nonsense=1", "limit=1&limit=2"]
    {
        client.get(&format!("{path}?{query}")).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn limits_and_parameters_are_checked() {
    let (_app, admin) = filled().await;
    for (path, most) in [("/api/v1/tools", 5_000), ("/api/v1/conversations", 500), ("/api/v1/audit", 500)] {
        are_checked(&admin, path, most).await;
    }
}

#[tokio::test]
async fn a_cursor_that_no_page_gave_is_refused() {
    let (_app, admin) = filled().await;
    for path in ["/api/v1/tools", "/api/v1/audit", "/api/v1/conversations"] {
        let answer = admin.get(&format!("{path}?cursor=nonsense%20%2F")).await;
        answer.problem(422, "invalid").pointers(&["cursor"]);
    }
}

#[tokio::test]
async fn what_the_catalog_is_asked_for_is_checked() {
    let (_app, admin) = TestApp::with_admin().await;
    admin.get("/api/v1/tools?fields=some").await.problem(422, "invalid").pointers(&["fields"]);
    admin.get("/api/v1/tools?toolset=defualt").await.problem(422, "unknown_toolset").pointers(&["toolset"]);
}

#[tokio::test]
async fn the_catalog_is_filtered() {
    let (_app, admin) = TestApp::with_admin().await;
    let names = async |query: &str| -> Vec<String> {
        let page = admin.get(&format!("/api/v1/tools?{query}")).await.expect(200).json();
        let items = page["items"].as_array().unwrap();
        assert_eq!(page["total"], items.len());
        items.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names("").await;
    assert_eq!(all, CATALOG);
    assert_eq!(names("query=ToDo%5F").await.len(), 2);
    assert_eq!(names("query=no%20such%20words").await, Vec::<String>::new());
    assert_eq!(names("source=builtin").await.len(), 11);
    assert_eq!(names("source=mcp:x").await, Vec::<String>::new());
    assert_eq!(names("toolset=default").await.len(), 7);
    assert_eq!(names("toolset=none").await, Vec::<String>::new());

    let summary = admin.get("/api/v1/tools?query=grep").await.expect(200).json();
    assert!(summary["items"][0].get("parameters").is_none());
    let full = admin.get("/api/v1/tools?query=grep&fields=full").await.expect(200).json();
    assert_eq!(full["items"][0]["parameters"]["type"], "object");
}

#[tokio::test]
async fn a_catalog_that_did_not_change_is_not_sent_again() {
    let (_app, admin) = TestApp::with_admin().await;
    let first = admin.get("/api/v1/tools").await.expect(200);
    let etag = first.header("etag").to_owned();
    let again = admin.get("/api/v1/tools").header("if-none-match", &etag).await.expect(304);
    assert_eq!((again.text(), again.header("etag")), ("", etag.as_str()));

    admin.disable("grep", "broken").await.expect(200);
    let changed = admin.get("/api/v1/tools").header("if-none-match", &etag).await.expect(200);
    assert_ne!(changed.header("etag"), etag);
    admin.enable("grep").await.expect(200);
    // The catalog is as it was, and the revision is not: a tag never comes back.
    let back = admin.get("/api/v1/tools").header("if-none-match", &etag).await.expect(200);
    assert_ne!(back.header("etag"), etag);
}

#[tokio::test]
async fn one_tool_shows_all_of_itself() {
    let (_app, admin) = TestApp::with_admin().await;
    let answer = admin.get("/api/v1/tools/read").await.expect(200);
    assert_eq!(answer.header("etag"), "\"r0\"");
    let tool = answer.json();
    assert_eq!(
        (&tool["source"], &tool["service"], &tool["method"]),
        (&json!("builtin"), &json!("files"), &json!("read"))
    );
    assert_eq!(
        (&tool["disabled"], &tool["available"]["ok"], &tool["defer"]),
        (&Value::Null, &json!(true), &json!(false))
    );
    assert_eq!((&tool["toolsets"], &tool["unsafe_in"]), (&json!(["files"]), &json!([])));
    assert_eq!(tool["parameters"]["required"], json!(["path"]));
    assert_eq!(tool["parameters"]["additionalProperties"], false);
    assert!(tool["tokens"].as_u64().unwrap() > 50);

    admin.get("/api/v1/tools/Grep").await.problem(404, "unknown_tool").suggests(&["grep"]);
    admin
        .get("/api/v1/tools/todo")
        .await
        .problem(404, "unknown_tool")
        .suggests(&["todo_list", "todo_create"]);
    let nothing = admin.get("/api/v1/tools/nothing_like_it").await.problem(404, "unknown_tool");
    assert!(nothing.get("suggestions").is_none());
}
