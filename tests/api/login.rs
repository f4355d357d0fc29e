//! Signing in.

use serde_json::{Value, json};
use toolshelf_tests::{ADMIN, AppOptions, PASSWORD, TestApp};

fn login(username: &str, password: &str) -> Value {
    json!({"username": username, "password": password})
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_or_disabled_user_get_the_same_answer() {
    let (app, admin) = TestApp::with_admin().await;
    let user = app.user(&admin, "bob", "user").await;
    admin.patch(&format!("/api/v1/users/{}", user.id), json!({"disabled": true})).await.expect(200);
    let mut answers = Vec::new();
    for (username, password) in
        [(ADMIN, "not the password"), ("nobody", PASSWORD), ("bob", PASSWORD), ("", "")]
    {
        let answer = app.nobody().post("/api/v1/login", login(username, password)).await;
        let mut problem = (*answer.problem(401, "unauthenticated")).clone();
        assert_eq!(answer.header("set-cookie"), "");
        problem.as_object_mut().unwrap().remove("request_id");
        answers.push(problem);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    app.nobody().post("/api/v1/login", login("ADA", PASSWORD)).await.expect(200);
}

#[tokio::test]
async fn many_tries_are_slowed_down_and_lock_nobody_else_out() {
    let (app, _) = TestApp::with_admin().await;
    let guesser = app.nobody();
    for _ in 0..10 {
        guesser.post("/api/v1/login", login(ADMIN, "not the password")).await.problem(401, "unauthenticated");
    }
    let answer = guesser.post("/api/v1/login", login(ADMIN, PASSWORD)).await;
    answer.problem(429, "rate_limited");
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=7).contains(&wait), "{wait}");
    // Neither the letter case nor the form is a way around.
    guesser.post("/api/v1/login", login("ADA", PASSWORD)).await.problem(429, "rate_limited");
    let page = guesser.form("/login", &[("username", ADMIN), ("password", PASSWORD)]).await.expect(429);
    assert!(page.header("retry-after").parse::<u64>().unwrap() >= 1);
    // The account is not locked, and the address is not either.
    app.log_in(ADMIN, PASSWORD).await;
    guesser.post("/api/v1/login", login("other", PASSWORD)).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn an_address_that_tries_many_names_is_slowed_down() {
    let (app, _) = TestApp::with_admin().await;
    let guesser = app.nobody();
    let mut refused = 0;
    for number in 0..80 {
        // A body without a password is cheap, and is not counted.
        let answer = guesser.post("/api/v1/login", login(&format!("user{number}"), "not the password")).await;
        refused += u32::from(answer.status() == 429);
    }
    assert!(refused > 0, "80 tries of one address were all answered");
    app.log_in(ADMIN, PASSWORD).await;
}

#[tokio::test]
async fn a_client_cannot_make_up_its_address() {
    let (app, _) = TestApp::with_admin().await;
    // What the client sends itself stands before what the trusted proxy adds.
    for made_up in ["203.0.113.{}", "203.0.113.{}, unknown", "203.0.113.{}, 198.51.100.7:99"] {
        let mut refused = 0;
        for number in 0..12 {
            let forwarded =
                format!("{}, 192.0.2.{}", made_up.replace("{}", &number.to_string()), made_up.len());
            let asked =
                app.nobody().post("/api/v1/login", login(ADMIN, "x")).header("x-forwarded-for", &forwarded);
            refused += u32::from(asked.await.status() == 429);
        }
        assert_eq!(refused, 2, "{made_up}");
    }
}

#[tokio::test]
async fn the_cookie_is_for_this_server_alone() {
    let (app, _) = TestApp::with_admin().await;
    let answer = app.nobody().post("/api/v1/login", login(ADMIN, PASSWORD)).await.expect(200);
    let token = answer.session_token();
    assert_eq!(token.len(), 43);
    let expected = format!("toolshelf_session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000");
    assert_eq!(answer.header("set-cookie"), expected);
}

#[tokio::test]
async fn over_tls_the_cookie_is_bound_to_the_host() {
    let options =
        AppOptions { public_url: Some("https://tools.example".to_owned()), ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let client = app.nobody().with("host", "tools.example").with("origin", "https://tools.example");
    let setup = json!({"token": app.setup_token, "username": ADMIN, "password": PASSWORD});
    let answer = client.post("/api/v1/setup", setup).await.expect(201);
    let token = answer.session_token();
    let expected =
        format!("__Host-toolshelf_session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure");
    assert_eq!(answer.header("set-cookie"), expected);
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
    // A cookie of the plain name could have been set by a page of a neighbouring host.
    let plain = client.get("/api/v1/me").header("cookie", &format!("toolshelf_session={token}")).await;
    plain.problem(401, "unauthenticated");
    let bound = format!("__Host-toolshelf_session={token}");
    client.get("/api/v1/me").header("cookie", &bound).await.expect(200);
    client.clone().without("origin").post("/api/v1/logout", json!({})).await.problem(403, "cross_site");
    let plain_origin =
        client.post("/api/v1/login", login(ADMIN, PASSWORD)).header("origin", "http://tools.example");
    plain_origin.await.problem(403, "cross_site");
}

#[tokio::test]
async fn signing_in_rotates_the_session() {
    let (app, _) = TestApp::with_admin().await;
    let first = app.log_in(ADMIN, PASSWORD).await;
    // The browser signs in again and sends the cookie that it has.
    let answer = first.post("/api/v1/login", login(ADMIN, PASSWORD)).await.expect(200);
    assert_ne!(answer.session_token(), first.token);
    assert_ne!(answer.json()["csrf_token"], first.csrf);
    first.get("/api/v1/me").await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_session_token_of_somebody_elses_choice_is_never_taken() {
    let (app, _) = TestApp::with_admin().await;
    let chosen = "A".repeat(43);
    let cookie = format!("toolshelf_session={chosen}");
    let answer = app
        .nobody()
        .post("/api/v1/login", login(ADMIN, PASSWORD))
        .header("cookie", &cookie)
        .await
        .expect(200);
    assert_ne!(answer.session_token(), chosen);
    app.nobody().get("/api/v1/me").header("cookie", &cookie).await.problem(401, "unauthenticated");
}
