//! Pages that work without script, walked as a browser would.

use serde_json::json;
use toolshelf_tests::{ADMIN, Answer, PASSWORD, Session, TestApp, inputs, tags, tokens_in};

/// The session that a form opened, as the page after it shows it.
async fn signed_in(app: &TestApp, answer: &Answer) -> Session {
    let cookie = format!("toolshelf_session={}", answer.session_token());
    let me = app.nobody().get("/api/v1/me").header("cookie", &cookie).await.expect(200).json();
    Session::new(app.nobody(), &answer.session_token(), &me)
}

/// Follows a redirect to this place.
#[track_caller]
fn redirected(answer: Answer, to: &str) -> Answer {
    let answer = answer.expect(303);
    assert_eq!(answer.header("location"), to);
    answer
}

#[tokio::test]
async fn a_new_installation_leads_to_its_set_up() {
    let app = TestApp::start().await;
    for path in ["/", "/login", "/functions", "/people"] {
        redirected(app.nobody().page(path).await, "/setup");
    }
    let wrong = app.nobody().page("/setup?token=x").await.expect(422);
    assert!(wrong.text().contains("set-up link"), "{}", wrong.text());
    // The first line that the program prints leads here, and nobody did anything wrong.
    let bare = app.nobody().page("/setup").await.expect(200);
    assert!(bare.text().contains("Open the set-up link") && !bare.text().contains("<form"));
    let token = app.setup_token.clone().unwrap();
    let page = app.nobody().page(&format!("/setup?token={token}")).await.expect(200);
    assert_eq!(inputs(page.text())["token"], token);

    let submit = async |password: &str, again: &str| {
        let fields = [
            ("token", token.as_str()),
            ("username", "<ada>"),
            ("password", password),
            ("password_again", again),
        ];
        app.nobody().form("/setup", &fields).await
    };
    let differ = submit(PASSWORD, "something else").await.expect(422);
    assert!(differ.text().contains("The two passwords differ."));
    let bad = submit("short", "short").await.expect(422);
    let values = inputs(bad.text());
    assert_eq!((values["username"].as_str(), values["password"].as_str()), ("<ada>", ""));
    assert!(bad.text().contains("username-error") && bad.text().contains("password-error"), "{}", bad.text());

    let fields = [
        ("token", token.as_str()),
        ("username", " ada "),
        ("password", PASSWORD),
        ("password_again", PASSWORD),
    ];
    let done = redirected(app.nobody().form("/setup", &fields).await, "/functions");
    let admin = signed_in(&app, &done).await;
    admin.page("/functions").await.expect(200);
    redirected(admin.page("/").await, "/functions");
    redirected(app.nobody().page("/").await, "/login");
    let again = app.nobody().page(&format!("/setup?token={token}")).await.expect(409);
    assert!(again.text().contains("Already set up"));
    app.nobody().form("/setup", &fields).await.expect(409);
}

#[tokio::test]
async fn signing_in_and_out() {
    let (app, _) = TestApp::with_admin().await;
    let to = redirected(
        app.nobody().page("/functions/grep?x=1&y=%2F").await,
        "/login?next=%2Ffunctions%2Fgrep%3Fx%3D1%26y%3D%252F",
    );
    let page = app.nobody().page(to.header("location")).await.expect(200);
    let next = inputs(page.text())["next"].clone();
    assert_eq!(next, "/functions/grep?x=1&y=%2F");

    let wrong = app
        .nobody()
        .form("/login", &[("username", ADMIN), ("password", "wrong"), ("next", &next)])
        .await
        .expect(401);
    let values = inputs(wrong.text());
    assert_eq!(
        (&values["username"], &values["next"], &values["password"]),
        (&ADMIN.to_owned(), &next, &String::new())
    );
    assert!(wrong.text().contains("The user name or the password is wrong."));

    let done =
        app.nobody().form("/login", &[("username", ADMIN), ("password", PASSWORD), ("next", &next)]).await;
    let session = signed_in(&app, &redirected(done, &next)).await;
    redirected(session.page("/login?next=/keys").await, "/keys");
    let page = session.page("/keys").await.expect(200);
    assert_eq!(inputs(page.text())["csrf_token"], session.csrf);
    let out = redirected(session.submit("/logout", &[]).await, "/login");
    assert_eq!(out.session_token(), "");
    redirected(session.page("/functions").await, "/login?next=%2Ffunctions");
}

#[tokio::test]
async fn after_signing_in_nobody_is_sent_elsewhere() {
    let (app, admin) = TestApp::with_admin().await;
    for next in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n//evil.example",
        "javascript:alert(1)",
        "evil.example",
        "@evil.example",
        "",
    ] {
        let fields = [("username", ADMIN), ("password", PASSWORD), ("next", next)];
        redirected(app.nobody().form("/login", &fields).await, "/functions");
        let query: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        redirected(admin.page(&format!("/login?next={query}")).await, "/functions");
        let page = app.nobody().page(&format!("/login?next={query}")).await.expect(200);
        assert_eq!(inputs(page.text())["next"], "/functions");
    }
}

