//! The audit log.

use serde_json::{Value, json};
use toolshelf_tests::{Client, PASSWORD, TestApp};

async fn entries(client: &Client) -> Vec<Value> {
    let mut page = client.get("/api/v1/audit?limit=500").await.expect(200).json();
    let mut items = page["items"].as_array_mut().expect("a list").clone();
    items.reverse();
    items
}

fn short(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
    format!("{} {} {} {}: {}", text("actor"), text("key"), text("action"), text("target"), text("detail"))
}

#[tokio::test]
async fn every_change_has_an_entry_with_who_and_what() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let bobs = bob.key_as(json!({"name": "mine", "scopes": ["read", "call"]})).await;
    let key = admin.key_as(json!({"name": "robot", "scopes": ["admin"]})).await;
    key.disable("grep", "too slow").await.expect(200);
    admin.enable("grep").await.expect(200);
    let path = format!("/api/v1/users/{}", bob.id);
    admin.patch(&path, json!({"role": "admin", "password": "another long password"})).await.expect(200);
    admin.patch(&path, json!({"disabled": true})).await.expect(200);
    admin.delete(&format!("/api/v1/api-keys/{}", bobs.id)).await.expect(200);

    let log = entries(&admin).await;
    assert_eq!(
        log.iter().map(short).collect::<Vec<_>>(),
        [
            "- - user.created ada: The first admin, by the set-up link.",
            "ada - user.created bob: As user.",
            "bob - api_key.created mine: Scopes: read, call.",
            "ada - api_key.created robot: Scopes: admin.",
            "ada robot tool.disabled grep: too slow",
            "ada - tool.enabled grep: ",
            "ada - user.updated bob: new password, now admin",
            "ada - user.updated bob: disabled",
            "ada - api_key.revoked mine: It was bob's.",
        ]
    );
    assert!(log.iter().all(|entry| entry["at"] == "2026-03-01T12:00:00.000000Z"));
    let ids: Vec<i64> = log.iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}

#[tokio::test]
async fn what_changes_nothing_has_no_entry() {
    let (app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["read"]).await;
    let key_path = format!("/api/v1/api-keys/{}", key.id);
    admin.delete(&key_path).await.expect(200);
    admin.disable("grep", "broken").await.expect(200);
    let before = entries(&admin).await;

    admin.delete(&key_path).await.expect(200);
    admin.enable("list").await.expect(200);
    admin.patch(&format!("/api/v1/users/{}", admin.id), json!({"role": "admin"})).await.expect(200);
    admin.disable("grep", "other").if_match(0).await.problem(412, "stale_revision");
    admin.disable("read", "").await.problem(422, "invalid");
    let taken = json!({"username": "ADA", "password": PASSWORD, "role": "user"});
    admin.post("/api/v1/users", taken).await.problem(409, "name_taken");
    let own = format!("/api/v1/users/{}", admin.id);
    admin.patch(&own, json!({"disabled": true})).await.problem(409, "last_admin");
    app.nobody().disable("read", "x").await.problem(401, "unauthenticated");
    assert_eq!(entries(&admin).await, before);
}

#[tokio::test]
async fn no_entry_holds_a_secret_or_an_argument() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let key = admin.key(&["admin", "call"]).await;
    admin
        .patch(&format!("/api/v1/users/{}", bob.id), json!({"password": "another long password"}))
        .await
        .expect(200);
    key.call("grep", json!({"pattern": "argument-of-a-call"})).await.expect(200);
    key.disable("grep", "broken").await.expect(200);
    key.call("grep", json!({"pattern": "argument-of-a-call"})).await.problem(403, "unauthorized");
    let log = admin.get("/api/v1/audit").await.expect(200);
    let secrets = [
        PASSWORD,
        "another long password",
        &key.token,
        &admin.token,
        &bob.token,
        "argument-of-a-call",
        "argon2",
    ];
    for secret in secrets.into_iter().chain(app.setup_token.as_deref()) {
        assert!(!log.text().contains(secret), "{secret}");
    }
}
