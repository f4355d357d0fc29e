//! Users, as admins manage them.

use serde_json::json;
use toolshelf_tests::{ADMIN, PASSWORD, TestApp};

#[tokio::test]
async fn users_are_made_shown_and_changed() {
    let (app, admin) = TestApp::with_admin().await;
    let new = json!({"username": "Bob", "password": PASSWORD, "role": "user"});
    let created = admin.post("/api/v1/users", new).await.expect(201);
    let bob = created.json();
    assert_eq!(created.header("etag"), "\"r1\"");
    assert_eq!(
        (&bob["username"], &bob["role"], &bob["disabled"]),
        (&json!("Bob"), &json!("user"), &json!(false))
    );
    assert!(bob.get("password").is_none() && bob.get("password_hash").is_none(), "{bob}");
    let path = format!("/api/v1/users/{}", bob["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.expect(200).json(), bob);

    let changed = admin.patch(&path, json!({"role": "admin"})).if_match(1).await.expect(200);
    assert_eq!(changed.header("etag"), "\"r2\"");
    assert_eq!(changed.json()["role"], "admin");
    // What changes nothing raises no revision.
    assert_eq!(admin.patch(&path, json!({})).await.expect(200).json(), changed.json());
    assert_eq!(admin.patch(&path, json!({"role": "admin"})).await.expect(200).json()["revision"], 2);

    let list = admin.get("/api/v1/users").await.expect(200).json();
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|user| &user["username"]).collect();
    assert_eq!((names, &list["total"]), (vec![&json!(ADMIN), &json!("Bob")], &json!(2)));
    app.stop().await;
}

#[tokio::test]
async fn a_name_is_taken_in_any_letter_case() {
    let (app, admin) = TestApp::with_admin().await;
    app.user(&admin, "émile", "user").await;
    for name in ["ada", "ADA", "Ada", "émile", "ÉMILE"] {
        let new = json!({"username": name, "password": PASSWORD, "role": "user"});
        admin.post("/api/v1/users", new).await.problem(409, "name_taken");
    }
}

#[tokio::test]
async fn wrong_fields_are_all_named() {
    let (_app, admin) = TestApp::with_admin().await;
    let new = json!({"username": "a b", "password": "short", "role": "user"});
    admin.post("/api/v1/users", new).await.problem(422, "invalid").pointers(&["/username", "/password"]);
    let new = json!({"username": "bob", "password": PASSWORD, "role": "owner"});
    admin.post("/api/v1/users", new).await.problem(422, "invalid").pointers(&["/role"]);
    let own = format!("/api/v1/users/{}", admin.id);
    admin.patch(&own, json!({"password": "short"})).await.problem(422, "invalid").pointers(&["/password"]);
    admin.get("/api/v1/users/nobody").await.problem(404, "unknown_user");
    admin.patch("/api/v1/users/nobody", json!({})).await.problem(404, "unknown_user");
}

#[tokio::test]
async fn the_last_admin_stays() {
    let (app, admin) = TestApp::with_admin().await;
    app.user(&admin, "bob", "user").await;
    let own = format!("/api/v1/users/{}", admin.id);
    for change in
        [json!({"role": "user"}), json!({"disabled": true}), json!({"role": "user", "disabled": true})]
    {
        admin.patch(&own, change).await.problem(409, "last_admin");
    }
    assert_eq!(admin.get(&own).await.expect(200).json()["revision"], 1);

    // A disabled admin does not count as one who could sign in.
    let other = app.user(&admin, "eve", "admin").await;
    let others = format!("/api/v1/users/{}", other.id);
    admin.patch(&others, json!({"disabled": true})).await.expect(200);
    admin.patch(&own, json!({"role": "user"})).await.problem(409, "last_admin");
    admin.patch(&others, json!({"disabled": false})).await.expect(200);
    admin.patch(&own, json!({"role": "user"})).await.expect(200);
}

#[tokio::test]
async fn of_two_admins_who_demote_each_other_one_stays() {
    let (app, first) = TestApp::with_admin().await;
    let second = app.user(&first, "eve", "admin").await;
    let demote = |by: &toolshelf_tests::Session, id: &str| {
        tokio::spawn(by.patch(&format!("/api/v1/users/{id}"), json!({"role": "user"})).into_future())
    };
    let asked = [demote(&first, &second.id), demote(&second, &first.id)];
    let mut changed = 0;
    for answer in asked {
        changed += u32::from(answer.await.unwrap().status() == 200);
    }
    assert_eq!(changed, 1);
}

#[tokio::test]
async fn a_change_on_an_old_revision_is_refused_with_the_current_state() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let path = format!("/api/v1/users/{}", bob.id);
    admin.patch(&path, json!({"role": "admin"})).if_match(1).await.expect(200);
    let current = admin.get(&path).await.expect(200).json();
    for stale in [0, 1, 3] {
        let answer = admin.patch(&path, json!({"disabled": true})).if_match(stale).await;
        assert_eq!(answer.problem(412, "stale_revision")["current"], current);
    }
    assert_eq!(admin.get(&path).await.expect(200).json(), current);
    admin.patch(&path, json!({"disabled": true})).header("if-match", "*").await.expect(200);
    for malformed in ["r3", "\"3\"", "3", "\"r\"", "\"r-1\"", "W/\"r3\"", "", "\"r99999999999999999999\""] {
        let asked = admin.patch(&path, json!({"disabled": false})).header("if-match", malformed);
        asked.await.problem(400, "malformed_if_match");
    }
}
