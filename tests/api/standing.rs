//! An ended session, a revoked key and a disabled user stop what is under way, too.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolshelf_tests::{ADMIN, AppOptions, PASSWORD, Session, TestApp, within};

/// A request whose body is held back. The server has asked for it, so it is past all that it does before.
struct Held {
    stream: TcpStream,
    body: String,
}

impl Held {
    /// Sends a head with these credentials, and waits until the server asks for the body.
    async fn begin(app: &TestApp, path: &str, credentials: &str, body: Value) -> Self {
        let body = body.to_string();
        let mut stream = TcpStream::connect(app.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n{credentials}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\
             Connection: close\r\n\r\n",
            address = app.address,
            length = body.len(),
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut asked = [0; 25];
        within("the wish for the body", stream.read_exact(&mut asked)).await.unwrap();
        assert_eq!(std::str::from_utf8(&asked).unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
        Self { stream, body }
    }

    /// Sends the body, and returns the status and the whole answer.
    async fn finish(mut self) -> (u16, String) {
        self.stream.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        within("the answer", self.stream.read_to_string(&mut answer)).await.unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }
}

fn of_session(session: &Session) -> String {
    format!("Cookie: toolshelf_session={}\r\nX-CSRF-Token: {}", session.token, session.csrf)
}

fn ghost() -> Value {
    json!({"username": "ghost", "password": PASSWORD, "role": "admin"})
}

#[tokio::test]
async fn a_body_that_is_held_back_does_not_outlive_the_right_to_send_it() {
    let (app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["admin", "call"]).await;
    let by_key = format!("Authorization: Bearer {}", key.token);
    let bob = app.user(&admin, "bob", "admin").await;
    let eve = app.user(&admin, "eve", "admin").await;

    let held = [
        Held::begin(&app, "/api/v1/users", &by_key, ghost()).await,
        Held::begin(&app, "/api/v1/tools/list/call", &by_key, json!({"arguments": {}})).await,
        Held::begin(&app, "/api/v1/api-keys", &of_session(&bob), json!({"name": "x", "scopes": ["admin"]}))
            .await,
        Held::begin(&app, "/api/v1/users", &of_session(&eve), ghost()).await,
    ];
    admin.delete(&format!("/api/v1/api-keys/{}", key.id)).await.expect(200);
    let change = |user: &str| format!("/api/v1/users/{user}");
    admin.patch(&change(&bob.id), json!({"password": PASSWORD})).await.expect(200);
    admin.patch(&change(&eve.id), json!({"disabled": true})).await.expect(200);
    for request in held {
        let (status, answer) = request.finish().await;
        assert_eq!(status, 401, "{answer}");
    }
    let users = admin.get("/api/v1/users").await.expect(200).json();
    let names: Vec<&str> =
        users["items"].as_array().unwrap().iter().map(|user| user["username"].as_str().unwrap()).collect();
    assert_eq!(names, [ADMIN, "bob", "eve"]);
    let keys = admin.get("/api/v1/api-keys").await.expect(200).json();
    assert_eq!(keys["total"], 1, "only the revoked one");
}

#[tokio::test]
async fn a_call_ends_with_the_key_that_made_it() {
    let site = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = site.local_addr().unwrap();
    let options = AppOptions { web_allowed_hosts: vec![address.to_string()], ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let key = admin.key(&["call"]).await;
    let url = format!("http://{address}/");
    let call = tokio::spawn({
        let client = (*key).clone();
        async move { client.call("web_fetch", json!({"url": url})).await }
    });
    // The page is asked for, and never answers.
    let (_page, _) = within("the visit", site.accept()).await.unwrap();
    admin.delete(&format!("/api/v1/api-keys/{}", key.id)).await.expect(200);
    within("the end of the call", call).await.unwrap().problem(401, "unauthenticated");
    app.stop().await;
}
