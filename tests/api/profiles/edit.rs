//! Changing profiles.

use serde_json::{Value, json};
use toolshelf_tests::TestApp;

use super::{edit, make, path, show};

#[tokio::test]
async fn each_field_is_changed_by_itself_and_each_change_is_one_revision() {
    let (app, admin) = TestApp::with_admin().await;
    let mut expected = make(&admin, "mine", &["read", "glob"]).await;
    for (number, (field, value)) in [
        ("description", json!("For nights")),
        ("tools", json!(["list", "read", "glob"])),
        ("pinned", json!(["read", "list"])),
        ("new_tools", json!("hold")),
        ("new_tools", json!("include")),
        ("name", json!("yours")),
    ]
    .into_iter()
    .enumerate()
    {
        app.clock.advance(chrono::TimeDelta::seconds(1));
        let answer = admin.patch(&path("mine"), json!({field: value})).await.expect(200);
        assert_eq!(answer.header("etag"), format!("\"r{}\"", number + 2));
        let now = answer.json();
        assert_ne!(now["updated_at"], expected["updated_at"]);
        expected[field] = value;
        for computed in ["revision", "updated_at", "tokens"] {
            expected[computed] = now[computed].clone();
        }
        assert_eq!((&now, &now["revision"]), (&expected, &json!(number + 2)));
        assert_eq!(show(&admin, "mine").await, expected);
    }
}

#[tokio::test]
async fn what_changes_nothing_keeps_the_revision() {
    let (_app, admin) = TestApp::with_admin().await;
    let before = make(&admin, "mine", &["read", "glob"]).await;
    for same in [
        json!({}),
        json!({"name": "mine"}),
        json!({"description": " "}),
        json!({"tools": ["read", "glob", "read"], "pinned": [], "new_tools": "ignore"}),
    ] {
        assert_eq!(admin.patch(&path("mine"), same).await.expect(200).json(), before);
    }
    for (add, remove) in [(&[][..], &[][..]), (&["read"], &[]), (&[], &["list", "web_fetch"])] {
        assert_eq!(edit(&admin, "mine", add, remove).await.expect(200).json(), before);
    }
    let restored = admin.post(&format!("{}/restore", path("mine")), json!({"revision": 1})).await.expect(200);
    assert_eq!(restored.json(), before);
    let history = admin.get(&format!("{}/history", path("mine"))).await.expect(200).json();
    assert_eq!(history["total"], 1);
    let audit = admin.get("/api/v1/audit").await.expect(200).json();
    assert_eq!(audit["items"][0]["action"], "profile.created");
}

#[tokio::test]
async fn a_write_on_an_old_revision_is_refused_with_the_current_state() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read"]).await;
    admin.patch(&path("mine"), json!({"description": "new"})).if_match(1).await.expect(200);
    let current = show(&admin, "mine").await;
    let place = path("mine");
    for stale in [0, 1, 3] {
        for ask in [
            admin.patch(&place, json!({"description": "other"})),
            admin.patch(&place, json!({})),
            admin.post(&format!("{place}/tools"), json!({"add": ["list"]})),
            admin.post(&format!("{place}/restore"), json!({"revision": 1})),
            admin.delete(&place),
        ] {
            let problem = ask.if_match(stale).await.problem(412, "stale_revision");
            assert_eq!(problem["current"], current);
        }
    }
    let malformed = admin.patch(&place, json!({"description": "x"})).header("if-match", "r2").await;
    malformed.problem(400, "malformed_if_match");
    assert_eq!(show(&admin, "mine").await, current);
    edit(&admin, "mine", &["list"], &[]).await.expect(200);
    admin.delete(&place).if_match(3).await.expect(204);
}

#[tokio::test]
async fn of_two_who_write_on_one_revision_one_wins() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &[]).await;
    let asked: Vec<_> = (0..8)
        .map(|number| {
            let change = json!({"description": format!("of {number}")});
            tokio::spawn(admin.patch(&path("mine"), change).if_match(1).into_future())
        })
        .collect();
    let mut winners = Vec::new();
    for answer in asked {
        let answer = answer.await.unwrap();
        if answer.status() == 200 {
            winners.push(answer.json());
        } else {
            assert_eq!(answer.problem(412, "stale_revision")["current"]["revision"], 2);
        }
    }
    assert_eq!(winners, [show(&admin, "mine").await]);
}

