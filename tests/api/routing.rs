//! Paths and methods.

use toolshelf_server::ROUTES;
use toolshelf_tests::{TestApp, exchange};

#[tokio::test]
async fn there_is_nothing_at_other_paths() {
    let (app, admin) = TestApp::with_admin().await;
    for path in [
        "/nothing",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v1/tools/",
        "/api/v2/tools",
        "/healthz/",
        "//healthz",
    ] {
        for client in [&app.nobody(), &*admin] {
            client.get(path).await.problem(404, "not_found");
            client.ask("POST", path).await.problem(404, "not_found");
        }
    }
    app.nobody().get("/assets/nothing.css").await.problem(404, "refused");
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/assets//etc/passwd",
        "/assets/manifest.json",
    ] {
        app.nobody().get(path).await.expect(404);
    }
}

#[tokio::test]
async fn names_that_are_no_text_are_refused() {
    let (_app, admin) = TestApp::with_admin().await;
    for path in ["/api/v1/tools/%ff", "/api/v1/users/%c3%28", "/api/v1/conversations/%ff"] {
        admin.get(path).await.problem(400, "refused");
    }
    let long = format!("/api/v1/tools/{}", "x".repeat(9_000));
    admin.get(&long).await.problem(414, "uri_too_long");
    admin.get(&long[..8_000]).await.problem(404, "unknown_tool");
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_there_are() {
    let (_app, admin) = TestApp::with_admin().await;
    for (path, methods) in [
        ("/healthz", &["GET", "HEAD"][..]),
        ("/api/v1/me", &["GET", "HEAD"]),
        ("/api/v1/users", &["GET", "HEAD", "POST"]),
        ("/api/v1/tools/grep/disabled", &["DELETE", "PUT"]),
        ("/api/v1/tools/grep/call", &["POST"]),
        ("/logout", &["POST"]),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE"] {
            if methods.contains(&method) {
                continue;
            }
            let answer = admin.ask(method, path).await;
            answer.problem(405, "method_not_allowed");
            let mut allowed: Vec<&str> = answer.header("allow").split(',').map(str::trim).collect();
            allowed.sort_unstable();
            assert_eq!(allowed, methods, "{method} {path}");
            assert!(answer.headers().keys().all(|name| !name.as_str().starts_with("access-control-")));
        }
    }
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let (app, admin) = TestApp::with_admin().await;
    for route in ROUTES.iter().filter(|route| route.method == "GET" && !route.path.contains('{')) {
        if route.path.ends_with("/events") {
            continue;
        }
        for client in [&app.nobody(), &*admin] {
            let get = client.get(route.path).await;
            let head = client.ask("HEAD", route.path).await;
            assert_eq!((head.status(), head.text()), (get.status(), ""), "{}", route.path);
            assert_eq!(head.header("content-type"), get.header("content-type"), "{}", route.path);
        }
    }
}

#[tokio::test]
async fn health_is_for_everyone() {
    let app = TestApp::start().await;
    assert_eq!(app.nobody().get("/healthz").await.expect(200).text(), "ok\n");
    assert_eq!(app.nobody().get("/readyz").await.expect(200).text(), "ready\n");
}

#[tokio::test]
async fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let app = TestApp::start().await;
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"\0\0\0\0",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
    ] {
        let mut request = bytes.to_vec();
        request.extend_from_slice(b"\r\n\r\n");
        let answer = exchange(app.address, request).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:?}");
    }
    app.nobody().get("/healthz").await.expect(200);
}

#[tokio::test]
async fn errors_are_pages_for_browsers_and_documents_for_programs() {
    let (app, admin) = TestApp::with_admin().await;
    for (client, path, status, title) in [
        (&app.nobody(), "/nothing", 404, "Not Found"),
        (&*app.user(&admin, "bob", "user").await, "/people", 403, "Forbidden"),
    ] {
        let page = client.page(path).await.expect(status);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(page.text().contains(&format!("<h1>{title}</h1>")), "{}", page.text());
        assert!(page.text().contains(page.header("x-request-id")));
        let document = client.get(path).await.expect(status);
        assert_eq!(document.header("content-type"), "application/problem+json");
    }
    // The API answers with documents whoever asks.
    let document = admin.page("/api/v1/nothing").await.expect(404);
    assert_eq!(document.header("content-type"), "application/problem+json");
}
