//! Secrets stay where they belong.

use serde_json::json;
use toolshelf_tests::{PASSWORD, Process, ProcessOptions};

/// A walk through set-up, sign-in, keys, pages and errors with the real program and the most talkative log.
#[tokio::test]
async fn no_secret_is_logged_or_answered_twice() {
    const NEW_PASSWORD: &str = "a second long password";
    let folder = Process::folder();
    let options = ProcessOptions { log: Some("trace"), ..ProcessOptions::default() };
    let process = Process::start(folder.path(), false, options).await;
    let setup_token = process.setup_token.clone().unwrap();
    let nobody = process.nobody();
    let mut answers = Vec::new();

    answers.push(nobody.page("/setup?token=wrong").await);
    let setup = json!({"token": "wrong", "username": "ada", "password": PASSWORD});
    answers.push(nobody.post("/api/v1/setup", setup).await);
    let admin = process.set_up().await;
    let new = json!({"username": "bob", "password": NEW_PASSWORD, "role": "user"});
    answers.push(admin.post("/api/v1/users", new.clone()).await.expect(201));
    answers.push(admin.post("/api/v1/users", new).await.expect(409));
    answers.push(
        admin.submit("/people", &[("username", "x y"), ("password", NEW_PASSWORD), ("role", "user")]).await,
    );
    let wrong_type = json!({"username": 5, "password": NEW_PASSWORD, "role": "user"});
    answers.push(admin.post("/api/v1/users", wrong_type).await);
    let unknown_field = json!({"username": "x", "passwort": NEW_PASSWORD, "role": "user"});
    answers.push(admin.post("/api/v1/users", unknown_field).await);
    for password in ["not the password", NEW_PASSWORD] {
        let login = json!({"username": "nobody", "password": password});
        answers.push(nobody.post("/api/v1/login", login).await);
        answers.push(nobody.form("/login", &[("username", "ada"), ("password", password)]).await.expect(401));
    }
    let key = admin.key(&["read", "call", "admin"]).await;
    for client in [&*admin, &*key] {
        for path in [
            "/api/v1/tools",
            "/api/v1/users",
            "/api/v1/api-keys",
            "/api/v1/audit",
            "/api/v1/me",
            "/people",
            "/keys",
            "/functions",
            "/nothing",
        ] {
            answers.push(client.page(path).await);
        }
    }
    answers.push(key.call("grep", json!({"pattern": "argument-of-a-call"})).await.expect(200));
    answers.push(key.disable("grep", "broken").await.expect(200));
    answers.push(key.call("grep", json!({"pattern": "argument-of-a-call"})).await);
    answers.push(nobody.get("/api/v1/me").header("authorization", &format!("Bearer {}x", key.token)).await);
    answers.push(
        nobody.get("/api/v1/me").header("cookie", &format!("toolshelf_session={}x", admin.token)).await,
    );
    answers.push(admin.post("/api/v1/logout", json!({})).await.expect(204));

    let ended = process.signal("TERM").await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let secrets = [
        ("the set-up token", setup_token.as_str()),
        ("a session's token", &admin.token),
        ("a key's token", &key.token),
        ("a password", PASSWORD),
        ("a password", NEW_PASSWORD),
        ("a wrong password", "not the password"),
        ("the hash of a password", "$argon2"),
    ];
    for (what, secret) in secrets {
        assert!(!ended.stderr.contains(secret), "{what} is in the log");
        for answer in &answers {
            assert!(!answer.shown().contains(secret), "{what} is in an answer:\n{}", answer.shown());
        }
    }
    assert!(!ended.stderr.contains("argument-of-a-call"), "an argument is in the log");
    assert!(!ended.stderr.contains(&admin.csrf), "a CSRF token is in the log");
    // The log is really there, and names requests.
    assert!(
        ended.stderr.contains("/api/v1/login") && ended.stderr.contains("request refused"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stdout.matches(&setup_token).count(), 1);
}
