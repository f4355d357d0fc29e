//! Who may do what with whose profile.

use serde_json::json;
use toolshelf_tests::{Client, TestApp};

use super::{edit, make, offered, path, pinned_key, show};

/// Every way of changing a profile.
async fn refused(client: &Client, name: &str, code: &str) {
    let place = path(name);
    client.patch(&place, json!({"description": "x"})).await.problem(403, code);
    client.patch(&place, json!({})).if_match(99).await.problem(403, code);
    edit(client, name, &[], &["read"]).await.problem(403, code);
    client.post(&format!("{place}/restore"), json!({"revision": 1})).await.problem(403, code);
    client.delete(&place).await.problem(403, code);
}

#[tokio::test]
async fn a_profile_is_changed_by_its_owner_and_admins() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let eve = app.user(&admin, "eve", "user").await;
    let keys = [bob.key(&["curate"]).await, bob.key(&["read"]).await, eve.key(&["read", "curate"]).await];
    make(&bob, "mine", &["read", "list"]).await;
    refused(&eve, "mine", "owners_only").await;
    refused(&keys[2], "mine", "owners_only").await;
    refused(&keys[1], "mine", "missing_scope").await;
    let seen = show(&eve, "mine").await;
    assert_eq!(
        (&seen["owner"], &seen["can_edit"], &seen["revision"]),
        (&json!("bob"), &json!(false), &json!(1))
    );
    assert_eq!(offered(&eve, json!("mine")).await, ["list", "read"], "everybody may choose it");
    assert_eq!(eve.get(&format!("{}/history", path("mine"))).await.expect(200).json()["total"], 1);
    let clone = eve.post(&format!("{}/clone", path("mine")), json!({"name": "hers"})).await.expect(201);
    assert_eq!(clone.json()["owner"], "eve");

    edit(&keys[0], "mine", &["glob"], &[]).await.expect(200);
    let by_admin = edit(&admin, "mine", &["grep"], &[]).await.expect(200).json();
    assert_eq!((&by_admin["owner"], &by_admin["can_edit"]), (&json!("bob"), &json!(true)));
    let made = make(&keys[0], "by key", &["read"]).await;
    assert_eq!(made["owner"], "bob");
    keys[0].delete(&path("by key")).await.expect(204);
    app.nobody().get(&path("mine")).await.problem(401, "unauthenticated");
    admin.delete(&path("mine")).await.expect(204);
}

#[tokio::test]
async fn only_an_admin_widens_what_others_keys_may_do() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let eve = app.user(&admin, "eve", "user").await;
    make(&bob, "mine", &["read", "list", "glob"]).await;
    let own = pinned_key(&bob, "mine").await;
    edit(&bob, "mine", &["grep"], &[]).await.expect(200);
    let others = pinned_key(&eve, "mine").await;

    let place = path("mine");
    edit(&bob, "mine", &["web_fetch"], &[]).await.problem(403, "used_by_others");
    edit(&bob, "mine", &["web_fetch"], &["read", "list"]).await.problem(403, "used_by_others");
    for wider in [json!({"tools": ["read", "web_fetch"]}), json!({"new_tools": "include"})] {
        bob.patch(&place, wider).await.problem(403, "used_by_others");
    }
    // Narrowing is free, and so is what says nothing about tools.
    edit(&bob, "mine", &[], &["read"]).await.expect(200);
    bob.patch(&place, json!({"tools": ["glob", "list"], "pinned": ["list"], "description": "d"}))
        .await
        .expect(200);
    bob.patch(&place, json!({"new_tools": "hold", "name": "ours"})).await.expect(200);
    for key in [&own, &others] {
        assert_eq!(offered(key, json!(null)).await, ["glob", "list"]);
    }
    // Going back to more is widening too.
    let restore = format!("{}/restore", path("ours"));
    bob.post(&restore, json!({"revision": 1})).await.problem(403, "used_by_others");
    let revision = show(&bob, "ours").await["revision"].clone();

    edit(&admin, "ours", &["web_fetch"], &[]).await.expect(200);
    admin.patch(&path("ours"), json!({"new_tools": "include"})).await.expect(200);
    bob.post(&restore, json!({"revision": revision})).await.expect(200);
    assert_eq!(offered(&others, json!(null)).await, ["glob", "list"]);
    // Once the other's key is revoked the profile is its owner's again.
    eve.delete(&format!("/api/v1/api-keys/{}", others.id)).await.expect(200);
    bob.post(&restore, json!({"revision": 1})).await.expect(200);
    assert_eq!(offered(&own, json!(null)).await, ["glob", "list", "read"]);
}

#[tokio::test]
async fn a_key_cannot_change_the_profile_that_it_is_pinned_to() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read"]).await;
    let new = json!({"name": "robot", "scopes": ["read", "curate"], "profile": "mine"});
    let key = admin.key_as(new).await;
    key.patch("/api/v1/profiles/mine", json!({"tools": ["read", "grep"]})).await.problem(403, "own_pin");
    key.post("/api/v1/profiles/mine/tools", json!({"add": ["grep"]})).await.problem(403, "own_pin");
    key.delete("/api/v1/profiles/mine?replacement=default").await.problem(403, "own_pin");
    assert_eq!(offered(&key, json!(null)).await, ["read"]);
}
