//! Adding, showing, changing and removing servers, and who may.

use chrono::TimeDelta;
use serde_json::{Value, json};
use toolshelf_tests::{AppOptions, FakeMcp, PASSWORD, TestApp};

use super::Watch;

#[tokio::test]
async fn a_server_is_added_shown_changed_and_removed() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search", "fetch"]);
    let added = watch.add("docs", &fake, json!({})).await;
    assert_eq!(
        (&added["name"], &added["title"], &added["revision"]),
        (&json!("docs"), &json!("docs"), &json!(1))
    );
    assert_eq!((&added["defer"], &added["hold"]), (&json!(true), &json!("changed")));
    let ready = watch.until("docs", |server| server["status"]["state"] == "ready").await;
    assert_eq!((&ready["tool_count"], &ready["info"]["name"]), (&json!(2), &json!("fake")));
    assert_eq!(watch.tools("docs").await, ["docs__fetch", "docs__search"]);
    let tool = admin.get("/api/v1/tools/docs__search").await.expect(200).json();
    assert_eq!(
        (&tool["source"], &tool["service"], &tool["method"], &tool["defer"]),
        (&json!("mcp:docs"), &json!("docs"), &json!("search"), &json!(true))
    );
    let list = admin.get("/api/v1/mcp-servers").await.expect(200).json();
    assert_eq!((&list["total"], &list["items"][0]["name"]), (&json!(1), &json!("docs")));

    let change = json!({"title": "Documents", "settings": {"defer": false, "unsafe_in": ["telegram"]}});
    let changed =
        admin.patch("/api/v1/mcp-servers/docs", change.clone()).if_match(1).await.expect(200).json();
    assert_eq!(
        (&changed["title"], &changed["revision"], &changed["defer"]),
        (&json!("Documents"), &json!(2), &json!(false))
    );
    assert_eq!(changed["status"]["state"], "ready", "what is no matter of the connection keeps it");
    assert_eq!(admin.get("/api/v1/tools/docs__search").await.json()["defer"], false);
    let stale = admin
        .patch("/api/v1/mcp-servers/docs", change.clone())
        .if_match(1)
        .await
        .problem(412, "stale_revision");
    assert_eq!(stale["current"]["revision"], 2);
    assert_eq!(watch.verdict("docs__search").await["outcome"], "offered");

    let off = admin.patch("/api/v1/mcp-servers/docs", json!({"enabled": false})).await.expect(200).json();
    assert_eq!(off["status"]["state"], "disabled");
    assert_eq!(watch.verdict("docs__search").await["code"], "upstream_down");
    assert_eq!(watch.tools("docs").await.len(), 2, "its tools stay known");
    admin.post("/api/v1/mcp-servers/docs/refresh", json!({})).await.problem(409, "server_disabled");
    admin.patch("/api/v1/mcp-servers/docs", json!({"enabled": true})).await.expect(200);
    watch.until("docs", |server| server["status"]["state"] == "ready").await;

    admin
        .post("/api/v1/profiles", json!({"name": "mine", "tools": ["docs__search", "read"]}))
        .await
        .expect(201);
    admin.disable("docs__fetch", "It leaks.").await.expect(200);
    admin.delete("/api/v1/mcp-servers/docs").if_match(1).await.problem(412, "stale_revision");
    admin.delete("/api/v1/mcp-servers/docs").await.expect(204);
    admin.get("/api/v1/mcp-servers/docs").await.problem(404, "unknown_server");
    admin.delete("/api/v1/mcp-servers/docs").await.problem(404, "unknown_server");
    assert!(watch.tools("docs").await.is_empty());
    let profile = admin.get("/api/v1/profiles/mine").await.expect(200).json();
    assert_eq!(
        (&profile["tools"], &profile["missing"]),
        (&json!(["docs__search", "read"]), &json!(["docs__search"]))
    );
    admin.call("docs__search", json!({})).await.problem(404, "unknown_tool");
    let audit = admin.get("/api/v1/audit?limit=20").await.expect(200).json();
    let actions: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    for action in ["mcp_server.added", "mcp_server.changed", "mcp_server.tools_changed", "mcp_server.removed"]
    {
        assert!(actions.contains(&action), "{action}: {actions:?}");
    }
}

