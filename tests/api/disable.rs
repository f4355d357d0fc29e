//! The global disable.

use serde_json::{Value, json};
use toolshelf_tests::TestApp;

#[tokio::test]
async fn a_disabled_tool_is_struck_explained_and_refused_until_it_is_enabled() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let key = bob.key(&["read", "call"]).await;
    let answer = admin.disable("grep", "  It eats the disk  ").if_match(0).await.expect(200);
    let tool = answer.json();
    let disabled = json!({"by": "ada", "reason": "It eats the disk", "at": "2026-03-01T12:00:00.000000Z"});
    assert_eq!(
        (&tool["name"], &tool["disabled"], answer.header("etag")),
        (&json!("grep"), &disabled, "\"r1\"")
    );

    for client in [&*admin, &*bob, &*key] {
        assert_eq!(client.get("/api/v1/tools/grep").await.expect(200).json()["disabled"], disabled);
        let list = client.get("/api/v1/tools").await.expect(200).json();
        for item in list["items"].as_array().unwrap() {
            let expected = if item["name"] == "grep" { &disabled } else { &Value::Null };
            assert_eq!(&item["disabled"], expected, "{item}");
        }
        let resolved = client.post("/api/v1/resolve", json!({})).await.expect(200).json();
        assert!(resolved["tools"].as_array().unwrap().iter().all(|tool| tool["name"] != "grep"));
        let verdicts = resolved["verdicts"].as_array().unwrap();
        let verdict = verdicts.iter().find(|verdict| verdict["tool"] == "grep").unwrap();
        assert_eq!((&verdict["outcome"], &verdict["layer"]), (&json!("removed"), &json!("L5")));
        assert_eq!(
            (&verdict["code"], &verdict["reason"]),
            (&json!("globally_disabled"), &json!("It eats the disk"))
        );
        assert_eq!(verdict["by"], json!({"kind": "admin", "name": "ada"}));
        assert_eq!(verdict["fix"], json!({"action": "enable", "target": "grep", "who": "admin"}));
        let refused = client.call("grep", json!({"pattern": "x"})).await.problem(403, "unauthorized");
        assert_eq!(&refused["verdict"], verdict);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("ada") && detail.contains("It eats the disk"), "{detail}");
        // The refusal comes before a look at the arguments.
        client.call("grep", json!({"nonsense": 1})).await.problem(403, "unauthorized");
        client.call("list", json!({})).await.expect(200);
    }

    let enabled = admin.enable("grep").if_match(1).await.expect(200);
    assert_eq!((&enabled.json()["disabled"], enabled.header("etag")), (&Value::Null, "\"r2\""));
    bob.call("grep", json!({"pattern": "x"})).await.expect(200);
    // What is enabled already stays so, and nothing is written.
    assert_eq!(admin.enable("grep").await.expect(200).json(), enabled.json());
}

#[tokio::test]
async fn the_reason_is_one_line_that_people_can_read() {
    let (_app, admin) = TestApp::with_admin().await;
    let long = "x".repeat(501);
    for reason in ["", "   ", "a\nb", "a\tb", "a\u{202E}b", "\u{200B}", "\u{0007}", long.as_str()] {
        admin.disable("grep", reason).await.problem(422, "invalid").pointers(&["/reason"]);
    }
    assert_eq!(admin.get("/api/v1/tools/grep").await.json()["disabled"], Value::Null);
    admin.disable("grep", &"读".repeat(500)).await.expect(200);
}

#[tokio::test]
async fn a_missing_tool_can_be_disabled_before_it_comes() {
    let (app, admin) = TestApp::with_admin().await;
    let tool = admin.disable("github_delete_repo", "never").await.expect(200).json();
    assert_eq!((&tool["name"], &tool["source"]), (&json!("github_delete_repo"), &json!("missing")));
    assert_eq!((&tool["disabled"]["reason"], &tool["revision"]), (&json!("never"), &json!(1)));
    assert_eq!(tool["available"]["ok"], false);
    let app = app.restart().await;
    let admin = app.log_in("ada", toolshelf_tests::PASSWORD).await;
    admin.disable("github_delete_repo", "still").if_match(0).await.problem(412, "stale_revision");
    let enabled = admin.enable("github_delete_repo").if_match(1).await.expect(200).json();
    assert_eq!((&enabled["disabled"], &enabled["revision"]), (&Value::Null, &json!(2)));

    for name in ["9lives", "a.b", "a%20b", "%E8%AF%BB", &"a".repeat(65)] {
        admin.disable(name, "x").await.problem(404, "unknown_tool");
        admin.enable(name).await.problem(404, "unknown_tool");
    }
}

#[tokio::test]
async fn a_change_on_an_old_revision_is_refused_with_the_current_state() {
    let (_app, admin) = TestApp::with_admin().await;
    admin.disable("grep", "first").if_match(0).await.expect(200);
    let current = admin.get("/api/v1/tools/grep").await.expect(200).json();
    for stale in [0, 2] {
        let answer = admin.disable("grep", "second").if_match(stale).await;
        assert_eq!(answer.problem(412, "stale_revision")["current"], current);
        let answer = admin.enable("grep").if_match(stale).await;
        assert_eq!(answer.problem(412, "stale_revision")["current"], current);
    }
    admin.disable("grep", "x").header("if-match", "r1").await.problem(400, "malformed_if_match");
    admin.enable("grep").header("if-match", "nonsense").await.problem(400, "malformed_if_match");
    assert_eq!(admin.get("/api/v1/tools/grep").await.expect(200).json(), current);

    let second = admin.disable("grep", "second").if_match(1).await.expect(200).json();
    assert_eq!((&second["disabled"]["reason"], &second["revision"]), (&json!("second"), &json!(2)));
}

#[tokio::test]
async fn of_two_admins_on_one_revision_one_wins() {
    let (_app, admin) = TestApp::with_admin().await;
    let asked: Vec<_> = (0..8)
        .map(|number| {
            tokio::spawn(admin.disable("grep", &format!("reason {number}")).if_match(0).into_future())
        })
        .collect();
    let mut winners = Vec::new();
    for answer in asked {
        let answer = answer.await.unwrap();
        if answer.status() == 200 {
            winners.push(answer.json());
        } else {
            assert_eq!(answer.problem(412, "stale_revision")["current"]["revision"], 1);
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(admin.get("/api/v1/tools/grep").await.expect(200).json()["disabled"], winners[0]["disabled"]);
}

#[tokio::test]
async fn a_disable_outlives_a_restart() {
    let (app, admin) = TestApp::with_admin().await;
    admin.disable("grep", "broken").await.expect(200);
    let before = admin.get("/api/v1/tools/grep").await.expect(200).json();
    let etag = admin.get("/api/v1/tools").await.expect(200).header("etag").to_owned();
    let app = app.restart().await;
    let admin = app.log_in("ada", toolshelf_tests::PASSWORD).await;
    assert_eq!(admin.get("/api/v1/tools/grep").await.expect(200).json(), before);
    assert_eq!(admin.get("/api/v1/tools").await.expect(200).header("etag"), etag);
    admin.call("grep", json!({"pattern": "x"})).await.problem(403, "unauthorized");
    assert_eq!(app.nobody().get("/readyz").await.expect(200).text(), "ready\n");
}
