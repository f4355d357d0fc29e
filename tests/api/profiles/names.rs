//! What profiles are called, and the names that they had.

use chrono::TimeDelta;
use serde_json::json;
use toolshelf_tests::{ADMIN, PASSWORD, TestApp};

use super::{listed, make, offered, path, pinned_key, show};

#[tokio::test]
async fn what_is_no_name_is_refused_when_made_renamed_and_cloned() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["read"]).await;
    let mut wrong: Vec<String> = r"/\:,*?#%".chars().map(|character| format!("a{character}b")).collect();
    for character in [
        '\u{7}',
        '\n',
        '\t',
        '\u{7f}',
        '\u{85}',
        '\u{202E}',
        '\u{2066}',
        '\u{200B}',
        '\u{200D}',
        '\u{FEFF}',
        '\u{AD}',
        '\u{1D173}',
    ] {
        wrong.push(format!("a{character}b"));
    }
    wrong.extend(["", "   ", "\u{200B}", ".", "..", ".hidden", " .hidden"].map(str::to_owned));
    wrong.extend(
        ["default", "DEFAULT", " Default ", "all", "ALL", "full", "Full", "none", "NoNe"].map(str::to_owned),
    );
    wrong.extend(["x".repeat(65), "读".repeat(65)]);
    for name in wrong {
        let bad = json!({"name": name});
        let answer = admin.post("/api/v1/profiles", bad.clone()).await;
        answer.problem(422, "invalid").pointers(&["/name"]);
        admin.patch(&path("mine"), bad.clone()).await.problem(422, "invalid").pointers(&["/name"]);
        let answer = admin.post(&format!("{}/clone", path("mine")), bad).await;
        answer.problem(422, "invalid").pointers(&["/name"]);
    }
    assert_eq!(listed(&admin).await, ["default", "mine"]);
}

#[tokio::test]
async fn names_are_trimmed_normalised_and_percent_encoded_in_paths() {
    let (_app, admin) = TestApp::with_admin().await;
    for (given, kept) in [
        ("  night jobs ", "night jobs"),
        ("cafe\u{301}", "café"),
        ("客户支持", "客户支持"),
        ("a+b&c=d;e", "a+b&c=d;e"),
        ("\"quoted\" <b>", "\"quoted\" <b>"),
        ("🛠", "🛠"),
        (&"读".repeat(64), &"读".repeat(64)),
    ] {
        assert_eq!(make(&admin, given, &["read"]).await["name"], kept);
        assert_eq!(show(&admin, kept).await["name"], kept);
        assert_eq!(show(&admin, given).await["name"], kept);
        assert_eq!(offered(&admin, json!(given)).await, ["read"]);
    }
    assert_eq!(admin.get("/api/v1/profiles/%ff").await.status() / 100, 4);
    admin.get(&path("客户支")).await.problem(404, "unknown_profile").suggests(&["客户支持"]);
}

#[tokio::test]
async fn a_name_is_taken_in_every_letter_case() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "other", &[]).await;
    for (taken, same) in [
        ("Research", "rESEARCH"),
        ("Straße", "STRASSE"),
        ("客户支持", " 客户支持"),
        ("CAFÉ", "cafe\u{301}"),
        ("客户 Alpha", "客户 ALPHA"),
    ] {
        make(&admin, taken, &["read"]).await;
        let answer = admin.post("/api/v1/profiles", json!({"name": same})).await;
        answer.problem(409, "name_taken");
        admin.patch(&path("other"), json!({"name": same})).await.problem(409, "name_taken");
        assert_eq!(show(&admin, same).await["name"], taken);
    }
    // The case of one's own name may change, and retires nothing.
    let renamed = admin.patch(&path("Straße"), json!({"name": "STRASSE"})).await.expect(200).json();
    assert_eq!((&renamed["name"], &renamed["revision"]), (&json!("STRASSE"), &json!(2)));
    assert_eq!(show(&admin, "other").await["revision"], 1);
}