#[tokio::test]
async fn edits_of_tools_at_once_lose_nothing() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &[]).await;
    let asked: Vec<_> = super::ALL
        .map(|tool| {
            let place = format!("{}/tools", path("mine"));
            tokio::spawn(admin.post(&place, json!({"add": [tool]})).into_future())
        })
        .into_iter()
        .collect();
    for answer in asked {
        answer.await.unwrap().expect(200);
    }
    let now = show(&admin, "mine").await;
    let mut tools: Vec<&str> =
        now["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!((tools, &now["revision"]), (super::ALL.to_vec(), &json!(8)));
}

#[tokio::test]
async fn a_bulk_edit_is_one_revision_and_all_or_nothing() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read", "glob", "list"]).await;
    let done =
        edit(&admin, "mine", &["web_fetch", "read", "grep", "web_fetch"], &["glob", "todo_list"]).await;
    let now = done.expect(200).json();
    assert_eq!((&now["tools"], &now["revision"]), (&json!(["read", "list", "web_fetch", "grep"]), &json!(2)));
    for (add, remove, pointers) in [
        (&["glob", "glob", "gerp"][..], &["read"][..], &["/add/2"][..]),
        (&["glob"], &["read", "raed"], &["/remove/1"]),
        (&["glob", "read"], &["list", "read"], &["/add/1"]),
        (&["nope", "glob"], &["glob", "nada"], &["/add/0", "/add/1", "/remove/1"]),
    ] {
        edit(&admin, "mine", add, remove).await.problem(422, "invalid").pointers(pointers);
    }
    let wrong = admin.post(&format!("{}/tools", path("mine")), json!({"add": ["glob"], "x": 1})).await;
    assert_eq!(wrong.status(), 422);
    assert_eq!(show(&admin, "mine").await, now);
    let problem =
        admin.patch(&path("mine"), json!({"tools": ["read", "read", "gerp"], "description": "x"})).await;
    problem.problem(422, "invalid").pointers(&["/tools/2"]);
    assert_eq!(show(&admin, "mine").await, now);
}

#[tokio::test]
async fn pins_are_tools_of_the_profile_and_leave_with_them() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read", "glob", "list"]).await;
    let wrong = json!({"pinned": ["read", "read", "grep", "nope"]});
    let problem = admin.patch(&path("mine"), wrong).await.problem(422, "invalid");
    problem.pointers(&["/pinned/2", "/pinned/3"]);
    let pinned = json!({"pinned": ["list", "read", "list"]});
    let now = admin.patch(&path("mine"), pinned).await.expect(200).json();
    assert_eq!(now["pinned"], json!(["list", "read"]));
    let now = edit(&admin, "mine", &[], &["list"]).await.expect(200).json();
    assert_eq!(now["pinned"], json!(["read"]));
    // A tool that comes back is not pinned by that.
    let now = edit(&admin, "mine", &["list"], &[]).await.expect(200).json();
    assert_eq!(now["pinned"], json!(["read"]));
    let now = admin.patch(&path("mine"), json!({"tools": ["list"]})).await.expect(200).json();
    assert_eq!(now["pinned"], json!([]));
    // Tools and pins of one change belong together.
    let change = json!({"tools": ["grep"], "pinned": ["list"]});
    admin.patch(&path("mine"), change).await.problem(422, "invalid").pointers(&["/pinned/0"]);
    let change = json!({"tools": ["grep"], "pinned": ["grep"]});
    assert_eq!(admin.patch(&path("mine"), change).await.expect(200).json()["pinned"], json!(["grep"]));
}

#[tokio::test]
async fn open_tabs_hear_of_every_change() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut stream = admin.listen().await;
    assert_eq!(stream.next().await.name, "hello");
    make(&admin, "mine", &["read"]).await;
    edit(&admin, "mine", &["list"], &[]).await.expect(200);
    // What changes nothing is not told.
    edit(&admin, "mine", &["list"], &[]).await.expect(200);
    admin.patch(&path("mine"), json!({"name": "yours"})).await.expect(200);
    admin.delete(&path("yours")).await.expect(204);
    let mut id = Value::Null;
    for (revision, name) in [(1, json!("mine")), (2, json!("mine")), (3, json!("yours")), (4, Value::Null)] {
        let event = stream.next().await;
        assert_eq!(event.name, "profile_changed");
        if id.is_null() {
            id = event.data["id"].clone();
        }
        assert_eq!(
            event.data,
            json!({"kind": "profile_changed", "revision": revision, "id": id, "name": name})
        );
    }
    assert!(id.is_string());
}
