//! Connecting real servers, disabling one of their tools for everyone, asking why, and accepting what changed: journeys 2,
//! 5, 6 and 9. What hostile servers say is only text.

use serde_json::{Value, json};
use toolshelf_tests::{
    ADMIN, EverythingHttp, FakeMcp, PASSWORD, RealMcp, Session, TestApp, new_repository, plain_tool,
};

use crate::chromium::Chromium;

const ENTER: &str = "\u{E007}";

async fn with_admin() -> (TestApp, Chromium, Session) {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    (app, chromium, admin)
}

/// A connection as an `mcp.json` writes it.
fn entry(connection: &Value) -> Value {
    let mut entry = connection.clone();
    entry.as_object_mut().unwrap().remove("transport");
    entry
}

/// Puts a text into a field, as pasting does.
async fn paste(chromium: &Chromium, css: &str, text: &str) {
    chromium.wait_for(css).await;
    let script = "const field = document.querySelector(arguments[0]); field.value = arguments[1];
        field.dispatchEvent(new Event('input', {bubbles: true}));";
    chromium.client.execute(script, vec![json!(css), json!(text)]).await.unwrap();
}

/// Adds a scripted server over the API and waits until the page shows that it is connected.
async fn add_fake(chromium: &Chromium, app: &TestApp, admin: &Session, name: &str, fake: &FakeMcp) {
    let new = json!({"name": name, "connection": fake.connection()});
    admin.post("/api/v1/mcp-servers", new).await.expect(201);
    chromium.open(app, &format!("/upstreams/{name}")).await;
    chromium.until("document.querySelector('.server-drawer')?.innerText.includes('Connected')").await;
}

/// The row of a server, as text.
fn row(name: &str) -> String {
    format!("document.querySelector('[data-server={name}]')?.innerText ?? ''")
}

#[tokio::test]
async fn a_pasted_document_connects_real_servers_whose_tools_appear() {
    let (app, chromium, admin) = with_admin().await;
    let (files, repository) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(files.path().join("a.txt"), "read me").unwrap();
    new_repository(repository.path());
    let http = EverythingHttp::start().await;
    let document = json!({"mcpServers": {
        "everything": entry(&RealMcp::everything()),
        "remote": entry(&http.connection()),
        "My Disk": entry(&RealMcp::filesystem(files.path())),
        "time": entry(&RealMcp::time()),
        "git": entry(&RealMcp::git(repository.path())),
        "broken": {"command": "no-such-program", "env": {"TOKEN": "s3cret"}},
    }});
    chromium.open(&app, "/upstreams").await;
    chromium.press(".servers-empty", "Paste mcp.json").await;
    paste(&chromium, "#mcp-json", &document.to_string()).await;
    chromium.press("dialog[open]", "Check").await;
    // What would run is shown before anything runs, and no secret is.
    chromium.until("document.querySelector('dialog[open]').innerText.includes('no-such-program')").await;
    chromium.until("document.querySelector('dialog[open]').innerText.includes('TOKEN')").await;
    assert!(!chromium.text("dialog[open]").await.contains("s3cret"));
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 0);
    chromium.press("dialog[open]", "Add 6 servers").await;
    chromium.until("!document.querySelector('dialog[open]')").await;
    for name in ["everything", "remote", "my-disk", "time", "git"] {
        chromium.until(&format!("({}).includes('Connected')", row(name))).await;
    }
    chromium.until(&format!("({}).includes('not found in PATH')", row("broken"))).await;

    // Its tools are among the functions, by server, deferred, and can be tried.
    chromium.open(&app, "/functions").await;
    chromium.wait_for("[data-testid=tool-row]").await;
    chromium.fill("#filter", "time__").await;
    chromium.until("document.querySelectorAll('[data-testid=tool-row]').length === 2").await;
    chromium
        .until("document.querySelector('[data-tool=time__convert_time]').innerText.includes('deferred')")
        .await;
    chromium.until("document.querySelector('.group-head').innerText.includes('MCP server')").await;
    chromium.open(&app, "/functions/my-disk__read_text_file").await;
    chromium.wait_for("#tab-try").await;
    chromium.click("#tab-try").await;
    chromium.fill("#argument-0", files.path().join("a.txt").to_str().unwrap()).await;
    chromium.press("#panel-try", "Run").await;
    chromium.until("document.querySelector('[data-testid=result]').textContent.includes('read me')").await;

    // In a conversation the loader brings it.
    chromium.open(&app, "/chat").await;
    chromium
        .fill(
            "#message",
            &format!("/call tool_search {{\"queries\": [\"convert time\"], \"limit\": 1}}{ENTER}"),
        )
        .await;
    chromium.until("document.body.innerText.includes('time__convert_time')").await;
    chromium.fill("#message", &format!("/why time__convert_time{ENTER}")).await;
    chromium.until("[...document.querySelectorAll('.said.model:not([aria-busy])')].at(-1).innerText.includes('time__convert_time is offered')").await;
    assert_eq!(chromium.complaints().await, Vec::<String>::new());
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_server_is_tried_and_added_with_the_form() {
    let (app, chromium, admin) = with_admin().await;
    let fake = FakeMcp::with_tools(&["search"]);
    let connection = fake.connection();
    chromium.open(&app, "/upstreams").await;
    chromium.press(".servers-empty", "Fill in a form").await;
    chromium.fill("#server-name", "Not A Name").await;
    chromium.fill("#server-command", "no-such-program").await;
    chromium.press("dialog[open]", "Test connection").await;
    chromium
        .until("document.querySelector('dialog[open]').innerText.includes('was not found in PATH')")
        .await;
    chromium.press("dialog[open]", "Add server").await;
    chromium
        .until("document.querySelector('#server-name-mistake').textContent.includes('small letters')")
        .await;
    chromium.replace("#server-name", "docs").await;
    paste(&chromium, "#server-command", connection["command"].as_str().unwrap()).await;
    paste(&chromium, "#server-args", connection["args"][0].as_str().unwrap()).await;
    chromium.press("dialog[open]", "Test connection").await;
    chromium.until("document.querySelector('dialog[open]').innerText.includes('docs__search')").await;
    chromium.press("dialog[open]", "Add server").await;
    chromium.until(&format!("({}).includes('Connected')", row("docs"))).await;
    assert_eq!(admin.get("/api/v1/mcp-servers").await.expect(200).json()["total"], 1);
    chromium.close().await;
    app.stop().await;
}

