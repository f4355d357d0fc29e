//! The first account.

use chrono::TimeDelta;
use serde_json::{Value, json};
use toolshelf_tests::{PASSWORD, TestApp};

fn with_token(token: &str) -> Value {
    json!({"token": token, "username": "ada", "password": PASSWORD})
}

#[tokio::test]
async fn the_link_makes_an_admin_who_is_signed_in_and_works_once() {
    let app = TestApp::start().await;
    let token = app.setup_token.clone().unwrap();
    let answer = app.nobody().post("/api/v1/setup", with_token(&token)).await.expect(201);
    let me = answer.json();
    assert_eq!((&me["username"], &me["role"], &me["scopes"]), (&json!("ada"), &json!("admin"), &Value::Null));
    let cookie = format!("toolshelf_session={}", answer.session_token());
    let again = app.nobody().get("/api/v1/me").header("cookie", &cookie).await.expect(200);
    assert_eq!(again.json(), me);

    app.nobody().post("/api/v1/setup", with_token(&token)).await.problem(409, "already_set_up");
    app.nobody().post("/api/v1/setup", with_token("x")).await.problem(409, "already_set_up");
    assert_eq!(app.restart().await.setup_token, None);
}

#[tokio::test]
async fn a_wrong_token_makes_nothing_and_uses_nothing_up() {
    let app = TestApp::start().await;
    let token = app.setup_token.clone().unwrap();
    let mut almost = token.clone();
    almost.replace_range(..1, if token.starts_with('A') { "B" } else { "A" });
    for wrong in ["", "x", &almost, &token[1..], &token.to_lowercase()] {
        let answer = app.nobody().post("/api/v1/setup", with_token(wrong)).await;
        answer.problem(422, "invalid").pointers(&["/token"]);
        assert_eq!(answer.header("set-cookie"), "");
    }
    app.nobody().post("/api/v1/setup", with_token(&token)).await.expect(201);
}

#[tokio::test]
async fn the_link_ends_after_an_hour_and_a_restart_gives_another() {
    let app = TestApp::start().await;
    let old = app.setup_token.clone().unwrap();
    app.clock.advance(TimeDelta::minutes(60));
    app.nobody().post("/api/v1/setup", with_token(&old)).await.problem(422, "invalid").pointers(&["/token"]);

    let app = app.restart().await;
    let new = app.setup_token.clone().unwrap();
    assert_ne!(new, old);
    app.nobody().post("/api/v1/setup", with_token(&old)).await.problem(422, "invalid").pointers(&["/token"]);
    app.clock.advance(TimeDelta::minutes(59));
    app.nobody().post("/api/v1/setup", with_token(&new)).await.expect(201);
}

#[tokio::test]
async fn of_many_at_once_exactly_one_succeeds() {
    let app = TestApp::start().await;
    let token = app.setup_token.clone().unwrap();
    let ask = |name: String| {
        let setup = json!({"token": token, "username": name, "password": PASSWORD});
        tokio::spawn(app.nobody().post("/api/v1/setup", setup).into_future())
    };
    let asked: Vec<_> = (0..6).map(|number| ask(format!("admin{number}"))).collect();
    let mut winners = Vec::new();
    for answer in asked {
        let answer = answer.await.unwrap();
        if answer.status() == 201 {
            winners.push(answer);
        } else {
            answer.problem(409, "already_set_up");
        }
    }
    assert_eq!(winners.len(), 1);
    let cookie = format!("toolshelf_session={}", winners[0].session_token());
    let users = app.nobody().get("/api/v1/users").header("cookie", &cookie).await.expect(200).json();
    assert_eq!(
        (&users["total"], &users["items"][0]["username"]),
        (&json!(1), &winners[0].json()["username"])
    );
}

#[tokio::test]
async fn weak_passwords_and_bad_names_are_refused_together() {
    let app = TestApp::start().await;
    let token = app.setup_token.clone().unwrap();
    for (username, password, pointers) in [
        ("ada", "short", &["/password"][..]),
        ("ada", &"x".repeat(1025), &["/password"]),
        ("", PASSWORD, &["/username"]),
        ("a b", PASSWORD, &["/username"]),
        ("<b>", PASSWORD, &["/username"]),
        (".ada", PASSWORD, &["/username"]),
        (&"a".repeat(65), PASSWORD, &["/username"]),
        ("a\u{202E}da", "", &["/username", "/password"]),
    ] {
        let setup = json!({"token": token, "username": username, "password": password});
        app.nobody().post("/api/v1/setup", setup).await.problem(422, "invalid").pointers(pointers);
    }
    app.nobody().post("/api/v1/setup", with_token(&token)).await.expect(201);
}

#[tokio::test]
async fn guessing_tokens_is_slowed_down() {
    let app = TestApp::start().await;
    let guesser = app.nobody();
    for _ in 0..10 {
        guesser.post("/api/v1/setup", with_token("x")).await.problem(422, "invalid");
    }
    let answer = guesser.post("/api/v1/setup", with_token("x")).await;
    answer.problem(429, "rate_limited");
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=7).contains(&wait), "{wait}");
    let token = app.setup_token.clone().unwrap();
    app.nobody().post("/api/v1/setup", with_token(&token)).await.expect(201);
}