#[tokio::test]
async fn a_form_sent_after_the_session_ended_leads_back_to_a_page() {
    let (app, admin) = TestApp::with_admin().await;
    admin.post("/api/v1/logout", json!({})).await.expect(204);
    for path in ["/people", "/people/x", "/keys", "/keys/x/revoke", "/logout"] {
        let answer = admin.submit(path, &[]).await.expect(303);
        let page = app.nobody().page(answer.header("location")).await.expect(200);
        let next = inputs(page.text())["next"].clone();
        let again = app.log_in(ADMIN, PASSWORD).await;
        assert!(again.page(&next).await.status() < 400, "{path} leads to {next}, which is no page");
    }
}

#[tokio::test]
async fn people_are_added_and_changed() {
    let (app, admin) = TestApp::with_admin().await;
    let bad = admin
        .submit("/people", &[("username", "a b"), ("password", "short"), ("role", "user")])
        .await
        .expect(422);
    assert!(bad.text().contains("username-error") && bad.text().contains("password-error"));
    assert_eq!(inputs(bad.text())["username"], "a b");
    admin
        .submit("/people", &[("username", "bob"), ("password", PASSWORD), ("role", "owner")])
        .await
        .expect(422);
    let add = [("username", "bob"), ("password", PASSWORD), ("role", "user")];
    redirected(admin.submit("/people", &add).await, "/people?done=added");
    admin.submit("/people", &add).await.expect(409);
    let page = admin.page("/people?done=added").await.expect(200);
    assert!(page.text().contains("<b>bob</b>") && page.text().contains("The person is added"));
    assert!(!admin.page("/people?done=%3Cb%3Eyou%20won").await.expect(200).text().contains("you won"));

    let bob = app.log_in("bob", PASSWORD).await;
    bob.page("/people").await.expect(403);
    bob.submit("/people", &add).await.expect(403);
    let path = format!("/people/{}", bob.id);
    assert!(tags(page.text(), "form").iter().any(|form| form["action"] == path), "{}", page.text());
    let change = async |revision: &str, action: &str, password: &str| {
        admin.submit(&path, &[("revision", revision), ("action", action), ("password", password)]).await
    };
    redirected(change("1", "make_admin", "").await, "/people?done=changed");
    change("1", "disable", "").await.expect(412);
    change("2", "set_password", "short").await.expect(422);
    redirected(change("2", "set_password", "another long password").await, "/people?done=changed");
    redirected(change("3", "make_user", "").await, "/people?done=changed");
    redirected(change("4", "disable", "").await, "/people?done=changed");
    let login = json!({"username": "bob", "password": "another long password"});
    app.nobody().post("/api/v1/login", login).await.problem(401, "unauthenticated");
    redirected(change("5", "enable", "").await, "/people?done=changed");
    app.log_in("bob", "another long password").await;
    change("6", "nonsense", "").await.expect(422);
    change("", "disable", "").await.expect(422);
    let own = [("revision", "1"), ("action", "make_user")];
    admin.submit(&format!("/people/{}", admin.id), &own).await.expect(409);
    admin.submit("/people/nobody", &own).await.expect(404);
}

#[tokio::test]
async fn keys_are_made_shown_once_and_revoked() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    for (fields, error) in [
        (&[("name", "x"), ("expires", "30")][..], "scope-error"),
        (&[("name", ""), ("scope", "read"), ("expires", "30")], "name-error"),
        (&[("name", "x"), ("scope", "read"), ("expires", "soon")], "expires-error"),
        (&[("name", "x"), ("scope", "admin"), ("expires", "30")], "scope-error"),
    ] {
        let page = bob.submit("/keys", fields).await.expect(422);
        assert!(page.text().contains(error), "{fields:?}\n{}", page.text());
        assert_eq!(tokens_in(page.text()), Vec::<String>::new());
    }
    let made = bob
        .submit("/keys", &[("name", "script"), ("scope", "read"), ("scope", "call"), ("expires", "30")])
        .await
        .expect(200);
    let tokens = tokens_in(made.text());
    let [token] = tokens.as_slice() else { panic!("{}", made.text()) };
    let key = |path: &str| app.nobody().get(path).header("authorization", &format!("Bearer {token}"));
    assert_eq!(key("/api/v1/me").await.expect(200).json()["scopes"], json!(["read", "call"]));
    assert_eq!(tokens_in(bob.page("/keys").await.expect(200).text()), Vec::<String>::new());
    let list = bob.get("/api/v1/api-keys").await.expect(200).json();
    assert_eq!(list["items"][0]["expires_at"], "2026-03-31T12:00:00.000000Z");

    let path = format!("/keys/{}/revoke", list["items"][0]["id"].as_str().unwrap());
    let page = bob.page("/keys").await.expect(200);
    assert!(tags(page.text(), "form").iter().any(|form| form["action"] == path));
    let other = app.user(&admin, "eve", "user").await;
    other.submit(&path, &[]).await.expect(404);
    redirected(bob.submit(&path, &[]).await, "/keys?done=revoked");
    key("/api/v1/me").await.problem(401, "unauthenticated");
    assert!(bob.page("/keys?done=revoked").await.expect(200).text().contains("revoked"));
}

#[tokio::test]
async fn pages_are_for_people_and_not_for_keys() {
    let (_app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["read", "admin"]).await;
    for path in ["/functions", "/functions/grep", "/people", "/keys"] {
        admin.page(path).await.expect(200);
        let refused = key.page(path).await.expect(403);
        assert!(!refused.text().contains("csrf_token"));
    }
}
