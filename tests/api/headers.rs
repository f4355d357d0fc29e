//! Headers that every answer carries.

use toolshelf_tests::{Answer, TestApp, script_texts, tags};

const POLICY_END: &str = "; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What the policy says of scripts.
fn scripts(answer: &Answer) -> String {
    let policy = answer.header("content-security-policy");
    let rest = policy.strip_prefix("default-src 'none'; script-src ").unwrap_or_else(|| panic!("{policy}"));
    rest.strip_suffix(POLICY_END).unwrap_or_else(|| panic!("{policy}")).to_owned()
}

#[tokio::test]
async fn every_answer_is_guarded() {
    let (app, admin) = TestApp::with_admin().await;
    let nobody = app.nobody();
    let mut ids = Vec::new();
    for ask in [
        admin.get("/api/v1/tools"),
        admin.get("/api/v1/tools").header("if-none-match", "\"r0\""),
        admin.get("/api/v1/tools/nothing"),
        admin.get("/api/v1/openapi.json"),
        admin.delete("/api/v1/me"),
        admin.page("/functions"),
        admin.page("/people"),
        admin.page("/nothing"),
        nobody.page("/login"),
        nobody.page("/functions"),
        nobody.get("/"),
        nobody.get("/healthz"),
        nobody.get("/assets/nothing.css"),
        nobody.get("/api/v1/me"),
        nobody.get("/healthz").header("host", "evil.example"),
        nobody.ask("OPTIONS", "/api/v1/tools"),
    ] {
        let answer = ask.await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("access-control-allow-origin", ""),
            ("strict-transport-security", ""),
            ("server", ""),
        ] {
            assert_eq!(answer.header(name), value, "{name}\n{}", answer.shown());
        }
        scripts(&answer);
        ids.push(answer.header("x-request-id").to_owned());
    }
    let total = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), total);
    assert!(ids.iter().all(|id| !id.is_empty()));
}

#[tokio::test]
async fn only_the_scripts_of_a_page_run_in_it() {
    let (app, admin) = TestApp::with_admin().await;
    let mut nonces = Vec::new();
    for ask in [
        admin.page("/functions"),
        admin.page("/functions"),
        admin.page("/keys"),
        admin.page("/people"),
        app.nobody().page("/login"),
        app.nobody().page("/login"),
        app.nobody().page("/setup?token=x"),
        admin.page("/nothing"),
        app.nobody().page("/nothing"),
    ] {
        let answer = ask.await;
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{}", answer.shown());
        let scripts = scripts(&answer);
        let nonce =
            scripts.strip_prefix("'nonce-").and_then(|rest| rest.strip_suffix("' 'wasm-unsafe-eval'"));
        let nonce = nonce.unwrap_or_else(|| panic!("{scripts}"));
        assert!(nonce.len() >= 22, "{nonce}");
        let elements = tags(answer.text(), "script");
        assert!(!elements.is_empty());
        for element in elements {
            assert_eq!(element.get("nonce").map(String::as_str), Some(nonce), "{}", answer.text());
        }
        // What the policy would block anyway is not there.
        assert!(
            !answer.text().contains(" style=\"") && !answer.text().contains(" onclick="),
            "{}",
            answer.text()
        );
        nonces.push(nonce.to_owned());
    }
    let total = nonces.len();
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), total);
    assert_eq!(scripts(&admin.get("/api/v1/tools").await), "'none'");
}

#[tokio::test]
async fn no_text_ends_the_boot_document() {
    let (_app, admin) = TestApp::with_admin().await;
    let hostile = "</script><script>alert(1)</script><!--<script>&lt;\\u003c\"'";
    admin.disable("grep", hostile).await.expect(200);
    let page = admin.page("/functions").await.expect(200);
    let texts = script_texts(page.text());
    let boots: Vec<serde_json::Value> =
        texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    let [boot] = boots.as_slice() else { panic!("{}", page.text()) };
    let tools = boot["tools"].as_array().unwrap();
    let grep = tools.iter().find(|tool| tool["name"] == "grep").unwrap();
    assert_eq!(grep["disabled"]["reason"], hostile);
    assert!(!page.text().contains("alert(1)</script>"));
    assert_eq!(
        (&boot["me"]["username"], &boot["me"]["csrf_token"]),
        (&"ada".into(), &admin.csrf.as_str().into())
    );
    assert_eq!((&boot["revision"], tools.len()), (&1.into(), 11));
    // The page needs no second request for the verdicts.
    let verdicts = boot["verdicts"].as_array().unwrap();
    let verdict = verdicts.iter().find(|verdict| verdict["tool"] == "grep").unwrap();
    assert_eq!(verdict["code"], "globally_disabled");
}

#[tokio::test]
async fn names_are_text_in_pages() {
    let (_app, admin) = TestApp::with_admin().await;
    let hostile = "<img src=x onerror=alert(1)>\"'&";
    admin.key_as(serde_json::json!({"name": hostile, "scopes": ["read"]})).await;
    let page = admin.page("/keys").await.expect(200);
    assert!(!page.text().contains("<img") && page.text().contains("onerror=alert(1)"), "{}", page.text());
    let failed = admin.submit("/login", &[("username", hostile), ("password", "x"), ("next", hostile)]).await;
    assert_eq!(failed.status(), 401);
    assert!(!failed.text().contains("<img"), "{}", failed.text());
    let missing = admin.page("/%3Cimg%20src=x%3E").await.expect(404);
    assert!(!missing.text().contains("<img"), "{}", missing.text());
}
