//! What people come for, from the first link to a disabled tool.

use toolshelf_tests::{ADMIN, TestApp};

use crate::chromium::Chromium;

const GREP: &str = "[data-tool=grep]";

/// Opens `grep`, searches for a word, and waits for an answer that shows it.
async fn try_grep(chromium: &Chromium, app: &TestApp, word: &str) {
    chromium.open(app, "/functions/grep").await;
    chromium.wait_for("#tab-try").await;
    chromium.click("#tab-try").await;
    chromium.fill("#argument-0", word).await;
    chromium.press("#panel-try", "Run").await;
}

#[tokio::test]
async fn from_the_set_up_link_to_a_tried_tool() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    assert_eq!(chromium.value("location.pathname").await, "/functions");
    let shown =
        chromium.value("[...document.querySelectorAll('[data-tool]')].map((row) => row.dataset.tool)").await;
    assert_eq!(shown, serde_json::json!(toolshelf_tests::CATALOG));

    let me = app.log_in(ADMIN, toolshelf_tests::PASSWORD).await;
    std::fs::write(app.workspace(&me.id).join("notes.txt"), "milk\nbread and butter\n").unwrap();
    try_grep(&chromium, &app, "b.tter").await;
    chromium.until("document.querySelector('[data-testid=result]').textContent.includes('notes.txt:2:bread and butter')").await;

    // The drawer says why the tool is here.
    chromium.click("#tab-details").await;
    chromium
        .until("document.querySelector('#panel-details').textContent.includes('Nothing vetoes it.')")
        .await;
    assert_eq!(chromium.complaints().await, Vec::<String>::new());
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn the_first_search_of_a_new_user_finds_something_and_shows_it() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    for (width, height) in [(1280, 900), (390, 844)] {
        chromium.resize(width, height).await;
        chromium.open(&app, "/functions/grep").await;
        chromium.wait_for("#tab-try").await;
        chromium.click("#tab-try").await;
        // As the first screen of the README says: a word, and Enter.
        chromium.fill("#argument-0", "folder\u{E007}").await;
        let answer = "document.querySelector('[data-testid=result]')";
        chromium.until(&format!("{answer}.textContent.includes('welcome.md:3:')")).await;
        chromium.until(&format!("{answer}.getBoundingClientRect().top < innerHeight - 40")).await;
        let place = chromium.text(".try-place").await;
        assert!(place.contains("workspaces"), "{place}");
    }
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_tool_disabled_in_one_tab_is_struck_in_the_other_and_refused_when_called() {
    let app = TestApp::start().await;
    let admins = Chromium::start().await;
    admins.set_up(&app).await;
    let admin = app.log_in(ADMIN, toolshelf_tests::PASSWORD).await;
    app.user(&admin, "bob", "user").await;
    // The other tab is another person's, who may not disable anything.
    let bobs = Chromium::start().await;
    bobs.log_in(&app, "bob").await;
    assert_eq!(bobs.value("document.querySelectorAll('[role=switch]').length").await, 0);
    bobs.open(&app, "/functions/grep").await;
    bobs.wait_for("#tab-try").await;
    bobs.until("!document.querySelector('[data-tool=grep]').classList.contains('off')").await;

    admins.click(&format!("{GREP} [role=switch]")).await;
    admins.press("dialog[open]", "Disable for everyone").await;
    admins.until("document.querySelector('#reason-mistake').textContent !== ''").await;
    admins.fill("#reason", "It reads too much.").await;
    admins.press("dialog[open]", "Disable for everyone").await;
    admins.until("document.querySelector('[data-tool=grep]').classList.contains('off')").await;
    admins.until("!document.querySelector('dialog[open]')").await;

    // Nobody touched this tab.
    bobs.until("document.querySelector('[data-tool=grep]').classList.contains('off')").await;
    let line = bobs
        .value("getComputedStyle(document.querySelector('[data-tool=grep] .row-link')).textDecorationLine")
        .await;
    assert_eq!(line, "line-through");
    bobs.until("document.querySelector('#panel-details').textContent.includes('ada disabled it for everyone: It reads too much.')").await;
    bobs.click("#tab-try").await;
    bobs.fill("#argument-0", "x").await;
    bobs.press("#panel-try", "Run").await;
    bobs.until(
        "document.querySelector('[data-testid=result]').textContent.includes('ada disabled it for everyone')",
    )
    .await;

    // Undo lifts it, in both tabs.
    admins.press("[role=status], .toasts, body", "Undo").await;
    admins.until("!document.querySelector('[data-tool=grep]').classList.contains('off')").await;
    bobs.until("!document.querySelector('[data-tool=grep]').classList.contains('off')").await;
    bobs.press("#panel-try", "Run").await;
    bobs.until("document.querySelector('[data-testid=result] .badge.ok')").await;
    bobs.close().await;
    admins.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_tool_that_needs_a_conversation_can_be_tried_in_a_new_one() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    chromium.open(&app, "/functions/todo_create").await;
    chromium.wait_for("#tab-try").await;
    chromium.click("#tab-try").await;
    chromium.press("#panel-try", "New conversation").await;
    chromium.fill("#panel-try form textarea", "buy milk").await;
    chromium.press("#panel-try", "Run").await;
    chromium.until("document.querySelector('[data-testid=result] .badge.ok')").await;
    chromium.open(&app, "/functions/todo_list").await;
    chromium.wait_for("#tab-try").await;
    chromium.click("#tab-try").await;
    chromium.until("document.querySelector('#panel-try select').options.length > 0").await;
    chromium.until("document.querySelector('#panel-try select').value !== ''").await;
    chromium.press("#panel-try", "Run").await;
    chromium.until("document.querySelector('[data-testid=result]').textContent.includes('buy milk')").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn wrong_arguments_are_said_beside_their_field() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    chromium.open(&app, "/functions/grep").await;
    chromium.wait_for("#tab-try").await;
    chromium.click("#tab-try").await;
    chromium.press("#panel-try", "Run").await;
    chromium.until("document.querySelector('#argument-0').getAttribute('aria-invalid') === 'true'").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_session_that_ends_leads_to_sign_in_and_back() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    let admin = app.log_in(ADMIN, toolshelf_tests::PASSWORD).await;
    // A new password ends all sessions, the browser's too.
    let change = serde_json::json!({"password": toolshelf_tests::PASSWORD});
    admin.patch(&format!("/api/v1/users/{}", admin.id), change).await.expect(200);
    chromium.open(&app, "/functions/read").await;
    chromium.until("location.pathname === '/login'").await;
    chromium.fill("[name=username]", ADMIN).await;
    chromium.fill("[name=password]", toolshelf_tests::PASSWORD).await;
    chromium.click("form button").await;
    chromium.until("location.pathname === '/functions/read'").await;
    chromium.wait_for("#drawer-title").await;
    chromium.press("form[action='/logout'], nav", "Sign out").await;
    chromium.until("location.pathname === '/login'").await;
    chromium.close().await;
    app.stop().await;
}
