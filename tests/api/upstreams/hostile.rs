//! Servers that list what they should not.

use serde_json::{Value, json};
use toolshelf_tests::{FakeMcp, TestApp, plain_tool};

use super::Watch;

#[tokio::test]
async fn one_bad_definition_drops_that_tool_only() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let named = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let mut large = plain_tool("large");
    large["inputSchema"]["properties"]["a"] = json!({"description": "x".repeat(5_000_000)});
    let mut bidi = plain_tool("bi\u{202E}di <script>alert(1)</script>");
    bidi["description"] = json!("<img src=x onerror=alert(1)> \u{202E}\u{7}\u{E0041}text");
    bidi["title"] = json!("<b>Bold</b>\u{202E}");
    let fake = FakeMcp::new(json!({"tools": [
        plain_tool("good"),
        plain_tool("twice"), plain_tool("twice"),
        large,
        bidi,
        "no object", null, 7, {},
        {"name": 7, "inputSchema": {"type": "object"}},
        {"name": "no_schema"},
        named("text_schema", json!("object")),
        named("recursive", json!({"type": "object", "properties": {"next": {"$ref": "#"}}})),
        named("circle", json!({"type": "object", "$ref": "#"})),
        named("remote", json!({"type": "object", "properties": {"a": {"$ref": "https://evil.example/x"}}})),
        named("a.b", json!({"type": "object"})), named("a_b", json!({"type": "object"})), named("a b", json!({"type": "object"})),
        named(&"n".repeat(100), json!({"type": "object"})),
    ]}));
    let server = watch.ready("docs", &fake).await;
    let tools = watch.tools("docs").await;
    for name in ["docs__good", "docs__twice", "docs__recursive", "docs__a_b"] {
        assert!(tools.contains(&name.to_owned()), "{name}: {tools:?}");
    }
    assert_eq!(tools.len(), 8, "{tools:?}");
    assert!(tools.iter().all(|name| name.len() <= 64 && name.is_ascii()), "{tools:?}");
    let reasons: Vec<String> = server["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| format!("{}: {}", tool["name"].as_str().unwrap(), tool["reason"].as_str().unwrap()))
        .collect();
    for part in [
        "twice: The server lists it twice.",
        "large: Its inputSchema has 4,",
        "no_schema: It has no inputSchema",
        "circle: ",
        "remote: ",
    ] {
        assert!(reasons.iter().any(|reason| reason.starts_with(part)), "{part}: {reasons:?}");
    }
    // Names and texts of strangers are harmless wherever they come out.
    let hostile = tools.iter().find(|name| name.contains("script")).unwrap();
    let card = admin.get(&format!("/api/v1/tools/{hostile}")).await.expect(200).json();
    assert_eq!(
        (&card["title"], &card["description"]),
        (&json!("<b>Bold</b>"), &json!("<img src=x onerror=alert(1)> text"))
    );
    let page = admin.page("/functions").await.expect(200).text().to_owned();
    assert!(
        !page.contains("<img src=x")
            && !page.contains("</script>alert")
            && !page.contains("alert(1)</script>")
    );
    // A recursive schema checks arguments and comes to an end.
    admin.call("docs__recursive", json!({"next": {"next": {"next": 7}}})).await.problem(422, "invalid_input");
    admin.call("docs__recursive", json!({"next": {"next": {}}})).await.expect(200);
}

#[tokio::test]
async fn five_thousand_tools_are_listed_searched_and_called() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let tools: Vec<Value> = (0..5_000).map(|number| plain_tool(&format!("tool_{number}"))).collect();
    let fake = FakeMcp::new(json!({ "tools": tools }));
    let server = watch.ready("many", &fake).await;
    assert_eq!(server["tool_count"], 5_000);
    assert_eq!(watch.tools("many").await.len(), 5_000 - 11 + 11);
    admin.call("many__tool_4999", json!({"text": "x"})).await.expect(200);
    let found =
        admin.post("/api/v1/tools/search", json!({"queries": ["tool_4711"]})).await.expect(200).json();
    assert_eq!(found["items"][0]["name"], "many__tool_4711");
}

#[tokio::test]
async fn two_servers_with_the_same_tools_do_not_mix() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let script = |text: &str| json!({"tools": [plain_tool("search")], "calls": {"search": {"text": text}}});
    let (first, second) = (FakeMcp::new(script("first")), FakeMcp::new(script("second")));
    watch.ready("a", &first).await;
    watch.ready("b", &second).await;
    for (tool, text) in [("a__search", "first"), ("b__search", "second")] {
        assert_eq!(admin.call(tool, json!({})).await.expect(200).json()["text"], text);
    }
    admin.disable("a__search", "Only this one.").await.expect(200);
    admin.call("b__search", json!({})).await.expect(200);
}

#[tokio::test]
async fn a_dead_server_says_why_and_delays_nobody() {
    let (app, admin) = TestApp::with_admin().await;
    let user = app.user(&admin, "bob", "user").await;
    let mut watch = Watch::new(admin.clone()).await;
    for (name, connection, part) in [
        ("missing", json!({"transport": "stdio", "command": "no-such-program-anywhere"}), "not found"),
        (
            "ends",
            json!({"transport": "stdio", "command": "sh", "args": ["-c", "echo broken >&2; exit 4"]}),
            "exit code 4",
        ),
        ("refuses", json!({"transport": "http", "url": "http://127.0.0.1:9/mcp"}), ""),
    ] {
        admin.post("/api/v1/mcp-servers", json!({"name": name, "connection": connection})).await.expect(201);
        let down = watch.until(name, |server| server["status"]["state"] == "down").await;
        let reason = down["status"]["reason"].as_str().unwrap();
        assert!(!reason.is_empty() && reason.contains(part), "{name}: {reason}");
    }
    // Others are told that it is down, and not which program that is.
    for path in ["/api/v1/mcp-servers", "/api/v1/mcp-servers/missing", "/api/v1/tools", "/upstreams"] {
        let text = user.page(path).await.expect(200).text().to_owned();
        assert!(!text.contains("no-such-program") && !text.contains("127.0.0.1:9"), "{path}: {text}");
    }
    let log = watch.server("ends").await["log"].clone();
    assert!(log.as_array().unwrap().iter().any(|line| line == "broken"), "{log}");
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("works", &fake).await;
    admin.call("works__search", json!({})).await.expect(200);
}
