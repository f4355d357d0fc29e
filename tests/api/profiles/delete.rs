//! Deleting profiles, and the keys that are pinned to them.

use serde_json::{Value, json};
use toolshelf_tests::{Client, TestApp};

use super::{edit, listed, make, offered, path, pinned_key, show};

/// What the keys of the list are pinned to, sorted.
async fn pins(client: &Client) -> Vec<String> {
    let page = client.get("/api/v1/api-keys").await.expect(200).json();
    let items = page["items"].as_array().expect("a list");
    let mut pins: Vec<String> =
        items.iter().map(|key| key["profile"].as_str().expect("a pin").to_owned()).collect();
    pins.sort();
    pins
}

#[tokio::test]
async fn a_deleted_profile_is_gone_under_all_its_names() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "first", &["read"]).await;
    admin.patch(&path("first"), json!({"name": "second"})).await.expect(200);
    assert_eq!(admin.delete(&path("second")).await.expect(204).text(), "");
    for name in ["first", "second", "SECOND"] {
        let place = path(name);
        admin.get(&place).await.problem(410, "retired");
        admin.patch(&place, json!({"description": "x"})).await.problem(410, "retired");
        admin.delete(&place).await.problem(410, "retired");
        edit(&admin, name, &["read"], &[]).await.problem(410, "retired");
        admin.get(&format!("{place}/history")).await.problem(410, "retired");
        let clone = admin.post(&format!("{place}/clone"), json!({"name": "x"})).await;
        clone.problem(410, "retired");
        let resolve = admin.post("/api/v1/resolve", json!({"toolset": name})).await;
        resolve.problem(410, "retired").pointers(&["/toolset"]);
        let key = json!({"name": "k", "scopes": ["read"], "profile": name});
        admin.post("/api/v1/api-keys", key).await.problem(410, "retired").pointers(&["/profile"]);
        admin.get(&format!("/api/v1/tools?toolset={name}")).await.problem(410, "retired");
        let from = json!({"name": "x", "from": name});
        admin.post("/api/v1/profiles", from).await.problem(410, "retired").pointers(&["/from"]);
    }
    assert_eq!(listed(&admin).await, ["default"]);
    // The name does not bring the profile back: what takes it is a new one.
    let new = make(&admin, "second", &["list"]).await;
    assert_eq!((&new["revision"], &new["tools"]), (&json!(1), &json!(["list"])));
    assert_eq!(admin.get(&format!("{}/history", path("second"))).await.json()["total"], 1);
    admin.delete(&path("never was")).await.problem(404, "unknown_profile");
}

#[tokio::test]
async fn a_profile_in_use_is_deleted_only_with_a_replacement() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "used", &["read", "list"]).await;
    make(&admin, "less", &["read"]).await;
    let keys = [pinned_key(&admin, "used").await, pinned_key(&admin, "used").await];
    let revoked = pinned_key(&admin, "used").await;
    admin.delete(&format!("/api/v1/api-keys/{}", revoked.id)).await.expect(200);
    let problem = admin.delete(&path("used")).await.problem(409, "in_use");
    assert!(problem["detail"].as_str().unwrap().contains("2 API keys"), "{problem}");
    for (replacement, status, code) in [
        ("used", 422, "invalid"),
        ("USED", 422, "invalid"),
        ("nope", 422, "unknown_toolset"),
        ("", 422, "unknown_toolset"),
    ] {
        let asked = admin.delete(&format!("{}?replacement={replacement}", path("used"))).await;
        asked.problem(status, code).pointers(&["replacement"]);
    }
    assert_eq!(offered(&keys[0], Value::Null).await, ["list", "read"]);
    admin.delete(&format!("{}?replacement=less", path("used"))).await.expect(204);
    for key in &keys {
        assert_eq!(offered(key, Value::Null).await, ["read"]);
        key.call("list", json!({})).await.problem(403, "unauthorized");
    }
    assert_eq!(pins(&admin).await, ["less"; 3]);
    admin.delete(&format!("{}?replacement=none", path("less"))).await.expect(204);
    for key in &keys {
        assert!(offered(key, json!("default")).await.is_empty());
    }
    // No key is ever pinned to a profile that is gone.
    assert_eq!(pins(&admin).await, ["none"; 3]);
}

#[tokio::test]
async fn others_keys_are_repointed_by_admins_only() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let eve = app.user(&admin, "eve", "user").await;
    make(&bob, "used", &["read"]).await;
    let (of_bob, of_eve) = (pinned_key(&bob, "used").await, pinned_key(&eve, "used").await);
    let place = format!("{}?replacement=none", path("used"));
    let problem = bob.delete(&place).await.problem(409, "in_use");
    // The count is of the keys that stand in the way, and nobody's name is told.
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("1 API key ") && !detail.contains("eve"), "{detail}");
    eve.delete(&place).await.problem(403, "owners_only");
    for key in [&of_bob, &of_eve] {
        assert_eq!(offered(key, Value::Null).await, ["read"]);
    }
    admin.delete(&place).await.expect(204);
    for key in [&of_bob, &of_eve] {
        assert!(offered(key, Value::Null).await.is_empty());
    }

    make(&bob, "mine", &["read"]).await;
    let own = pinned_key(&bob, "mine").await;
    bob.delete(&path("mine")).await.problem(409, "in_use");
    bob.delete(&format!("{}?replacement=default", path("mine"))).await.expect(204);
    assert_eq!(pins(&bob).await, ["default", "none"]);
    own.call("list", json!({})).await.expect(200);
}

#[tokio::test]
async fn no_key_is_made_for_a_profile_that_is_being_deleted() {
    let (_app, admin) = TestApp::with_admin().await;
    for round in 0..8 {
        let name = format!("p{round}");
        make(&admin, &name, &["read"]).await;
        let new = json!({"name": name, "scopes": ["read", "call"], "profile": name});
        let key = tokio::spawn(admin.post("/api/v1/api-keys", new).into_future());
        let gone = tokio::spawn(admin.delete(&path(&name)).into_future());
        let (key, gone) = (key.await.unwrap(), gone.await.unwrap());
        match (key.status(), gone.status()) {
            (201, 409) => assert_eq!(show(&admin, &name).await["name"], name),
            (410, 204) => {}
            (key, gone) => panic!("the key was answered {key}, the delete {gone}"),
        }
    }
    assert!(pins(&admin).await.iter().all(|pin| pin != "a deleted profile"));
}
