//! Bodies that are no requests.

use serde_json::json;
use toolshelf_tests::{Client, TestApp, exchange};

/// Routes with a JSON body, each with one that is accepted.
const ROUTES: [(&str, &str, &str); 6] = [
    ("POST", "/api/v1/users", r#"{"username":"bob","password":"correct horse","role":"user"}"#),
    ("POST", "/api/v1/api-keys", r#"{"name":"x","scopes":["read"]}"#),
    ("PUT", "/api/v1/tools/grep/disabled", r#"{"reason":"broken"}"#),
    ("POST", "/api/v1/tools/list/call", r#"{"arguments":{}}"#),
    ("POST", "/api/v1/resolve", r#"{"toolset":"default"}"#),
    ("POST", "/api/v1/conversations", r#"{"title":"x"}"#),
];

#[tokio::test]
async fn wrong_content_types_are_refused() {
    let (_app, admin) = TestApp::with_admin().await;
    for (method, path, body) in ROUTES {
        let ask = admin.ask(method, path).body(body);
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/jsonx",
            "",
        ] {
            ask.clone().header("content-type", kind).await.problem(415, "unsupported_media_type");
        }
        ask.clone().await.problem(415, "unsupported_media_type");
        let accepted = ask.header("content-type", "Application/JSON; charset=utf-8").await.status();
        assert!((200..300).contains(&accepted), "{path}: {accepted}");
    }
    let page = admin.form("/keys", &[]).without("accept").header("content-type", "application/json");
    page.await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn malformed_json_is_refused() {
    let (_app, admin) = TestApp::with_admin().await;
    let deep = "[".repeat(100_000);
    for (method, path, body) in ROUTES {
        let twice = format!("{body} {body}");
        let cut = &body[..body.len() - 1];
        for malformed in ["", "{", "nonsense", cut, &twice, "{\"a\":\u{1}}", "{'a':1}"] {
            let ask =
                admin.ask(method, path).header("content-type", "application/json").body(malformed.to_owned());
            ask.await.problem(400, "malformed_json");
        }
        let ask = admin.ask(method, path).header("content-type", "application/json");
        let status = ask.body(deep.clone()).await.status();
        assert!(matches!(status, 400 | 422), "{path}: {status}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let (_app, admin) = TestApp::with_admin().await;
    let ask = admin.ask("POST", "/api/v1/conversations").header("content-type", "application/json");
    let body: &[u8] = b"{\"title\":\"\xff\xfe\"}";
    ask.body(body).await.problem(400, "malformed_json");
}

#[tokio::test]
async fn unknown_fields_are_refused_by_name() {
    let (_app, admin) = TestApp::with_admin().await;
    for (method, path, body) in ROUTES {
        let body = body.replacen('{', r#"{"a/b~":1,"#, 1);
        let ask = admin.ask(method, path).header("content-type", "application/json").body(body);
        ask.await.problem(422, "invalid").pointers(&["/a~1b~0"]);
    }
}

#[tokio::test]
async fn values_of_the_wrong_type_are_refused_by_place() {
    let (_app, admin) = TestApp::with_admin().await;
    for (method, path, body, pointer) in [
        ("POST", "/api/v1/users", json!({"username": 1, "password": "x", "role": "user"}), "/username"),
        ("POST", "/api/v1/users", json!({"username": "bob", "password": "x", "role": 7}), "/role"),
        ("POST", "/api/v1/api-keys", json!({"name": "x", "scopes": ["read", 5]}), "/scopes/1"),
        ("POST", "/api/v1/api-keys", json!({"name": "x", "scopes": "read"}), "/scopes"),
        ("PUT", "/api/v1/tools/grep/disabled", json!({"reason": ["x"]}), "/reason"),
        ("POST", "/api/v1/tools/list/call", json!({"arguments": []}), "/arguments"),
        (
            "POST",
            "/api/v1/tools/list/call",
            json!({"arguments": {}, "conversation_id": 3}),
            "/conversation_id",
        ),
        ("POST", "/api/v1/resolve", json!({"deny": ["x", false]}), "/deny/1"),
        ("POST", "/api/v1/resolve", json!({"toolset": 5}), "/toolset"),
        ("POST", "/api/v1/resolve", json!({"toolset": ["grep", 5]}), "/toolset/1"),
        ("POST", "/api/v1/resolve", json!({"source": ["We b"]}), "/source/0"),
        ("POST", "/api/v1/conversations", json!({"title": {}}), "/title"),
        ("POST", "/api/v1/conversations", json!([]), ""),
    ] {
        admin.ask(method, path).json(&body).await.problem(422, "invalid").pointers(&[pointer]);
    }
}

#[tokio::test]
async fn an_absent_field_is_named() {
    let (_app, admin) = TestApp::with_admin().await;
    for (method, path, body, field) in [
        ("POST", "/api/v1/users", json!({"username": "bob", "role": "user"}), "password"),
        ("POST", "/api/v1/api-keys", json!({"name": "x"}), "scopes"),
        ("PUT", "/api/v1/tools/grep/disabled", json!({}), "reason"),
        ("POST", "/api/v1/tools/list/call", json!({}), "arguments"),
    ] {
        let problem = admin.ask(method, path).json(&body).await.problem(422, "invalid");
        assert!(problem["errors"][0]["message"].as_str().unwrap().contains(field), "{}", *problem);
    }
}

fn head(client: &Client, csrf: &str, cookie: &str, length: &str) -> String {
    let address = client.address();
    format!(
        "POST /api/v1/conversations HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nX-CSRF-Token: {csrf}\r\n\
         Cookie: toolshelf_session={cookie}\r\nContent-Type: application/json\r\n{length}\r\nConnection: close\r\n\r\n"
    )
}

#[tokio::test]
async fn ten_megabytes_are_refused_declared_or_not() {
    const SIZE: usize = 10_000_000;
    let (app, admin) = TestApp::with_admin().await;
    let body = format!(r#"{{"title":"{}"}}"#, "x".repeat(SIZE));

    // Declared, and sent whole.
    let mut declared =
        head(&admin, &admin.csrf, &admin.token, &format!("Content-Length: {}", body.len())).into_bytes();
    declared.extend_from_slice(body.as_bytes());
    // Declared, and never sent: the answer does not wait for it.
    let promised = head(&admin, &admin.csrf, &admin.token, "Content-Length: 10000000").into_bytes();
    // In chunks, of which nobody says how many will come.
    let mut chunked = head(&admin, &admin.csrf, &admin.token, "Transfer-Encoding: chunked").into_bytes();
    for chunk in body.as_bytes().chunks(64 * 1024) {
        chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    for (what, request) in [("declared", declared), ("promised", promised), ("chunked", chunked)] {
        let answer = exchange(app.address, request).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{what}: {answer:?}");
        assert!(
            answer.contains("application/problem+json") && answer.contains(r#""code":"body_too_large""#),
            "{what}"
        );
    }
    assert_eq!(admin.get("/api/v1/conversations").await.expect(200).json()["total"], 0);

    let form = admin.form("/keys", &[("name", &"x".repeat(2_000_000))]).without("accept").await;
    form.problem(413, "body_too_large");
    // Whoever is not signed in is not read at all.
    let login = json!({"username": "ada", "password": "x".repeat(2_000_000)});
    app.nobody().post("/api/v1/login", login).await.problem(413, "body_too_large");
}
