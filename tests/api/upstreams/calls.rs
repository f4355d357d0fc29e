//! Calls of tools of servers: results, failures, and refusals by what is true at the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolshelf_tests::{FakeMcp, TestApp, plain_tool, within};

use super::Watch;

#[tokio::test]
async fn results_come_back_as_they_are_meant() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::new(json!({
        "tools": [plain_tool("echo"), plain_tool("fails"), plain_tool("data"), plain_tool("refuses"), plain_tool("long")],
        "calls": {
            "fails": {"result": {"content": [{"type": "text", "text": "no such page"}], "isError": true}},
            "data": {"result": {"content": [], "structuredContent": {"pages": 3}}},
            "refuses": {"error": {"code": -32000, "message": "not today"}},
            "long": {"text": "x".repeat(100_000)},
        },
    }));
    watch.ready("docs", &fake).await;
    let call = async |tool: &str, arguments: Value| {
        admin.call(&format!("docs__{tool}"), arguments).await.expect(200).json()
    };
    let echo = call("echo", json!({"text": "<b>读</b>"})).await;
    assert_eq!((&echo["is_error"], &echo["text"]), (&json!(false), &json!("{\"text\":\"<b>读</b>\"}")));
    let fails = call("fails", json!({})).await;
    assert_eq!(
        (&fails["is_error"], &fails["code"], &fails["text"]),
        (&json!(true), &json!("execution_failed"), &json!("no such page"))
    );
    assert_eq!(call("data", json!({})).await["data"], json!({"pages": 3}));
    let refuses = call("refuses", json!({})).await;
    assert!(refuses["text"].as_str().unwrap().contains("not today"), "{refuses}");
    let long = call("long", json!({})).await;
    assert!(long["text"].as_str().unwrap().chars().count() <= 30_000);
    assert!(long["text"].as_str().unwrap().contains("characters left out"));
    let wrong = admin.call("docs__echo", json!({"text": 7})).await;
    wrong.problem(422, "invalid_input").pointers(&["/arguments/text"]);
    let asked = fake.received().into_iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(asked, 5, "what does not fit is not sent");
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_is_down_and_comes_back() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::new(
        json!({"tools": [plain_tool("dies"), plain_tool("echo")], "calls": {"dies": {"exit": 7}}}),
    );
    watch.ready("docs", &fake).await;
    let died = admin.call("docs__dies", json!({})).await.expect(200).json();
    assert_eq!((&died["is_error"], &died["code"]), (&json!(true), &json!("execution_failed")));
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    let echo = within("a call that works again", async {
        loop {
            let answer = admin.call("docs__echo", json!({})).await;
            if answer.status() == 200 {
                return answer.json();
            }
            answer.problem(403, "inactive");
        }
    });
    assert_eq!(echo.await["is_error"], false);
}

