//! Notices of change.

use serde_json::{Value, json};
use toolshelf_tests::{ADMIN, PASSWORD, TestApp};

#[tokio::test]
async fn a_stream_begins_with_hello_and_tells_of_each_change() {
    let (_app, admin) = TestApp::with_admin().await;
    let head = admin.get("/api/v1/events").await.expect(200);
    assert_eq!(
        (head.header("content-type"), head.header("cache-control")),
        ("text/event-stream", "no-cache")
    );
    let key = admin.key(&["read"]).await;
    let mut streams = [admin.listen().await, key.listen().await];
    for stream in &mut streams {
        let hello = stream.next().await;
        assert_eq!((hello.name.as_str(), &hello.data), ("hello", &json!({"kind": "hello", "revision": 0})));
    }
    let tool = admin.disable("grep", "broken").await.expect(200).json();
    admin.disable("missing_tool", "x").await.expect(200);
    admin.enable("grep").await.expect(200);
    for stream in &mut streams {
        let first = stream.next().await;
        assert_eq!((first.name.as_str(), &first.data["name"]), ("tool_changed", &json!("grep")));
        assert_eq!((&first.data["kind"], &first.data["revision"]), (&json!("tool_changed"), &json!(1)));
        assert_eq!(first.data["tool"]["disabled"], tool["disabled"]);
        assert!(first.data["tool"].get("parameters").is_none());
        let second = stream.next().await;
        assert_eq!((&second.data["name"], &second.data["tool"]), (&json!("missing_tool"), &Value::Null));
        let third = stream.next().await;
        assert_eq!((&third.data["tool"]["disabled"], &third.data["revision"]), (&Value::Null, &json!(3)));
        let sequence = |id: &str| id.split_once('.').unwrap().1.parse::<u64>().unwrap();
        assert_eq!(sequence(&second.id), sequence(&first.id) + 1);
    }
}

#[tokio::test]
async fn a_listener_that_comes_back_gets_what_it_missed() {
    let (app, admin) = TestApp::with_admin().await;
    let mut stream = admin.listen().await;
    let hello = stream.next().await;
    admin.disable("grep", "one").await.expect(200);
    let seen = stream.next().await;
    drop(stream);
    admin.disable("list", "two").await.expect(200);
    admin.disable("read", "three").await.expect(200);

    let resume = async |id: &str| admin.get("/api/v1/events").header("last-event-id", id).listen().await;
    let mut resumed = resume(&seen.id).await;
    let mut names = Vec::new();
    while names.len() < 2 {
        let event = resumed.next().await;
        match event.name.as_str() {
            "tool_changed" => names.push(event.data["name"].as_str().unwrap().to_owned()),
            other => assert_eq!((other, names.len()), ("hello", 0)),
        }
    }
    assert_eq!(names, ["list", "read"]);
    // It goes on with what is new, and says nothing twice.
    let enabled = admin.enable("grep").await.expect(200).json();
    assert_eq!(resumed.next().await.data["tool"]["revision"], enabled["revision"]);

    // Nothing is known of ids of another run, of the future and of no kind.
    let (epoch, _) = seen.id.split_once('.').unwrap();
    for id in ["1.1", &format!("{epoch}.999"), "nonsense", ""] {
        let mut stream = resume(id).await;
        let first = stream.next().await;
        assert_eq!((first.name.as_str(), &first.data["revision"]), ("resync", &json!(4)), "{id:?}");
        let shown = first.id.split_once('.').unwrap();
        assert_eq!(shown, (epoch, "4"), "{id:?}");
    }
    let app = app.restart().await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    let mut stream = admin.get("/api/v1/events").header("last-event-id", &hello.id).listen().await;
    assert_eq!(stream.next().await.name, "resync");
}

#[tokio::test]
async fn nothing_is_told_to_a_session_or_key_that_has_ended() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let key = admin.key(&["read"]).await;
    let dan = app.user(&admin, "dan", "user").await;
    let of_dan = dan.key(&["read"]).await;
    let mut streams = Vec::new();
    for client in [&*bob, &*key, &*dan, &*of_dan] {
        let mut stream = client.listen().await;
        stream.next().await;
        streams.push(stream);
    }
    bob.post("/api/v1/logout", json!({})).await.expect(204);
    admin.delete(&format!("/api/v1/api-keys/{}", key.id)).await.expect(200);
    admin.patch(&format!("/api/v1/users/{}", dan.id), json!({"disabled": true})).await.expect(200);
    admin.disable("grep", "broken").await.expect(200);
    for stream in &mut streams {
        assert_eq!(stream.rest().await, []);
    }
}

#[tokio::test]
async fn a_stream_ends_soon_after_its_session_though_nothing_happens() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let mut stream = bob.listen().await;
    stream.next().await;
    bob.post("/api/v1/logout", json!({})).await.expect(204);
    assert_eq!(stream.rest().await, []);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let (app, admin) = TestApp::with_admin().await;
    let mut stream = admin.listen().await;
    stream.next().await;
    let started = std::time::Instant::now();
    app.stop().await;
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(stream.rest().await, []);
}