#[tokio::test]
async fn the_old_name_leads_to_a_renamed_profile_everywhere() {
    let (app, admin) = TestApp::with_admin().await;
    make(&admin, "first", &["read", "list"]).await;
    let key = pinned_key(&admin, "first").await;
    let renamed = admin.patch(&path("first"), json!({"name": "second"})).await.expect(200).json();
    assert_eq!((&renamed["name"], &renamed["revision"]), (&json!("second"), &json!(2)));
    admin.patch(&path("second"), json!({"name": "third"})).await.expect(200);
    let app = app.restart().await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    for name in ["first", "second", "third", "FIRST"] {
        assert_eq!(show(&admin, name).await["name"], "third");
        assert_eq!(offered(&admin, json!(name)).await, ["list", "read"]);
        pinned_key(&admin, name).await;
        let list = admin.get(&format!("/api/v1/tools?toolset={name}")).await.expect(200).json();
        assert_eq!(list["total"], 2);
    }
    let key = toolshelf_tests::Key::new(app.address, key.id, key.token);
    assert_eq!(offered(&key, json!(null)).await, ["list", "read"]);
    let keys = admin.get("/api/v1/api-keys").await.expect(200).json();
    assert!(keys["items"].as_array().unwrap().iter().all(|key| key["profile"] == "third"), "{keys}");
    // An edit under an old name changes the profile, and the way back is open.
    admin.patch(&path("first"), json!({"description": "d"})).await.expect(200);
    let back = admin.patch(&path("third"), json!({"name": "First"})).await.expect(200).json();
    assert_eq!((&back["name"], &back["description"]), (&json!("First"), &json!("d")));
    assert_eq!(listed(&admin).await, ["default", "First"]);
    assert_eq!(show(&admin, "third").await["name"], "First");
}

#[tokio::test]
async fn a_retired_name_is_its_owners_and_admins_for_90_days() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let eve = app.user(&admin, "eve", "user").await;
    for name in ["renamed", "deleted", "for admin"] {
        make(&bob, name, &["read"]).await;
    }
    make(&eve, "eves", &["list"]).await;
    bob.patch(&path("renamed"), json!({"name": "new"})).await.expect(200);
    bob.delete(&path("deleted")).await.expect(204);
    bob.delete(&path("for admin")).await.expect(204);
    for name in ["renamed", "Deleted", "FOR ADMIN"] {
        eve.post("/api/v1/profiles", json!({"name": name})).await.problem(409, "name_kept");
        eve.patch(&path("eves"), json!({"name": name})).await.problem(409, "name_kept");
        let clone = eve.post(&format!("{}/clone", path("eves")), json!({"name": name})).await;
        clone.problem(409, "name_kept");
    }
    // Nothing was taken by trying.
    assert_eq!(show(&eve, "renamed").await["name"], "new");
    assert_eq!(show(&eve, "eves").await["revision"], 1);

    assert_eq!(make(&admin, "for admin", &["glob"]).await["owner"], "ada");
    assert_eq!(make(&bob, "Deleted", &["glob"]).await["name"], "Deleted");
    assert_eq!(make(&bob, "renamed", &["glob"]).await["revision"], 1);
    assert_eq!(offered(&bob, json!("renamed")).await, ["glob"]);
    assert_eq!(show(&bob, "new").await["tools"], json!(["read"]));

    // The names are kept again, and then no longer.
    bob.delete(&path("renamed")).await.expect(204);
    bob.patch(&path("Deleted"), json!({"name": "newer"})).await.expect(200);
    app.clock.advance(TimeDelta::days(90) - TimeDelta::seconds(10));
    let app = app.restart().await;
    let (admin, eve) = (app.log_in(ADMIN, PASSWORD).await, app.log_in("eve", PASSWORD).await);
    eve.post("/api/v1/profiles", json!({"name": "renamed"})).await.problem(409, "name_kept");
    eve.get(&path("renamed")).await.problem(410, "retired");
    assert_eq!(show(&eve, "deleted").await["name"], "newer");
    app.clock.advance(TimeDelta::days(1));
    let app = app.restart().await;
    let eve = app.log_in("eve", PASSWORD).await;
    eve.get(&path("renamed")).await.problem(404, "unknown_profile");
    eve.get(&path("deleted")).await.problem(404, "unknown_profile");
    make(&eve, "renamed", &["list"]).await;
    make(&eve, "deleted", &["list"]).await;
    drop(admin);
}
