//! The shelf without a mouse.

use toolshelf_tests::TestApp;

use crate::chromium::Chromium;

const DOWN: &str = "\u{E015}";
const ENTER: &str = "\u{E007}";
const ESCAPE: &str = "\u{E00C}";

#[tokio::test]
async fn filter_move_open_and_close() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;

    chromium.keys("/").await;
    chromium
        .until("document.activeElement.type === 'search' || document.activeElement.tagName === 'INPUT'")
        .await;
    chromium.keys("todo").await;
    chromium.until("document.querySelectorAll('[data-testid=tool-row]').length === 2").await;
    chromium.keys(DOWN).await;
    chromium.until("document.activeElement.closest('[data-tool]')?.dataset.tool === 'todo_create'").await;
    chromium.keys(DOWN).await;
    chromium.until("document.activeElement.closest('[data-tool]')?.dataset.tool === 'todo_list'").await;
    chromium.keys(ENTER).await;
    chromium.until("document.querySelector('#drawer-title')?.textContent === 'todo_list'").await;
    chromium.until("location.pathname === '/functions/todo_list'").await;
    // The focus goes into the drawer, and comes back to the row.
    chromium.until("!!document.activeElement.closest('[role=dialog]')").await;
    chromium.keys(ESCAPE).await;
    chromium.until("!document.querySelector('#drawer-title')").await;
    chromium.until("document.activeElement.closest('[data-tool]')?.dataset.tool === 'todo_list'").await;
    chromium.keys("?").await;
    chromium.wait_for("dialog[open]").await;
    chromium.keys(ESCAPE).await;
    chromium.until("!document.querySelector('dialog[open]')").await;
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn no_match_says_so_and_offers_the_way_back() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.set_up(&app).await;
    chromium.keys("/").await;
    chromium.keys("nothing is called this").await;
    chromium.until("document.querySelectorAll('[data-testid=tool-row]').length === 0").await;
    chromium.press("main", "Clear filter").await;
    chromium.until("document.querySelectorAll('[data-testid=tool-row]').length === 11").await;
    chromium.close().await;
    app.stop().await;
}
