//! Curating profiles: journey 3.

use serde_json::json;
use toolshelf_tests::{ADMIN, CATALOG, PASSWORD, TestApp};

use crate::chromium::Chromium;

const COUNT: &str = "document.querySelector('#profile-count')?.textContent";

/// The tokens of the open profile, as a number.
async fn tokens(chromium: &Chromium) -> i64 {
    let text = "Number(document.querySelector('#profile-tokens').textContent.replace(/[^0-9]/g, ''))";
    chromium.value(text).await.as_i64().expect("a number")
}

async fn ticked(chromium: &Chromium, tool: &str, ticked: bool) {
    let css = format!("[data-tool={tool}] .tick[aria-checked={ticked}]");
    chromium.wait_for(&css).await;
}

async fn make(chromium: &Chromium, name: &str) {
    chromium.press("#profiles", "New").await;
    chromium.wait_for("dialog[open] #profile-name").await;
    chromium.fill("#profile-name", name).await;
    chromium.press("dialog[open]", "Create").await;
    chromium.until(&format!("document.querySelector('h1').textContent === {}", json!(name))).await;
}

#[tokio::test]
async fn a_copy_is_made_narrowed_renamed_cloned_and_undone() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    make(&chromium, "research").await;
    chromium.until(&format!("{COUNT} === '11'")).await;
    let all = tokens(&chromium).await;
    ticked(&chromium, "glob", true).await;

    // A tick survives a search.
    chromium.click("[data-tool=glob] .tick").await;
    chromium.until(&format!("{COUNT} === '10'")).await;
    chromium.fill("#filter", "web").await;
    chromium.until("document.querySelectorAll('[data-testid=tool-row]').length === 1").await;
    chromium.press(".bulk", "Remove the 1 shown").await;
    chromium.until(&format!("{COUNT} === '9'")).await;
    chromium.replace("#filter", "").await;
    ticked(&chromium, "glob", false).await;
    ticked(&chromium, "web_fetch", false).await;
    let fewer = tokens(&chromium).await;
    assert!(fewer < all, "{fewer} of {all}");
    // The group says how much of it is in, and its box puts the rest in.
    chromium.until("document.querySelector('.group-head .tick').ariaChecked === 'mixed'").await;

    // Undo outlives the page, and goes step by step.
    chromium.client.refresh().await.unwrap();
    chromium.until(&format!("{COUNT} === '9'")).await;
    chromium.keys("\u{E009}z\u{E000}").await;
    ticked(&chromium, "web_fetch", true).await;
    chromium.keys("\u{E009}z\u{E000}").await;
    ticked(&chromium, "glob", true).await;
    chromium.until(&format!("{COUNT} === '11'")).await;
    chromium.keys("\u{E009}\u{E008}z\u{E000}").await;
    ticked(&chromium, "glob", false).await;

    chromium.press(".editor-actions", "Rename").await;
    chromium.wait_for("dialog[open] #profile-name").await;
    chromium.replace("#profile-name", "客户支持").await;
    chromium.press("dialog[open]", "Save").await;
    chromium.until("document.querySelector('h1').textContent === '客户支持'").await;
    chromium.press(".editor-actions", "Clone").await;
    chromium.wait_for("dialog[open] #profile-name").await;
    chromium.fill("#profile-name", "客户支持").await;
    chromium.press("dialog[open]", "Create").await;
    chromium.until("document.querySelector('#profile-mistake').textContent.includes('already')").await;
    chromium.replace("#profile-name", "Second").await;
    chromium.press("dialog[open]", "Create").await;
    chromium.until("document.querySelector('h1').textContent === 'Second'").await;
    chromium.until(&format!("{COUNT} === '10'")).await;

    // The server holds what the page shows.
    let admin = app.log_in(ADMIN, PASSWORD).await;
    let second = admin.get("/api/v1/profiles/second").await.expect(200).json();
    assert_eq!(second["tools"].as_array().unwrap().len(), 10);
    assert!(!second["tools"].as_array().unwrap().contains(&json!("glob")));

    // The menu beside its name does the same, by keyboard too.
    chromium.focus("#of-Second").await;
    chromium.keys("\u{E007}").await;
    chromium.until("document.activeElement.textContent === 'Rename'").await;
    chromium.keys("s").await;
    chromium.until("document.activeElement.textContent === 'Start my conversations with it'").await;
    chromium.keys("\u{E007}").await;
    chromium
        .until("document.querySelector('.profile-marks').closest('ul').textContent.includes('yours')")
        .await;
    let starts = admin.get("/api/v1/start-profile").await.expect(200).json();
    assert_eq!(starts["name"], "Second");
    chromium.keys("\u{E007}").await;
    chromium.until("document.activeElement.textContent === 'Rename'").await;
    chromium.keys("\u{E010}").await;
    chromium.until("document.activeElement.textContent === 'Delete'").await;
    chromium.keys("\u{E007}").await;
    chromium.wait_for("dialog[open] .danger").await;
    // What starts with it needs something in its place.
    chromium.press("dialog[open]", "Delete").await;
    chromium.wait_for("dialog[open] #replacement").await;
    chromium.press("dialog[open]", "Delete").await;
    chromium.until("document.querySelector('h1').textContent === 'Functions'").await;
    admin.get("/api/v1/profiles/second").await.problem(410, "retired");
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn what_others_do_to_a_profile_shows_at_once() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    make(&chromium, "team").await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    // Both edit at once: additions and removals commute.
    admin.post("/api/v1/profiles/team/tools", json!({"remove": ["grep"]})).await.expect(200);
    ticked(&chromium, "grep", false).await;
    chromium.click("[data-tool=list] .tick").await;
    chromium.until(&format!("{COUNT} === '9'")).await;
    let left: Vec<&str> = CATALOG.into_iter().filter(|tool| !["grep", "list"].contains(tool)).collect();
    let tools = admin.get("/api/v1/profiles/team").await.expect(200).json()["tools"].clone();
    assert_eq!(tools, json!(left));

    // A rename elsewhere: the page follows. A change decided on an old state is said, and nothing is lost.
    chromium.press(".editor-actions", "Rename").await;
    chromium.wait_for("dialog[open] #profile-name").await;
    admin.patch("/api/v1/profiles/team", json!({"description": "Ours"})).await.expect(200);
    chromium.replace("#profile-name", "crew").await;
    chromium.press("dialog[open]", "Save").await;
    chromium.until("document.querySelector('#profile-mistake').textContent.includes('changed it')").await;
    chromium.press("dialog[open]", "Cancel").await;
    admin.patch("/api/v1/profiles/team", json!({"name": "band"})).await.expect(200);
    chromium.until("document.querySelector('h1').textContent === 'band'").await;
    chromium.until("location.search === '?profile=band'").await;

    admin.post("/api/v1/profiles/band/tools", json!({ "remove": left })).await.expect(200);
    chromium.until("document.body.textContent.includes('is offered no tools')").await;
    admin.delete("/api/v1/profiles/band").await.expect(204);
    chromium.until("document.body.textContent.includes('was deleted')").await;
    chromium.press("main", "Show all tools").await;
    chromium.until("document.querySelector('h1').textContent === 'Functions'").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn somebody_elses_profile_is_shown_and_not_changed() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    admin.post("/api/v1/profiles", json!({"name": "ours", "tools": ["read"]})).await.expect(201);
    app.user(&admin, "bob", "user").await;
    chromium.client.delete_all_cookies().await.unwrap();
    chromium.log_in(&app, "bob").await;
    chromium.open(&app, "/functions?profile=ours").await;
    chromium.until("document.body.textContent.includes('ada owns it')").await;
    chromium.wait_for("[data-tool=read] .tick[aria-checked=true]:disabled").await;
    // The keyboard goes the same way.
    chromium.focus("#row-read").await;
    chromium.keys(" ").await;
    chromium.press(".editor-actions", "Clone").await;
    chromium.wait_for("dialog[open] #profile-name").await;
    chromium.fill("#profile-name", "mine").await;
    chromium.press("dialog[open]", "Create").await;
    chromium.until("document.querySelector('h1').textContent === 'mine'").await;
    chromium.focus("#row-glob").await;
    chromium.keys(" ").await;
    ticked(&chromium, "glob", true).await;
    let tools = |name: &str| {
        let path = format!("/api/v1/profiles/{name}");
        let admin = &admin;
        async move { admin.get(&path).await.expect(200).json()["tools"].clone() }
    };
    assert_eq!(tools("ours").await, json!(["read"]));
    chromium.until(&format!("{COUNT} === '2'")).await;
    assert_eq!(tools("mine").await, json!(["read", "glob"]));
    chromium.close().await;
    app.stop().await;
}