#[tokio::test]
async fn a_server_that_comes_back_with_another_command_is_held() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let first = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &first).await;
    admin.delete("/api/v1/mcp-servers/docs").await.expect(204);
    let second = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &second).await;
    assert_eq!(watch.verdict("docs__search").await["code"], "held_moved");
    admin.call("docs__search", json!({})).await.problem(403, "unauthorized");
    let changes = admin.get("/api/v1/mcp-servers/docs/changes").await.expect(200).json();
    assert_eq!((&changes["total"], &changes["items"][0]["kind"]), (&json!(1), &json!("moved")));
    let decision = json!({"decision": "accept", "definition": changes["items"][0]["definition"]});
    admin.post("/api/v1/mcp-servers/docs/changes/docs__search", decision).await.expect(204);
    admin.call("docs__search", json!({"text": "x"})).await.expect(200);

    // The same when an entry is pointed somewhere else, and not when only a secret changes.
    let third = FakeMcp::with_tools(&["search"]);
    admin.patch("/api/v1/mcp-servers/docs", json!({"connection": third.connection()})).await.expect(200);
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    assert_eq!(watch.verdict("docs__search").await["code"], "held_moved");
    let changes = admin.get("/api/v1/mcp-servers/docs/changes").await.expect(200).json();
    let definitions = json!({"definitions": {"docs__search": changes["items"][0]["definition"]}});
    admin.post("/api/v1/mcp-servers/docs/changes", definitions).await.expect(204);
    let mut connection = third.connection();
    connection["env"] = json!({"TOKEN": "another"});
    admin.patch("/api/v1/mcp-servers/docs", json!({ "connection": connection })).await.expect(200);
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    assert_eq!(watch.verdict("docs__search").await["outcome"], "deferred");
}

