//! Picking tools in the composer: journey 4, and what happens to a choice afterwards.

use serde_json::json;
use toolshelf_tests::{ADMIN, AppOptions, PASSWORD, TestApp};

use crate::chromium::Chromium;

const ENTER: &str = "\u{E007}";
/// The composer's chip: name, where it comes from, count.
const CHIP: &str = "document.querySelector('#profile-chip').innerText.replace(/\\s+/g, ' ')";

async fn chip(chromium: &Chromium, part: &str) {
    chromium.until(&format!("{CHIP}.includes({})", json!(part))).await;
}

async fn pick(chromium: &Chromium, name: &str) {
    chromium.click("#profile-chip").await;
    chromium
        .until(
            "document.querySelector('#picker:popover-open') && document.activeElement.id === 'picker-filter'",
        )
        .await;
    let option = format!(
        "[...document.querySelectorAll('.option')].find((option) => option.querySelector('.option-name').textContent === {})",
        json!(name)
    );
    chromium.until(&format!("!!{option}")).await;
    chromium.client.execute(&format!("{option}.click()"), vec![]).await.unwrap();
    chromium.until("!document.querySelector('#picker:popover-open')").await;
}

async fn say(chromium: &Chromium, text: &str) {
    chromium.fill("#message", &format!("{text}{ENTER}")).await;
}

async fn answered(chromium: &Chromium, part: &str) {
    let answers = "[...document.querySelectorAll('.said.model:not([aria-busy])')].at(-1)?.innerText ?? ''";
    chromium.until(&format!("({answers}).includes({})", json!(part))).await;
}

/// An installation with two profiles, and a Chromium in its chat.
async fn with_profiles(options: AppOptions) -> (TestApp, Chromium, toolshelf_tests::Session) {
    let app = TestApp::start_with(options).await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    for (name, tools) in
        [("research", &["read", "grep", "web_fetch"][..]), ("notes", &["todo_create", "todo_list"])]
    {
        admin.post("/api/v1/profiles", json!({"name": name, "tools": tools})).await.expect(201);
    }
    chromium.open(&app, "/chat").await;
    chip(&chromium, "All tools 7 of 11 tools").await;
    (app, chromium, admin)
}