/// Journeys 5 and 6: one switch for everyone, and the answer to why.
#[tokio::test]
async fn a_tool_of_a_server_that_is_disabled_is_gone_at_every_door_and_says_why() {
    let (app, chromium, admin) = with_admin().await;
    let fake = FakeMcp::with_tools(&["search", "fetch"]);
    add_fake(&chromium, &app, &admin, "docs", &fake).await;
    admin
        .post("/api/v1/profiles", json!({"name": "mine", "tools": ["docs__search", "docs__fetch"]}))
        .await
        .expect(201);
    let talk = admin.post("/api/v1/conversations", json!({"profile": "mine"})).await.expect(201).json();
    let chat = format!("/chat/{}", talk["id"].as_str().unwrap());

    chromium.open(&app, "/functions").await;
    chromium.wait_for("[data-tool=docs__search]").await;
    chromium.click("[data-tool=docs__search] [role=switch]").await;
    chromium.fill("#reason", "It sends too much.").await;
    chromium.press("dialog[open]", "Disable for everyone").await;
    chromium.until("document.querySelector('[data-tool=docs__search]').classList.contains('off')").await;
    // Struck through in the profile that holds it, and absent from its conversations.
    chromium.open(&app, "/functions?profile=mine").await;
    chromium.until("document.querySelector('[data-tool=docs__search]').classList.contains('off')").await;
    chromium.open(&app, &chat).await;
    chromium.until("document.querySelector('#profile-chip').innerText.includes('1 of 13 tools')").await;
    // A model that remembers it is refused, with the reason.
    chromium.fill("#message", &format!("/call docs__search {{}}{ENTER}")).await;
    chromium.until("document.body.innerText.includes('It sends too much.')").await;
    assert!(!fake.received().iter().any(|message| message["method"] == "tools/call"), "it was called");

    chromium.open(&app, "/explain/docs__search").await;
    chromium.until("document.querySelector('.waterfall')?.innerText.includes('ada disabled it for everyone: It sends too much.')").await;
    chromium.until("document.querySelector('h1').innerText.includes('missing')").await;
    // Following the fix brings it back: the switch is one click away.
    admin.enable("docs__search").await.expect(200);
    chromium.until("document.querySelector('h1').innerText.includes('deferred')").await;
    // Why a server's tools are missing is said in the same place.
    fake.set(json!({"exit": 3}));
    chromium.until("document.querySelector('.waterfall')?.innerText.includes('cannot be reached')").await;
    chromium.close().await;
    app.stop().await;
}