#[tokio::test]
async fn secrets_go_to_the_program_and_nowhere_else() {
    let (app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    let mut connection = fake.connection();
    connection["env"] = json!({"TOKEN": "s3cret-value"});
    admin.post("/api/v1/mcp-servers", json!({"name": "docs", "connection": connection})).await.expect(201);
    let server = watch.until("docs", |server| server["status"]["state"] == "ready").await;
    assert_eq!(server["connection"]["env"], json!({"TOKEN": true}));
    // A change that gives no value keeps the one that is there; one that leaves the name out takes it away.
    connection["env"] = json!({"TOKEN": null});
    let kept = admin.patch("/api/v1/mcp-servers/docs", json!({ "connection": connection })).await.expect(200);
    assert_eq!(kept.json()["revision"], 1, "nothing changed");
    let unknown =
        json!({"transport": "http", "url": "https://example.com/mcp", "headers": {"Authorization": null}});
    let wrong = admin.patch("/api/v1/mcp-servers/docs", json!({ "connection": unknown })).await;
    wrong.problem(422, "invalid").pointers(&["/connection/headers/Authorization"]);
    let user = app.user(&admin, "bob", "user").await;
    for (who, path) in [
        (&admin, "/api/v1/mcp-servers"),
        (&admin, "/api/v1/mcp-servers/docs"),
        (&admin, "/api/v1/audit"),
        (&admin, "/upstreams"),
        (&user, "/api/v1/mcp-servers"),
        (&user, "/upstreams"),
    ] {
        let text = who.page(path).await.expect(200).text().to_owned();
        assert!(!text.contains("s3cret-value"), "{path}");
    }
    // Whoever is no admin sees neither command nor log.
    let seen = user.get("/api/v1/mcp-servers/docs").await.expect(200).json();
    assert_eq!(
        (&seen["connection"], &seen["log"], &seen["info"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!((&seen["name"], &seen["tool_count"]), (&json!("docs"), &json!(1)));
    // The database does not hold it as text either.
    let app = app.restart().await;
    for entry in std::fs::read_dir(app.data()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(12).any(|part| part == b"s3cret-value"));
    }
}

#[tokio::test]
async fn a_program_needs_a_password_that_was_just_entered() {
    let (app, admin) = TestApp::with_admin().await;
    let fake = FakeMcp::with_tools(&["search"]);
    let new = |name: &str| json!({"name": name, "connection": fake.connection()});
    let http = json!({"name": "site", "connection": {"transport": "http", "url": "http://127.0.0.1:9/mcp"}});
    admin.post("/api/v1/mcp-servers", new("a")).await.expect(201);
    app.clock.advance(TimeDelta::minutes(11));
    for (path, body) in [
        ("/api/v1/mcp-servers", new("b")),
        ("/api/v1/mcp-servers/test", new("b")),
        (
            "/api/v1/mcp-servers/import",
            json!({"confirm": true, "document": {"mcpServers": {"b": {"command": "x"}}}}),
        ),
    ] {
        admin.post(path, body).await.problem(403, "confirm_password");
    }
    let other = json!({"connection": {"transport": "stdio", "command": "other"}});
    admin.patch("/api/v1/mcp-servers/a", other).await.problem(403, "confirm_password");
    // To make a program of it, or of a program something else, asks for it too; what runs no program does not.
    admin
        .patch("/api/v1/mcp-servers/a", json!({"connection": http["connection"]}))
        .await
        .problem(403, "confirm_password");
    admin.post("/api/v1/mcp-servers", http).await.expect(201);
    admin.patch("/api/v1/mcp-servers/a", json!({"settings": {"defer": false}})).await.expect(200);

    admin
        .post("/api/v1/me/confirm", json!({"password": "wrong"}))
        .await
        .problem(422, "invalid")
        .pointers(&["/password"]);
    admin.post("/api/v1/mcp-servers", new("b")).await.problem(403, "confirm_password");
    admin.post("/api/v1/me/confirm", json!({"password": PASSWORD})).await.expect(204);
    admin.post("/api/v1/mcp-servers", new("b")).await.expect(201);
    // Another session of the same admin is not confirmed by that.
    let key = admin.key(&["admin"]).await;
    key.post("/api/v1/mcp-servers", new("c")).await.problem(403, "keys_may_not_add");
}

#[tokio::test]
async fn keys_add_programs_where_the_configuration_says_so() {
    let app = TestApp::start_with(AppOptions { keys_may_add: true, ..AppOptions::default() }).await;
    let admin = app.set_up().await;
    let fake = FakeMcp::with_tools(&["search"]);
    let new = json!({"name": "a", "connection": fake.connection()});
    admin
        .key(&["read", "curate"])
        .await
        .post("/api/v1/mcp-servers", new.clone())
        .await
        .problem(403, "missing_scope");
    admin.key(&["admin"]).await.post("/api/v1/mcp-servers", new).await.expect(201);
}

#[tokio::test]
async fn what_cannot_be_a_server_is_refused_field_by_field() {
    let (_app, admin) = TestApp::with_admin().await;
    let stdio = |fields: Value| {
        let mut connection = json!({"transport": "stdio", "command": "x"});
        for (name, value) in fields.as_object().unwrap() {
            connection[name] = value.clone();
        }
        json!({"name": "ok", "connection": connection})
    };
    let http = |url: &str, headers: Value| json!({"name": "ok", "connection": {"transport": "http", "url": url, "headers": headers}});
    let named = |name: &str| json!({"name": name, "connection": {"transport": "stdio", "command": "x"}});
    let with = |settings: Value| json!({"name": "ok", "connection": {"transport": "stdio", "command": "x"}, "settings": settings});
    for (new, pointer) in [
        (named(""), "/name"),
        (named("A"), "/name"),
        (named("a__b"), "/name"),
        (named("1a"), "/name"),
        (named(&"x".repeat(32)), "/name"),
        (named("read"), "/name"),
        (named("files"), "/name"),
        (named("default"), "/name"),
        (named("mcp"), "/name"),
        (named("test"), "/name"),
        (named("import"), "/name"),
        (stdio(json!({"command": ""})), "/connection/command"),
        (stdio(json!({"command": "a\nb"})), "/connection/command"),
        (stdio(json!({"args": ["a\u{0}b"]})), "/connection/args/0"),
        (stdio(json!({"env": {"A B": "x"}})), "/connection/env/A B"),
        (stdio(json!({"env": {"A": null}})), "/connection/env/A"),
        (http("nowhere", json!({})), "/connection/url"),
        (http("ftp://x/", json!({})), "/connection/url"),
        (http("https://u:p@x/", json!({})), "/connection/url"),
        (http("https://x/#a", json!({})), "/connection/url"),
        (http("https://x/", json!({"a b": "x"})), "/connection/headers/a b"),
        (http("https://x/", json!({"Host": "x"})), "/connection/headers/Host"),
        (http("https://x/", json!({"Mcp-Session-Id": "x"})), "/connection/headers/Mcp-Session-Id"),
        (http("https://x/", json!({"X": "a\nb"})), "/connection/headers/X"),
        (with(json!({"unsafe_in": ["A B"]})), "/settings/unsafe_in/0"),
        (with(json!({"limits": {"call_timeout_seconds": 0}})), "/settings/limits/call_timeout_seconds"),
        (with(json!({"tools": {"x": {"unsafe_in": ["?"]}}})), "/settings/tools/x/unsafe_in/0"),
    ] {
        let answer = admin.post("/api/v1/mcp-servers", new.clone()).await;
        assert_eq!(answer.status(), 422, "{new}: {}", answer.text());
        answer.problem(422, "invalid").pointers(&[pointer]);
    }
    for new in [
        json!({"name": "ok"}),
        json!({"name": "ok", "connection": {"transport": "sse", "url": "https://x/"}}),
        json!({"name": "ok", "connection": {"transport": "stdio", "command": "x", "cwd": "/"}}),
        json!({"name": "ok", "connection": {"transport": "stdio", "command": "x"}, "settings": {"hold": "maybe"}}),
        json!({"name": "ok", "connection": {"transport": "stdio", "command": "x"}, "settings": {"tools": {"x": {"tier": "base"}}}}),
    ] {
        assert_eq!(admin.post("/api/v1/mcp-servers", new.clone()).await.status(), 422, "{new}");
    }
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 0);
    admin.post("/api/v1/mcp-servers", named("twice")).await.expect(201);
    admin.post("/api/v1/mcp-servers", named("twice")).await.problem(409, "name_taken");
}

#[tokio::test]
async fn a_connection_is_tried_without_being_kept() {
    let (_app, admin) = TestApp::with_admin().await;
    let fake = FakeMcp::new(json!({"tools": [toolshelf_tests::plain_tool("search"), {"name": 7}]}));
    let new = json!({"name": "docs", "connection": fake.connection()});
    let tried = admin.post("/api/v1/mcp-servers/test", new).await.expect(200).json();
    assert_eq!((&tried["ok"], &tried["tools"]), (&json!(true), &json!(["docs__search"])));
    assert_eq!(tried["rejected"].as_array().unwrap().len(), 1);
    let missing = json!({"name": "docs", "connection": {"transport": "stdio", "command": "no-such-program"}});
    let tried = admin.post("/api/v1/mcp-servers/test", missing).await.expect(200).json();
    assert_eq!(tried["ok"], false);
    assert!(tried["reason"].as_str().unwrap().contains("no-such-program"), "{tried}");
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 0);
}

#[tokio::test]
async fn servers_and_what_is_known_of_their_tools_outlive_a_restart() {
    let (app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &fake).await;
    // It does not come back, and yet its tools are known, with the reason why they cannot run.
    fake.set(json!({"exit": 3}));
    watch.until("docs", |server| server["status"]["state"] == "down").await;
    let app = app.restart().await;
    let admin = app.log_in(toolshelf_tests::ADMIN, PASSWORD).await;
    let mut watch = Watch::new(admin.clone()).await;
    assert_eq!(watch.tools("docs").await, ["docs__search"]);
    assert_eq!(watch.verdict("docs__search").await["code"], "upstream_down");
    let down = watch.until("docs", |server| server["status"]["state"] == "down").await;
    assert!(down["status"]["reason"].as_str().unwrap().contains("exit code 3"), "{down}");
    admin.call("docs__search", json!({})).await.problem(403, "inactive");
    fake.set(json!({"tools": [toolshelf_tests::plain_tool("search")]}));
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    admin.call("docs__search", json!({"text": "hi"})).await.expect(200);
}