#[tokio::test]
async fn a_call_that_is_not_answered_ends_in_its_time() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::new(json!({"tools": [plain_tool("never")], "calls": {"never": {"never": true}}}));
    watch.add("docs", &fake, json!({"limits": {"call_timeout_seconds": 1}})).await;
    watch.until("docs", |server| server["status"]["state"] == "ready").await;
    let ended = admin.call("docs__never", json!({})).await.expect(200).json();
    assert_eq!((&ended["is_error"], &ended["code"]), (&json!(true), &json!("timed_out")));
    within("the server to be told", async {
        while !fake.received().iter().any(|message| message["method"] == "notifications/cancelled") {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Whatever was listed before: what was disabled, held or lost by the time of the call is refused with that verdict.
#[tokio::test]
async fn what_happened_between_list_and_call_refuses_it() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &fake).await;
    let listed = async || watch.tools("docs").await == ["docs__search"];
    let refused = async |code: &str, status: &str| {
        let problem = admin.call("docs__search", json!({})).await.problem(403, status);
        assert_eq!(problem["verdict"]["code"], code);
    };
    assert!(listed().await);
    admin.disable("docs__search", "It leaks.").await.expect(200);
    refused("globally_disabled", "unauthorized").await;
    admin.enable("docs__search").await.expect(200);
    admin.call("docs__search", json!({})).await.expect(200);
    let mut changed = plain_tool("search");
    changed["description"] = json!("Other.");
    fake.set(json!({"tools": [changed]}));
    watch.until("docs", |server| server["change_count"] == 1).await;
    refused("held_changed", "unauthorized").await;
    fake.set(json!({"tools": [plain_tool("search")], "exit": 1}));
    watch.until("docs", |server| server["status"]["state"] == "down").await;
    refused("upstream_down", "inactive").await;
}

/// Calls go on while an admin disables and enables, the definition changes and changes back, and the server dies and comes
/// back. Nothing that was answered as refused ran, and what is refused says why.
#[tokio::test]
async fn callers_race_with_everything_that_can_happen() {
    const ROUNDS: usize = 12;
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = Arc::new(FakeMcp::with_tools(&["search"]));
    watch.ready("docs", &fake).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..3 {
        let (client, stop) = (admin.clone(), Arc::clone(&stop));
        callers.spawn(async move {
            let (mut ran, mut refused, mut number) = (Vec::new(), Vec::new(), 0);
            while !stop.load(Ordering::SeqCst) {
                number += 1;
                let id = format!("{caller}-{number}");
                let answer = client.call("docs__search", json!({ "text": id })).await;
                if answer.status() == 200 {
                    if answer.json()["is_error"] == false {
                        ran.push(id);
                    }
                    continue;
                }
                let code = answer.json()["verdict"]["code"].as_str().unwrap_or("none").to_owned();
                assert!(
                    ["globally_disabled", "held_changed", "upstream_down"].contains(&code.as_str()),
                    "{code}: {}",
                    answer.text()
                );
                refused.push(id);
            }
            (ran, refused)
        });
    }
    let mut other = plain_tool("search");
    other["description"] = json!("Other.");
    for round in 0..ROUNDS {
        match round % 3 {
            0 => {
                admin.disable("docs__search", "race").await.expect(200);
                // From here on nobody gets through.
                let problem =
                    admin.call("docs__search", json!({"text": "after"})).await.problem(403, "unauthorized");
                assert_eq!(problem["verdict"]["code"], "globally_disabled");
                admin.enable("docs__search").await.expect(200);
            }
            1 => {
                fake.set(json!({ "tools": [other] }));
                watch.until("docs", |server| server["change_count"] == 1).await;
                admin.call("docs__search", json!({"text": "after"})).await.problem(403, "unauthorized");
                fake.set(json!({"tools": [plain_tool("search")]}));
                watch.until("docs", |server| server["change_count"] == 0).await;
            }
            _ => {
                fake.set(json!({"tools": [plain_tool("search")], "exit": 1}));
                watch.until("docs", |server| server["status"]["state"] == "down").await;
                admin.call("docs__search", json!({"text": "after"})).await.problem(403, "inactive");
                fake.set(json!({"tools": [plain_tool("search")]}));
                watch.until("docs", |server| server["status"]["state"] == "ready").await;
            }
        }
    }
    stop.store(true, Ordering::SeqCst);
    let sent: Vec<String> = fake
        .received()
        .iter()
        .filter_map(|message| message["params"]["arguments"]["text"].as_str().map(str::to_owned))
        .collect();
    assert!(!sent.iter().any(|id| id == "after"), "a refused call was sent");
    let mut calls = 0;
    while let Some(ended) = within("the callers' end", callers.join_next()).await {
        let (ran, refused) = ended.unwrap();
        calls += ran.len();
        // The last ones may have been sent after the record was read.
        for id in refused {
            assert!(!sent.contains(&id), "{id} was refused and sent");
        }
    }
    assert!(calls > 0);
}

#[tokio::test]
async fn resources_are_read_while_a_tool_of_their_server_can_be_called() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::new(json!({
        "tools": [plain_tool("search")],
        "resources": {"resources": [{"uri": "memo://1", "name": "Memo \u{202E}"}]},
        "read": {"contents": [{"uri": "memo://1", "text": "Buy milk."}]},
        "prompts": {"prompts": [{"name": "greet", "description": "Greets."}]},
    }));
    watch.ready("docs", &fake).await;
    let list = admin.call("list_mcp_resources", json!({})).await.expect(200).json();
    assert_eq!(list["text"], "docs: memo://1 | Memo");
    let read = json!({"server": "docs", "uri": "memo://1"});
    assert_eq!(admin.call("read_mcp_resource", read.clone()).await.expect(200).json()["text"], "Buy milk.");
    assert_eq!(
        admin.call("list_mcp_prompts", json!({})).await.expect(200).json()["text"],
        "docs: greet | Greets."
    );
    admin.disable("docs__search", "It leaks.").await.expect(200);
    let refused = admin.call("read_mcp_resource", read).await.expect(200).json();
    assert_eq!(refused["is_error"], true);
    assert!(refused["text"].as_str().unwrap().contains("no server named \"docs\""), "{refused}");
    let list = admin.call("list_mcp_resources", json!({})).await.expect(200).json();
    assert!(!list["text"].as_str().unwrap().contains("memo"), "{list}");
}
