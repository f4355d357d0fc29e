//! What profiles were, who made them so, and the way back.

use serde_json::{Value, json};
use toolshelf_tests::{ADMIN, PASSWORD, TestApp};

use super::{edit, listed, make, path, show};

#[tokio::test]
async fn the_history_shows_every_revision_newest_first() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    make(&bob, "mine", &["read"]).await;
    app.clock.advance(chrono::TimeDelta::seconds(1));
    edit(&admin, "mine", &["list"], &[]).await.expect(200);
    bob.patch(&path("mine"), json!({"name": "yours", "pinned": ["list"], "new_tools": "hold"}))
        .await
        .expect(200);
    let place = format!("{}/history", path("yours"));
    let page = bob.get(&place).await.expect(200).json();
    let (first, second) = ("2026-03-01T12:00:00.000000Z", "2026-03-01T12:00:01.000000Z");
    let version =
        |revision: u64, at: &str, by: &str, name: &str, tools: Value, pinned: Value, policy: &str| {
            json!({"revision": revision, "at": at, "by": by, "name": name, "description": "", "tools": tools,
            "pinned": pinned, "new_tools": policy})
        };
    let versions = [
        version(3, second, "bob", "yours", json!(["read", "list"]), json!(["list"]), "hold"),
        version(2, second, "ada", "mine", json!(["read", "list"]), json!([]), "ignore"),
        version(1, first, "bob", "mine", json!(["read"]), json!([]), "ignore"),
    ];
    assert_eq!(page, json!({"items": versions, "next_cursor": null, "total": 3}));
    for limit in 1..=4 {
        let (mut shown, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = bob.get(&format!("{place}?limit={limit}{cursor}")).await.expect(200).json();
            shown.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(shown, versions, "{limit}");
    }
    bob.get(&format!("{place}?cursor=x")).await.problem(422, "invalid").pointers(&["cursor"]);
    bob.get(&format!("{}/history", path("nothing at all"))).await.problem(404, "unknown_profile");
}

#[tokio::test]
async fn going_back_is_a_new_revision_and_the_name_stays() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read", "glob"]).await;
    let first = json!({"description": "first", "pinned": ["glob"], "new_tools": "hold"});
    admin.patch(&path("mine"), first).await.expect(200);
    let change = json!({"name": "yours", "description": "second", "tools": ["list"], "new_tools": "ignore"});
    admin.patch(&path("mine"), change).await.expect(200);
    let restore = format!("{}/restore", path("yours"));
    let back = admin.post(&restore, json!({"revision": 2})).if_match(3).await.expect(200).json();
    assert_eq!((&back["name"], &back["revision"]), (&json!("yours"), &json!(4)));
    assert_eq!((&back["description"], &back["new_tools"]), (&json!("first"), &json!("hold")));
    assert_eq!((&back["tools"], &back["pinned"]), (&json!(["read", "glob"]), &json!(["glob"])));
    let forth = admin.post(&restore, json!({"revision": 3})).await.expect(200).json();
    assert_eq!((&forth["tools"], &forth["revision"]), (&json!(["list"]), &json!(5)));
    let history = admin.get(&format!("{}/history", path("yours"))).await.expect(200).json();
    assert_eq!(history["total"], 5);

    make(&admin, "other", &["read"]).await;
    for revision in 2..=4 {
        edit(&admin, "other", &[super::ALL[revision]], &[]).await;
    }
    // Of no revision, of one to come, of another profile's.
    for revision in [0, 6, u64::MAX] {
        let answer = admin.post(&restore, json!({"revision": revision})).await;
        answer.problem(422, "invalid").pointers(&["/revision"]);
    }
    let foreign = admin.post(&format!("{}/restore", path("other")), json!({"revision": 5})).await;
    foreign.problem(422, "invalid").pointers(&["/revision"]);
    for wrong in [json!({}), json!({"revision": -1}), json!({"revision": "2"})] {
        assert_eq!(admin.post(&restore, wrong).await.status(), 422);
    }
    assert_eq!(show(&admin, "yours").await, forth);
}

#[tokio::test]
async fn every_change_is_audited() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let key = bob.key_as(json!({"name": "robot", "scopes": ["curate"]})).await;
    make(&bob, "mine", &["read"]).await;
    edit(&key, "mine", &["list", "glob"], &["read"]).await.expect(200);
    admin.patch(&path("mine"), json!({"name": "yours", "new_tools": "hold"})).await.expect(200);
    bob.patch(&path("yours"), json!({"description": "x"})).await.expect(200);
    bob.post(&format!("{}/clone", path("yours")), json!({"name": "copy"})).await.expect(201);
    bob.post(&format!("{}/restore", path("yours")), json!({"revision": 1})).await.expect(200);
    bob.delete(&path("yours")).await.expect(204);
    // What is refused has no entry.
    bob.post("/api/v1/profiles", json!({"name": "copy"})).await.problem(409, "name_taken");
    edit(&bob, "copy", &["nope"], &[]).await.problem(422, "invalid");
    let audit = admin.get("/api/v1/audit?limit=500").await.expect(200).json();
    let mut log: Vec<String> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"].as_str().unwrap().starts_with("profile."))
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {} {}: {}",
                text("actor"),
                text("key"),
                text("action"),
                text("target"),
                text("detail")
            )
        })
        .collect();
    log.reverse();
    assert_eq!(
        log,
        [
            "bob - profile.created mine: 1 tools.",
            "bob robot profile.updated mine: 2 tools added, 1 removed",
            "ada - profile.updated yours: renamed from mine, another policy for new tools",
            "bob - profile.updated yours: description, order or pins",
            "bob - profile.created copy: 2 tools.",
            "bob - profile.updated yours: 1 tools added, 2 removed, another policy for new tools",
            "bob - profile.deleted yours: ",
        ]
    );
}

#[tokio::test]
async fn everything_outlives_a_restart() {
    let (app, admin) = TestApp::with_admin().await;
    make(&admin, "客户支持", &["read", "glob", "list"]).await;
    let change = json!({"description": "d", "pinned": ["list"], "new_tools": "include"});
    admin.patch(&path("客户支持"), change).await.expect(200);
    make(&admin, "gone", &["read"]).await;
    admin.delete(&path("gone")).await.expect(204);
    make(&admin, "old", &["read"]).await;
    admin.patch(&path("old"), json!({"name": "new"})).await.expect(200);
    let history = format!("{}/history", path("客户支持"));
    let before = (show(&admin, "客户支持").await, listed(&admin).await, admin.get(&history).await.json());
    let etag = admin.get("/api/v1/tools").await.expect(200).header("etag").to_owned();
    let app = app.restart().await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    let after = (show(&admin, "客户支持").await, listed(&admin).await, admin.get(&history).await.json());
    assert_eq!(after, before);
    admin.get(&path("gone")).await.problem(410, "retired");
    assert_eq!(show(&admin, "old").await["name"], "new");
    assert_eq!(admin.get("/api/v1/tools").await.expect(200).header("etag"), etag);
}
