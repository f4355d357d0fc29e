//! Every screen in both themes and at all widths: accessible, nothing cut off, no complaint in the console.

use std::path::PathBuf;

use serde_json::json;
use toolshelf_tests::TestApp;

use crate::chromium::Chromium;

/// Every screen, with something that says it is there.
const SCREENS: [(&str, &str); 15] = [
    ("/functions", "[data-testid=tool-row]"),
    ("/functions/grep", "#panel-details .param, #panel-details dl, #panel-details ul"),
    ("/functions/no_such_tool", "#drawer-title"),
    ("/functions?profile=looks", "#profile-count"),
    ("/functions?profile=nowhere", ".notice.bad"),
    ("/chat", ".welcome"),
    ("/chat/none", ".notice.bad"),
    ("/upstreams", ".servers-empty"),
    ("/upstreams/none", ".server-drawer .state"),
    ("/explain", "#explain-tool"),
    ("/explain/grep", ".waterfall"),
    ("/people", "form"),
    ("/keys", "form"),
    ("/people/none", "h1"),
    ("/nothing-here", "h1"),
];

/// axe-core, which `cargo xtask test` installs.
fn axe() -> String {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/tools/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo xtask test --stage tools` installs it", path.display())
    })
}

async fn check(chromium: &Chromium, axe: &str, place: &str) {
    chromium.client.execute(axe, vec![]).await.unwrap();
    let script = "const done = arguments[arguments.length - 1];
        axe.run(document, {resultTypes: ['violations']}).then(
          (found) => done(found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`))),
          (error) => done([String(error)]));";
    let found = chromium.client.execute_async(script, vec![]).await.unwrap();
    assert_eq!(found, json!([]), "axe on {place}");
    let overflow =
        chromium.value("document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
    assert_eq!(overflow, json!(0), "{place} is wider than the window");
    if ["/functions", "/chat", "/upstreams", "/explain"].iter().any(|page| place.starts_with(page)) {
        // The app's parts scroll, not the page.
        let below = chromium
            .value("document.documentElement.scrollHeight - document.documentElement.clientHeight")
            .await;
        assert_eq!(below, json!(0), "{place} is higher than the window");
    }
}

#[tokio::test]
async fn every_screen_is_accessible_and_fits() {
    let axe = axe();
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    let themes = ["light", "dark"];
    let sizes = [(1280, 900), (390, 844), (768, 1024), (1600, 1000)];
    // Before there is an account.
    for theme in themes {
        chromium.prefer(theme).await;
        for (width, height) in sizes {
            chromium.resize(width, height).await;
            for path in ["/setup?token=wrong", "/setup"] {
                chromium.open(&app, path).await;
                check(&chromium, &axe, &format!("{path} in {theme} at {width}")).await;
            }
        }
    }
    chromium.resize(1280, 900).await;
    chromium.set_up(&app).await;
    let admin = app.log_in(toolshelf_tests::ADMIN, toolshelf_tests::PASSWORD).await;
    let profile = json!({"name": "looks", "tools": ["read", "web_fetch"], "description": "客户支持"});
    admin.post("/api/v1/profiles", profile).await.expect(201);
    let missing = json!({"profiles": {"looks": ["read", "no_such_tool"]}, "active": "default"});
    admin.put("/api/v1/functions-meta", missing).await.expect(200);
    for theme in themes {
        chromium.prefer(theme).await;
        for (width, height) in sizes {
            chromium.resize(width, height).await;
            for (path, shown) in SCREENS {
                chromium.open(&app, path).await;
                chromium.wait_for(shown).await;
                check(&chromium, &axe, &format!("{path} in {theme} at {width}")).await;
            }
        }
    }
    let unexpected: Vec<String> = chromium
        .complaints()
        .await
        .into_iter()
        // Screens of errors are asked for on purpose, and Chromium logs each such status.
        .filter(|complaint| !complaint.contains("Failed to load resource"))
        .collect();
    assert_eq!(unexpected, Vec::<String>::new());
    chromium.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_chosen_theme_stays_on_every_page() {
    let app = TestApp::start().await;
    let chromium = Chromium::start().await;
    chromium.prefer("light").await;
    chromium.set_up(&app).await;
    let background = "getComputedStyle(document.body).backgroundColor";
    let light = chromium.value(background).await;
    chromium.click("[aria-label='Dark theme']").await;
    chromium.until("document.documentElement.dataset.theme === 'dark'").await;
    let dark = chromium.value(background).await;
    assert_ne!(light, dark);
    for path in ["/functions", "/people", "/keys"] {
        chromium.open(&app, path).await;
        assert_eq!(chromium.value(background).await, dark, "{path}");
    }
    chromium.close().await;
    app.stop().await;
}