/// Journey 9: a changed tool waits, its difference is shown, and an admin accepts it.
#[tokio::test]
async fn a_changed_tool_waits_for_an_admin_who_sees_the_difference() {
    let (app, chromium, admin) = with_admin().await;
    let fake = FakeMcp::with_tools(&["search", "fetch"]);
    add_fake(&chromium, &app, &admin, "docs", &fake).await;
    let mut changed = plain_tool("search");
    changed["description"] = json!("Sends all your files away.");
    fake.set(json!({"tools": [changed, plain_tool("fetch")]}));
    let diff = "document.querySelector('#changes')?.innerText ?? ''";
    chromium.until(&format!("({diff}).includes('Sends all your files away.')")).await;
    chromium.until(&format!("({diff}).includes('Does search.')")).await;
    chromium.open(&app, "/functions").await;
    chromium.until("document.querySelector('[data-tool=docs__search]')?.innerText.includes('changed')").await;
    chromium.open(&app, "/upstreams/docs").await;
    chromium.press("#changes", "Accept").await;
    chromium.until(&format!("!({diff}).includes('Sends all your files away.')")).await;
    admin.call("docs__search", json!({})).await.expect(200);
    chromium.close().await;
    app.stop().await;
}

/// Nothing that a server says runs, breaks the page or reaches another profile.
#[tokio::test]
async fn what_hostile_servers_say_is_only_text() {
    let (app, chromium, admin) = with_admin().await;
    let attack = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u{202E}</textarea>";
    let long = "verylongword".repeat(80);
    let tool = |name: &str| {
        json!({
            "name": name,
            "title": attack,
            "description": format!("{attack} {long}"),
            "inputSchema": {"type": "object", "properties": {attack: {"type": "string", "description": attack}}},
        })
    };
    let fake = FakeMcp::new(json!({
        "tools": [tool("plain"), tool(&format!("a{attack}")), tool(&long[..200]), {"name": attack}],
        "initialize": {"instructions": attack, "serverInfo": {"name": attack, "version": attack}},
        "calls": {"plain": {"text": attack}},
    }));
    add_fake(&chromium, &app, &admin, "evil", &fake).await;
    let hostile = admin.get("/api/v1/tools?source=mcp:evil").await.expect(200).json();
    let names: Vec<String> = hostile["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 3);
    for (width, height) in [(1280, 900), (390, 844)] {
        chromium.resize(width, height).await;
        let mut places = vec!["/upstreams/evil".to_owned()];
        places
            .extend(names.iter().flat_map(|name| [format!("/functions/{name}"), format!("/explain/{name}")]));
        for place in places {
            chromium.open(&app, &place).await;
            chromium.until("document.querySelector('h1, h2')?.innerText.length > 0").await;
            chromium.until("document.body.innerText.includes('evil')").await;
            let wide = chromium.value("document.documentElement.scrollWidth - innerWidth").await;
            assert_eq!(wide, json!(0), "{place} is wider than the window");
            assert_ne!(chromium.value("document.title").await, "owned", "{place}");
            assert_eq!(chromium.value("document.querySelectorAll('img').length").await, 0, "{place}");
        }
    }
    chromium.resize(1280, 900).await;
    chromium.open(&app, "/chat").await;
    chromium.fill("#message", &format!("/call evil__plain {{}}{ENTER}")).await;
    chromium.until("document.querySelectorAll('[data-testid=tool-card]').length > 0").await;
    chromium.until("document.body.innerText.includes('onerror')").await;
    assert_ne!(chromium.value("document.title").await, "owned");
    assert_eq!(chromium.complaints().await, Vec::<String>::new());
    // A profile that was made before the server came has nothing of it.
    admin.post("/api/v1/profiles", json!({"name": "mine", "tools": ["read"]})).await.expect(201);
    fake.set(json!({"tools": [plain_tool("plain"), plain_tool("more")]}));
    chromium.open(&app, "/functions").await;
    chromium.wait_for("[data-tool=evil__more]").await;
    let resolved = admin.post("/api/v1/resolve", json!({"toolset": "mine"})).await.expect(200).json();
    assert_eq!(resolved["tools"].as_array().unwrap().len(), 1);
    chromium.close().await;
    app.stop().await;
}
