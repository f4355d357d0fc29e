//! Writes from other sites.

use serde_json::json;
use toolshelf_tests::{ADMIN, PASSWORD, TestApp};

#[tokio::test]
async fn a_write_comes_from_a_page_of_ours() {
    let (app, admin) = TestApp::with_admin().await;
    let ours = format!("http://{}", app.address);
    let other_port = format!("http://127.0.0.1:{}", app.address.port().wrapping_add(1));
    let with_tls = format!("https://{}", app.address);
    let with_path = format!("{ours}/");
    for (origin, site, admitted) in [
        (Some(ours.as_str()), None, true),
        (Some(ours.as_str()), Some("same-origin"), true),
        (None, Some("same-origin"), true),
        (None, None, false),
        (Some("http://evil.example"), None, false),
        (Some("null"), None, false),
        (Some(other_port.as_str()), None, false),
        (Some(with_tls.as_str()), None, false),
        (Some(with_path.as_str()), None, false),
        (Some("http://evil.example"), Some("cross-site"), false),
        (None, Some("cross-site"), false),
        (None, Some("same-site"), false),
        (None, Some("none"), false),
        (None, Some("SAME-ORIGIN"), false),
    ] {
        for (path, body) in [
            ("/api/v1/conversations", json!({})),
            ("/api/v1/login", json!({"username": ADMIN, "password": PASSWORD})),
            ("/api/v1/setup", json!({"token": "", "username": "x", "password": PASSWORD})),
            ("/api/v1/logout", json!({})),
        ] {
            // Signing in or out for real would end the session that the next row needs.
            let client = if path.ends_with("login") { &app.nobody() } else { &*admin };
            let ask = client.post(path, body).without("origin");
            let ask =
                if path.ends_with("logout") && admitted { ask.header("x-csrf-token", "x") } else { ask };
            let ask = if let Some(origin) = origin { ask.header("origin", origin) } else { ask };
            let ask = if let Some(site) = site { ask.header("sec-fetch-site", site) } else { ask };
            let answer = ask.await;
            let refused = answer.status() == 403 && answer.json()["code"] == "cross_site";
            assert_eq!(!refused, admitted, "{path} {origin:?} {site:?}\n{}", answer.shown());
        }
        for path in ["/login", "/setup", "/logout", "/people", "/keys"] {
            if admitted {
                continue;
            }
            let ask = admin.form(path, &[("csrf_token", &admin.csrf)]).without("origin").without("accept");
            let ask = if let Some(origin) = origin { ask.header("origin", origin) } else { ask };
            let ask = if let Some(site) = site { ask.header("sec-fetch-site", site) } else { ask };
            ask.await.problem(403, "cross_site");
        }
    }
    let twice = admin.post("/api/v1/conversations", json!({})).and_header("origin", "http://evil.example");
    twice.await.problem(403, "cross_site");
    admin.get("/api/v1/me").await.expect(200);
}

#[tokio::test]
async fn a_key_needs_no_page() {
    let (_app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["curate"]).await;
    key.post("/api/v1/conversations", json!({})).await.expect(201);
    key.post("/api/v1/conversations", json!({})).header("origin", "http://evil.example").await.expect(201);
    // Something that only looks like a key does not open a session's door to other sites.
    let mixed = admin.post("/api/v1/conversations", json!({})).header("origin", "http://evil.example");
    mixed.header("authorization", "Bearer ts_nonsense").await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_sessions_write_carries_its_own_csrf_token() {
    let (app, admin) = TestApp::with_admin().await;
    let other = app.log_in(ADMIN, PASSWORD).await;
    let almost = format!("{}x", admin.csrf);
    for token in [
        None,
        Some(""),
        Some("x"),
        Some(other.csrf.as_str()),
        Some(admin.token.as_str()),
        Some(almost.as_str()),
    ] {
        for ask in [
            admin.post("/api/v1/conversations", json!({})),
            admin.disable("grep", "broken"),
            admin.enable("grep"),
            admin.patch(&format!("/api/v1/users/{}", admin.id), json!({})),
            admin.post("/api/v1/logout", json!({})),
            admin.call("list", json!({})),
            admin.post("/api/v1/resolve", json!({})),
        ] {
            let ask = ask.without("x-csrf-token");
            let ask = if let Some(token) = token { ask.header("x-csrf-token", token) } else { ask };
            ask.await.problem(403, "wrong_csrf_token");
        }
        for path in ["/people", "/keys", "/logout", "/keys/x/revoke"] {
            let fields = token.map(|token| ("csrf_token", token));
            let ask = admin.form(path, fields.as_slice()).without("accept").without("x-csrf-token");
            ask.await.problem(403, "wrong_csrf_token");
            // The header is no substitute for the field.
            let ask = admin.form(path, fields.as_slice()).without("accept");
            ask.await.problem(403, "wrong_csrf_token");
        }
    }
    admin.get("/api/v1/me").await.expect(200);
    admin.post("/api/v1/conversations", json!({})).await.expect(201);
}