#[tokio::test]
async fn a_pick_before_the_first_message_stays_everywhere() {
    let (app, chromium, admin) = with_profiles(AppOptions::default()).await;
    pick(&chromium, "research").await;
    chip(&chromium, "research 3 of 11 tools").await;
    say(&chromium, "hello").await;
    answered(&chromium, "3 of 11 tools").await;
    chromium.until("location.pathname.startsWith('/chat/')").await;
    let path = chromium.value("location.pathname").await.as_str().unwrap().to_owned();

    chromium.client.refresh().await.unwrap();
    chip(&chromium, "research 3 of 11 tools").await;
    answered(&chromium, "3 of 11 tools").await;
    // A second device, which is signed in as the same person.
    let second = Chromium::start().await;
    second.log_in(&app, ADMIN).await;
    second.open(&app, &path).await;
    chip(&second, "research 3 of 11 tools").await;
    pick(&second, "notes").await;
    chip(&second, "notes 2 of 11 tools").await;
    second.close().await;
    // A new conversation is not touched, and the agent's choice takes the pick back.
    chromium.open(&app, &path).await;
    chip(&chromium, "notes 2 of 11 tools").await;
    pick(&chromium, "Use the agent's choice").await;
    chip(&chromium, "All tools 7 of 11 tools").await;
    let id = path.trim_start_matches("/chat/");
    let kept = admin.get(&format!("/api/v1/conversations/{id}")).await.expect(200).json();
    assert_eq!(kept["profile"], json!(null));
    pick(&chromium, "research").await;
    chip(&chromium, "research").await;

    let app = app.restart().await;
    chromium.open(&app, &path).await;
    chromium.until("document.querySelector('#profile-chip') || location.pathname === '/login'").await;
    if chromium.value("location.pathname").await == json!("/login") {
        chromium.fill("[name=username]", ADMIN).await;
        chromium.fill("[name=password]", PASSWORD).await;
        chromium.click("form button").await;
    }
    chip(&chromium, "research 3 of 11 tools").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn an_open_conversation_follows_its_profile() {
    let (app, chromium, admin) = with_profiles(AppOptions::default()).await;
    pick(&chromium, "research").await;
    say(&chromium, "hello").await;
    answered(&chromium, "3 of 11 tools").await;
    admin.patch("/api/v1/profiles/research", json!({"name": "sources"})).await.expect(200);
    chip(&chromium, "sources 3 of 11 tools").await;
    admin.post("/api/v1/profiles/sources/tools", json!({"remove": ["grep"]})).await.expect(200);
    chip(&chromium, "sources 2 of 11 tools").await;
    admin.disable("read", "broken").await.expect(200);
    chip(&chromium, "sources 1 of 11 tools").await;
    admin.delete("/api/v1/profiles/sources").await.problem(409, "in_use");
    admin.delete("/api/v1/profiles/sources?replacement=none").await.expect(204);
    chip(&chromium, "No tools 0 of 11 tools").await;
    say(&chromium, "/call web_fetch {\"url\": \"http://example.com\"}").await;
    answered(&chromium, "unauthorized").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn tools_off_and_web_search_on_leaves_the_web_alone() {
    let (app, chromium, admin) = with_profiles(AppOptions::default()).await;
    // The keyboard goes through the menu.
    chromium.focus("#plus").await;
    chromium.keys(ENTER).await;
    chromium.until("document.activeElement.id === 'menu-tools'").await;
    chromium.keys(ENTER).await;
    chip(&chromium, "0 of 11 tools").await;
    chromium.until("document.activeElement.id === 'plus'").await;
    chromium.keys(ENTER).await;
    chromium.until("document.activeElement.id === 'menu-tools'").await;
    chromium.keys("\u{E015}\u{E015}").await;
    chromium.until("document.activeElement.id === 'menu-web-on'").await;
    chromium.keys(ENTER).await;
    chip(&chromium, "1 of 11 tools").await;
    chromium.until("document.querySelector('.composer').innerText.includes('Web search on')").await;
    say(&chromium, "/tools").await;
    answered(&chromium, "web_fetch").await;
    // They are kept, and closed by their chips.
    chromium.client.refresh().await.unwrap();
    chip(&chromium, "1 of 11 tools").await;
    chromium.click("[aria-label='Tools off: switch back']").await;
    chip(&chromium, "7 of 11 tools").await;
    chromium.click("[aria-label='Web search on: switch back']").await;
    chromium.until("!document.querySelector('.chip-close')").await;
    let talks = admin.get("/api/v1/conversations").await.expect(200).json();
    let talk = &talks["items"][0];
    assert_eq!((&talk["tools_enabled"], &talk["web_search"]), (&json!(true), &json!(null)));
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_choice_for_one_message_is_gone_after_it_and_can_be_repeated() {
    let (app, chromium, _admin) = with_profiles(AppOptions::default()).await;
    say(&chromium, "/tools").await;
    answered(&chromium, "7 of 11 tools").await;
    chromium.click("#profile-chip").await;
    chromium.until("document.activeElement.id === 'picker-filter'").await;
    chromium.click(".once input").await;
    let option =
        "[...document.querySelectorAll('.option')].find((option) => option.textContent.startsWith('notes'))";
    chromium.client.execute(&format!("{option}.click()"), vec![]).await.unwrap();
    chip(&chromium, "notes this message only 2 of 11 tools").await;
    say(&chromium, "/tools").await;
    answered(&chromium, "2 of 11 tools").await;
    chip(&chromium, "All tools 7 of 11 tools").await;
    chromium.until("document.querySelectorAll('.said-tools').length === 1").await;
    let again = "[...document.querySelectorAll('.said.user .again')].at(-1)";
    chromium.until(&format!("!{again}.disabled")).await;
    chromium.client.execute(&format!("{again}.click()"), vec![]).await.unwrap();
    chromium.until("document.querySelectorAll('.said-tools').length === 2").await;
    answered(&chromium, "2 of 11 tools").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn too_many_tools_are_said_before_anything_is_sent() {
    let console = toolshelf_server::ModelLimits { max_tools: Some(2), ..Default::default() };
    let (app, chromium, admin) = with_profiles(AppOptions { console, ..AppOptions::default() }).await;
    chromium.until("document.querySelector('.composer .notice.bad')?.innerText.includes('7 tools would be sent, and this model takes 2')").await;
    say(&chromium, "hello").await;
    chromium.until("document.querySelector('.send').disabled").await;
    pick(&chromium, "notes").await;
    chip(&chromium, "notes 2 of 11 tools").await;
    chromium.until("!document.querySelector('.composer .notice')").await;
    assert_eq!(admin.get("/api/v1/conversations").await.expect(200).json()["total"], 0);
    // What was written is still there.
    chromium.click(".send").await;
    answered(&chromium, "2 of 11 tools").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_call_shows_a_card_is_stopped_and_its_result_is_only_text() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = AppOptions { web_allowed_hosts: vec!["127.0.0.1".to_owned()], ..AppOptions::default() };
    let (app, chromium, admin) = with_profiles(options).await;
    let hostile = "<img src=x onerror=\"document.title='owned'\"> **bold** `code`\n```\n<script>document.title='owned'</script>";
    std::fs::write(app.workspace(&admin.id).join("hostile.md"), hostile).unwrap();
    say(&chromium, "/call read {\"path\": \"hostile.md\"}").await;
    answered(&chromium, "onerror").await;
    chromium.wait_for("[data-testid=tool-card] .badge.ok").await;
    chromium.until("!document.querySelector('.stream img, .stream script')").await;
    assert_eq!(chromium.value("document.title").await, json!("Chat · Toolshelf"));

    say(&chromium, &format!("/call web_fetch {{\"url\": \"http://{}/\"}}", silent.local_addr().unwrap()))
        .await;
    let _connection = toolshelf_tests::within("the connection", silent.accept()).await.unwrap();
    chromium.wait_for("[data-testid=tool-card] .badge.info").await;
    // A reload in the middle finds the run again.
    chromium.client.refresh().await.unwrap();
    chromium.wait_for("[data-testid=tool-card] .badge.info").await;
    chromium.click("[aria-label=Stop]").await;
    chromium.until("[...document.querySelectorAll('[data-testid=tool-card] .badge')].at(-1).innerText.includes('stopped')").await;
    chromium.wait_for("[aria-label=Send]").await;
    // A draft outlives the page too.
    chromium.fill("#message", "not sent yet").await;
    chromium.client.refresh().await.unwrap();
    chromium.until("document.querySelector('#message')?.value === 'not sent yet'").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn conversations_are_searched_renamed_and_deleted() {
    let (app, chromium, admin) = with_profiles(AppOptions::default()).await;
    for title in ["Weather", "Invoices", "天气"] {
        admin.post("/api/v1/conversations", json!({"title": title})).await.expect(201);
    }
    chromium.open(&app, "/chat").await;
    chromium.until("document.querySelectorAll('.talk').length === 3").await;
    let only = "document.querySelector('.talk a').textContent";
    chromium.fill("#talks input", "WEATH").await;
    chromium.until(&format!("document.querySelectorAll('.talk').length === 1 && {only} === 'Weather'")).await;
    // What can be done appears with the focus, as it does under the pointer.
    chromium.focus(".talk a").await;
    chromium.focus("[aria-label='Rename Weather']").await;
    chromium.keys(ENTER).await;
    chromium.until("document.activeElement.id === 'rename'").await;
    chromium.replace(".talk input", &format!("Weather in Oslo{ENTER}")).await;
    chromium.until(&format!("{only} === 'Weather in Oslo'")).await;
    // A deletion wants a second press, and takes it back when something else is done.
    chromium.focus(".talk a").await;
    chromium.focus("[aria-label='Delete Weather in Oslo']").await;
    chromium.keys(ENTER).await;
    chromium.until("document.querySelector('.talk').textContent.includes('Really delete')").await;
    chromium.focus("#message").await;
    chromium.until("!document.querySelector('.talk').textContent.includes('Really delete')").await;
    chromium.focus(".talk a").await;
    chromium.focus("[aria-label='Delete Weather in Oslo']").await;
    chromium.keys(ENTER).await;
    chromium.keys(ENTER).await;
    chromium.until("document.querySelectorAll('.talk').length === 0").await;
    chromium.replace("#talks input", "").await;
    chromium.until("document.querySelectorAll('.talk').length === 2").await;
    assert_eq!(admin.get("/api/v1/conversations").await.expect(200).json()["total"], 2);
    chromium.close().await;
    app.stop().await;
}
