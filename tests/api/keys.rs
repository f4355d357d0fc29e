//! API keys.

use chrono::TimeDelta;
use serde_json::{Value, json};
use toolshelf_tests::TestApp;

#[tokio::test]
async fn a_key_shows_its_token_once() {
    let (_app, admin) = TestApp::with_admin().await;
    let new = json!({"name": " deploy ", "scopes": ["read", "call", "read"], "expires_at": "2027-01-31T00:00:00+01:00"});
    let created = admin.post("/api/v1/api-keys", new).await.expect(201).json();
    let token = created["token"].as_str().unwrap();
    assert!(token.starts_with("ts_") && token.len() == 46, "{token}");
    assert_eq!((&created["name"], &created["owner"]), (&json!("deploy"), &json!("ada")));
    assert_eq!(created["scopes"], json!(["read", "call"]));
    assert_eq!(created["expires_at"], "2027-01-30T23:00:00.000000Z");
    let list = admin.get("/api/v1/api-keys").await.expect(200);
    assert!(!list.text().contains(token));
    let mut shown = created.clone();
    shown.as_object_mut().unwrap().remove("token");
    assert_eq!(list.json()["items"], json!([shown]));
}

#[tokio::test]
async fn wrong_fields_are_named() {
    let (app, admin) = TestApp::with_admin().await;
    let user = app.user(&admin, "bob", "user").await;
    for (new, pointers) in [
        (json!({"name": "", "scopes": ["read"]}), &["/name"][..]),
        (json!({"name": "a\nb", "scopes": []}), &["/name", "/scopes"]),
        (json!({"name": "x", "scopes": ["root"]}), &["/scopes/0"]),
        (json!({"name": "x", "scopes": ["read"], "expires_at": "tomorrow"}), &["/expires_at"]),
        (json!({"name": "x", "scopes": ["read"], "expires_at": "2020-01-01T00:00:00Z"}), &["/expires_at"]),
        (json!({"name": "x", "scopes": ["read", "admin"]}), &["/scopes"]),
    ] {
        user.post("/api/v1/api-keys", new).await.problem(422, "invalid").pointers(pointers);
    }
    let pinned = json!({"name": "x", "scopes": ["call"], "profile": "nono"});
    user.post("/api/v1/api-keys", pinned).await.problem(422, "unknown_toolset").pointers(&["/profile"]);
    assert_eq!(user.get("/api/v1/api-keys").await.expect(200).json()["total"], 0);
}

#[tokio::test]
async fn wrong_revoked_and_expired_keys_and_those_of_disabled_users_get_the_same_answer() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let revoked = admin.key(&["read"]).await;
    let expiring =
        admin.key_as(json!({"name": "x", "scopes": ["read"], "expires_at": "2026-03-01T13:00:00Z"})).await;
    let of_bob = bob.key(&["read"]).await;
    for key in [&revoked, &expiring, &of_bob] {
        key.get("/api/v1/tools").await.expect(200);
    }
    admin.delete(&format!("/api/v1/api-keys/{}", revoked.id)).await.expect(200);
    admin.patch(&format!("/api/v1/users/{}", bob.id), json!({"disabled": true})).await.expect(200);
    app.clock.advance(TimeDelta::hours(1));

    let mut details = Vec::new();
    for token in [&revoked.token, &expiring.token, &of_bob.token, "ts_nonsense", "nonsense", &admin.token] {
        let asked = app.nobody().get("/api/v1/tools").header("authorization", &format!("Bearer {token}"));
        details.push(asked.await.problem(401, "unauthenticated")["detail"].clone());
    }
    assert!(details.iter().all(|detail| *detail == details[0]), "{details:?}");
    // A cookie does not make a wrong key good.
    let both = admin.get("/api/v1/tools").header("authorization", "Bearer ts_nonsense").await;
    both.problem(401, "unauthenticated");
    for header in ["ts_nonsense", "Basic YTpi", "Bearer", ""] {
        let asked = app.nobody().get("/api/v1/tools").header("authorization", header).await;
        asked.problem(401, "unauthenticated");
        assert_eq!(asked.header("www-authenticate"), "Bearer");
    }
}

