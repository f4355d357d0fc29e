//! What a profile selects, for resolve, lists and calls.

use serde_json::{Value, json};
use toolshelf_tests::TestApp;

use super::{ALL, edit, make, offered, path, pinned_key, verdict};

#[tokio::test]
async fn a_toolset_offers_exactly_the_profiles_tools() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "客户 Research", &["read", "web_fetch"]).await;
    for name in ["客户 Research", "客户 RESEARCH"] {
        assert_eq!(offered(&admin, json!(name)).await, ["read", "web_fetch"]);
    }
    let verdict = verdict(&admin, json!("客户 research"), "list").await;
    assert_eq!(
        (&verdict["outcome"], &verdict["layer"], &verdict["code"]),
        (&json!("removed"), &json!("L2b"), &json!("not_in_toolset"))
    );
    assert_eq!(verdict["by"], json!({"kind": "toolset", "name": "客户 Research"}));
    assert_eq!(verdict["fix"], json!({"action": "change_toolset", "target": "客户 Research", "who": "you"}));
    make(&admin, "empty", &[]).await;
    assert!(offered(&admin, json!("empty")).await.is_empty());
    let answer = admin.post("/api/v1/resolve", json!({"toolset": "emptyy"})).await;
    answer.problem(422, "unknown_toolset").pointers(&["/toolset"]).suggests(&["empty"]);
    let list = admin.get("/api/v1/tools?toolset=empty").await.expect(200).json();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn a_profile_lifts_no_veto_and_no_other_gate() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "all tools", &ALL).await;
    assert_eq!(offered(&admin, json!("all tools")).await, offered(&admin, json!("default")).await);
    admin.disable("read", "broken").await.expect(200);
    assert_eq!(verdict(&admin, json!("all tools"), "read").await["code"], "globally_disabled");
    assert_eq!(verdict(&admin, json!("all tools"), "todo_list").await["code"], "no_conversation");
    let key = pinned_key(&admin, "all tools").await;
    key.call("read", json!({"path": "x"})).await.problem(403, "unauthorized");
}

#[tokio::test]
async fn a_pinned_key_sees_and_calls_only_its_profile() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "pin", &["read", "list"]).await;
    make(&admin, "other", &["list", "grep"]).await;
    let key = pinned_key(&admin, "PIN").await;
    for (toolset, expected) in [
        (Value::Null, &["list", "read"][..]),
        (json!("default"), &["list", "read"]),
        (json!("pin"), &["list", "read"]),
        (json!("other"), &["list"]),
        (json!("none"), &[]),
        (json!(["grep", "read"]), &["read"]),
    ] {
        assert_eq!(offered(&key, toolset.clone()).await, expected, "{toolset}");
    }
    let outside = verdict(&key, json!("other"), "grep").await;
    assert_eq!((&outside["layer"], &outside["code"]), (&json!("L2b"), &json!("outside_pin")));
    assert_eq!(outside["by"], json!({"kind": "key", "name": "robot"}));
    // A tool that neither holds is removed by both, the chosen toolset first.
    let both = verdict(&key, json!("other"), "glob").await;
    assert_eq!((&both["code"], &both["by"]["name"]), (&json!("not_in_toolset"), &json!("other")));
    assert_eq!(both["also"][0]["code"], "outside_pin");
    for tool in ALL {
        let answer = key.call(tool, json!({"nonsense": 1})).await;
        if ["read", "list"].contains(&tool) {
            answer.problem(422, "invalid_input");
        } else {
            assert_eq!(answer.problem(403, "unauthorized")["verdict"]["code"], "outside_pin", "{tool}");
        }
    }
    let keys = admin.get("/api/v1/api-keys").await.expect(200).json();
    assert_eq!(keys["items"][0]["profile"], "pin");
}

#[tokio::test]
async fn a_change_is_in_force_when_it_is_answered_and_narrowing_never_widens() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "pin", &["read", "list", "grep"]).await;
    let key = pinned_key(&admin, "pin").await;
    let mut before = offered(&key, Value::Null).await;
    assert_eq!(before, ["grep", "list", "read"]);
    for tool in ["list", "grep", "read"] {
        edit(&admin, "pin", &[], &[tool]).await.expect(200);
        let after = offered(&key, Value::Null).await;
        assert!(after.len() + 1 == before.len() && after.iter().all(|name| before.contains(name)));
        key.call(tool, json!({})).await.problem(403, "unauthorized");
        before = after;
    }
    // An empty profile is nothing, never everything.
    for toolset in [Value::Null, json!("default"), json!(ALL), json!("pin")] {
        assert!(offered(&key, toolset).await.is_empty());
    }
    admin.delete(&format!("{}?replacement=none", path("pin"))).await.expect(204);
    for toolset in [Value::Null, json!("default"), json!(ALL)] {
        assert!(offered(&key, toolset).await.is_empty());
    }
}
