//! Sessions and how they end.

use chrono::TimeDelta;
use serde_json::json;
use toolshelf_tests::{ADMIN, PASSWORD, Session, TestApp};

async fn has_ended(session: &Session) -> bool {
    session.get("/api/v1/me").await.status() == 401
}

#[tokio::test]
async fn logging_out_ends_this_session_and_no_other() {
    let (app, admin) = TestApp::with_admin().await;
    let other = app.log_in(ADMIN, PASSWORD).await;
    let answer = admin.post("/api/v1/logout", json!({})).await.expect(204);
    assert_eq!(answer.header("set-cookie"), "toolshelf_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    assert!(has_ended(&admin).await && !has_ended(&other).await);
    admin.get("/api/v1/me").await.problem(401, "unauthenticated");
    admin.disable("grep", "broken").await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn sessions_end_after_thirty_days() {
    let (app, admin) = TestApp::with_admin().await;
    app.clock.advance(TimeDelta::days(30) - TimeDelta::seconds(1));
    assert!(!has_ended(&admin).await);
    app.clock.advance(TimeDelta::seconds(1));
    admin.get("/api/v1/me").await.problem(401, "unauthenticated");
    // An ended session is no obstacle to a new one.
    let login = json!({"username": ADMIN, "password": PASSWORD});
    admin.post("/api/v1/login", login).await.expect(200);
    let page = admin.page("/functions").await.expect(303);
    assert_eq!(page.header("location"), "/login?next=%2Ffunctions");
}

#[tokio::test]
async fn sessions_outlive_a_restart() {
    let (app, admin) = TestApp::with_admin().await;
    let app = app.restart().await;
    let cookie = format!("toolshelf_session={}", admin.token);
    let me = app.nobody().get("/api/v1/me").header("cookie", &cookie).await.expect(200).json();
    assert_eq!((&me["username"], &me["csrf_token"]), (&json!(ADMIN), &json!(admin.csrf)));
    app.stop().await;
}

#[tokio::test]
async fn a_new_password_a_new_role_and_disabling_end_a_users_sessions() {
    let (app, admin) = TestApp::with_admin().await;
    let new_password = "another long password";
    for (name, change, password) in [
        ("bob", json!({"password": new_password}), Some(new_password)),
        ("cid", json!({"role": "admin"}), Some(PASSWORD)),
        ("dan", json!({"disabled": true}), None),
    ] {
        let first = app.user(&admin, name, "user").await;
        let second = app.log_in(name, PASSWORD).await;
        admin.patch(&format!("/api/v1/users/{}", first.id), change).await.expect(200);
        assert!(has_ended(&first).await && has_ended(&second).await, "{name}");
        if let Some(password) = password {
            app.log_in(name, password).await;
        }
    }
    let old = json!({"username": "bob", "password": PASSWORD});
    app.nobody().post("/api/v1/login", old).await.problem(401, "unauthenticated");
    assert!(!has_ended(&admin).await);
}

#[tokio::test]
async fn a_demoted_admin_is_a_user_at_once() {
    let (app, admin) = TestApp::with_admin().await;
    let other = app.user(&admin, "eve", "admin").await;
    let key = other.key(&["admin", "read"]).await;
    key.disable("grep", "broken").await.expect(200);
    admin.patch(&format!("/api/v1/users/{}", other.id), json!({"role": "user"})).await.expect(200);

    key.enable("grep").await.problem(403, "admins_only");
    key.get("/api/v1/users").await.problem(403, "admins_only");
    assert_eq!(key.get("/api/v1/me").await.expect(200).json()["role"], "user");
    key.get("/api/v1/tools").await.expect(200);
    app.log_in("eve", PASSWORD).await.get("/api/v1/audit").await.problem(403, "admins_only");

    admin.patch(&format!("/api/v1/users/{}", other.id), json!({"role": "admin"})).await.expect(200);
    key.enable("grep").await.expect(200);
}