#[tokio::test]
async fn scopes_open_what_they_name_and_nothing_else() {
    let (_app, admin) = TestApp::with_admin().await;
    let read = admin.key(&["read"]).await;
    let call = admin.key(&["call"]).await;
    read.get("/api/v1/tools").await.expect(200);
    let refused = read.call("list", json!({})).await.problem(403, "missing_scope").clone();
    assert!(refused["detail"].as_str().unwrap().contains("call"), "{refused}");
    call.call("list", json!({})).await.expect(200);
    call.get("/api/v1/tools").await.problem(403, "missing_scope");
    let me = call.get("/api/v1/me").await.expect(200).json();
    assert_eq!(
        (&me["scopes"], &me["csrf_token"], &me["role"]),
        (&json!(["call"]), &Value::Null, &json!("admin"))
    );
}

#[tokio::test]
async fn a_key_makes_no_keys() {
    let (_app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["read", "curate", "call", "approve", "mcp", "admin"]).await;
    let new = json!({"name": "x", "scopes": ["read"]});
    key.post("/api/v1/api-keys", new).await.problem(403, "session_only");
    key.form("/keys", &[("name", "x"), ("scope", "read"), ("expires", "30")])
        .without("accept")
        .await
        .problem(403, "session_only");
    assert_eq!(admin.get("/api/v1/api-keys").await.json()["total"], 1);
}

#[tokio::test]
async fn users_see_and_revoke_their_own_keys_and_admins_all() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let of_admin = admin.key(&["read"]).await;
    let of_bob = bob.key(&["read"]).await;
    let owners = |list: Value| -> Vec<String> {
        let mut owners: Vec<String> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key["owner"].as_str().unwrap().to_owned())
            .collect();
        owners.sort();
        owners
    };
    assert_eq!(owners(bob.get("/api/v1/api-keys").await.expect(200).json()), ["bob"]);
    assert_eq!(owners(admin.get("/api/v1/api-keys").await.expect(200).json()), ["ada", "bob"]);

    let others = format!("/api/v1/api-keys/{}", of_admin.id);
    bob.delete(&others).await.problem(404, "unknown_api_key");
    bob.delete("/api/v1/api-keys/nonsense").await.problem(404, "unknown_api_key");
    of_admin.get("/api/v1/tools").await.expect(200);

    let bobs = format!("/api/v1/api-keys/{}", of_bob.id);
    let revoked = admin.delete(&bobs).await.expect(200).json();
    assert_eq!(revoked["revoked_at"], "2026-03-01T12:00:00.000000Z");
    of_bob.get("/api/v1/tools").await.problem(401, "unauthenticated");
    app.clock.advance(TimeDelta::hours(1));
    assert_eq!(admin.delete(&bobs).await.expect(200).json(), revoked);
}

#[tokio::test]
async fn a_pin_cuts_everything_under_its_key() {
    let (_app, admin) = TestApp::with_admin().await;
    let pinned = admin.key_as(json!({"name": "quiet", "scopes": ["read", "call"], "profile": "none"})).await;
    let resolved = pinned.post("/api/v1/resolve", json!({"toolset": "default"})).await.expect(200).json();
    assert_eq!(resolved["tools"], json!([]));
    for verdict in resolved["verdicts"].as_array().unwrap() {
        assert_eq!(
            (&verdict["layer"], &verdict["code"]),
            (&json!("L2b"), &json!("outside_pin")),
            "{verdict}"
        );
        assert_eq!(verdict["by"], json!({"kind": "key", "name": "quiet"}), "{verdict}");
    }
    let refused = pinned.call("list", json!({})).await.problem(403, "unauthorized").clone();
    assert_eq!(refused["verdict"]["code"], "outside_pin");
    let open = admin.key_as(json!({"name": "open", "scopes": ["call"], "profile": "default"})).await;
    open.call("list", json!({})).await.expect(200);
}
