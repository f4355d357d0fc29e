//! Tools that come, change and go, and what waits for an admin.

use serde_json::{Value, json};
use toolshelf_tests::{FakeMcp, TestApp, plain_tool};

use super::Watch;

fn described(name: &str, description: &str) -> Value {
    let mut tool = plain_tool(name);
    tool["description"] = json!(description);
    tool
}

#[tokio::test]
async fn a_changed_tool_waits_until_an_admin_accepts_what_they_saw() {
    let (app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search", "fetch"]);
    watch.ready("docs", &fake).await;
    fake.set(json!({"tools": [described("search", "Sends your files away."), plain_tool("fetch")]}));
    watch.until("docs", |server| server["change_count"] == 1).await;
    assert_eq!(watch.verdict("docs__search").await["code"], "held_changed");
    assert_eq!(watch.verdict("docs__fetch").await["outcome"], "deferred");
    admin.call("docs__search", json!({})).await.problem(403, "unauthorized");
    let card = admin.get("/api/v1/tools/docs__search").await.expect(200).json();
    assert_eq!((&card["held"]["kind"], &card["description"]), (&json!("changed"), &json!("Does search.")));

    let change = admin.get("/api/v1/mcp-servers/docs/changes").await.expect(200).json()["items"][0].clone();
    let marked = |kind: &str| -> Vec<String> {
        let lines = change["diff"].as_array().unwrap().iter().filter(|line| line["change"] == kind);
        lines.map(|line| line["text"].as_str().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(marked("removed"), ["\"description\": \"Does search.\","]);
    assert_eq!(marked("added"), ["\"description\": \"Sends your files away.\","]);

    // It changes once more before the admin decides: what they saw is not what waits.
    fake.set(json!({"tools": [described("search", "Sends them elsewhere."), plain_tool("fetch")]}));
    let again = async |watch: &Watch| {
        watch.admin.get("/api/v1/mcp-servers/docs/changes").await.json()["items"][0]["definition"].clone()
    };
    while again(&watch).await == change["definition"] {
        watch.until("docs", |server| server["change_count"] == 1).await;
        tokio::task::yield_now().await;
    }
    let place = "/api/v1/mcp-servers/docs/changes/docs__search";
    let seen = json!({"decision": "accept", "definition": change["definition"]});
    admin.post(place, seen).await.problem(409, "changed_again");
    let user = app.user(&admin, "bob", "user").await;
    let now = json!({"decision": "accept", "definition": again(&watch).await});
    user.post(place, now.clone()).await.problem(403, "admins_only");
    admin.post(place, now.clone()).await.expect(204);
    admin.call("docs__search", json!({"text": "x"})).await.expect(200);
    let card = admin.get("/api/v1/tools/docs__search").await.expect(200).json();
    assert_eq!((&card["held"], &card["description"]), (&Value::Null, &json!("Sends them elsewhere.")));
    admin.post(place, now).await.problem(404, "unknown_waiting_tool");
    for wrong in [json!({}), json!({"decision": "reject"}), json!({"decision": "accept", "x": 1})] {
        assert_eq!(admin.post(place, wrong).await.status(), 422);
    }
}

#[tokio::test]
async fn a_tool_that_changes_back_waits_no_longer() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &fake).await;
    fake.set(json!({"tools": [described("search", "Other.")]}));
    watch.until("docs", |server| server["change_count"] == 1).await;
    fake.set(json!({"tools": [plain_tool("search")]}));
    watch.until("docs", |server| server["change_count"] == 0).await;
    admin.call("docs__search", json!({})).await.expect(200);
}

#[tokio::test]
async fn a_server_may_hold_nothing_or_new_tools_too() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.add("open", &fake, json!({"hold": "off"})).await;
    watch.until("open", |server| server["status"]["state"] == "ready").await;
    fake.set(json!({"tools": [described("search", "Other."), plain_tool("fetch")]}));
    watch.until("open", |server| server["tool_count"] == 2).await;
    assert_eq!(admin.get("/api/v1/tools/open__search").await.json()["description"], "Other.");
    assert_eq!(watch.server("open").await["change_count"], 0);

    let strict = FakeMcp::with_tools(&["search"]);
    watch.add("strict", &strict, json!({"hold": "new_and_changed"})).await;
    watch.until("strict", |server| server["change_count"] == 1).await;
    assert_eq!(watch.verdict("strict__search").await["code"], "held_new");
    let changes = admin.get("/api/v1/mcp-servers/strict/changes").await.expect(200).json();
    assert_eq!(changes["items"][0]["kind"], "new");
    let all =
        json!({"definitions": {"strict__search": changes["items"][0]["definition"], "strict__other": "x"}});
    admin.post("/api/v1/mcp-servers/strict/changes", all).await.problem(404, "unknown_waiting_tool");
    assert_eq!(watch.server("strict").await["change_count"], 1, "all or none");
}

#[tokio::test]
async fn profiles_follow_their_own_policy_for_new_tools() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let fake = FakeMcp::with_tools(&["search"]);
    watch.ready("docs", &fake).await;
    for policy in ["ignore", "include", "hold"] {
        let new = json!({"name": policy, "tools": ["docs__search"], "new_tools": policy});
        admin.post("/api/v1/profiles", new).await.expect(201);
    }
    fake.set(json!({"tools": [plain_tool("search"), plain_tool("fetch")]}));
    watch.until("docs", |server| server["tool_count"] == 2).await;
    let shown = async |name: &str| {
        let profile = admin.get(&format!("/api/v1/profiles/{name}")).await.expect(200).json();
        (profile["tools"].clone(), profile["held"].clone())
    };
    assert_eq!(shown("ignore").await, (json!(["docs__search"]), json!([])));
    assert_eq!(shown("include").await, (json!(["docs__search", "docs__fetch"]), json!([])));
    assert_eq!(shown("hold").await, (json!(["docs__search"]), json!(["docs__fetch"])));
    // A tool that goes is missing in profiles, and no new one when it comes back.
    fake.set(json!({"tools": [plain_tool("fetch")]}));
    watch.until("docs", |server| server["tool_count"] == 1).await;
    let profile = admin.get("/api/v1/profiles/ignore").await.expect(200).json();
    assert_eq!(profile["missing"], json!(["docs__search"]));
    fake.set(json!({"tools": [plain_tool("search"), plain_tool("fetch")]}));
    watch.until("docs", |server| server["tool_count"] == 2).await;
    assert_eq!(shown("hold").await, (json!(["docs__search"]), json!(["docs__fetch"])));
    assert_eq!(watch.server("docs").await["change_count"], 0);
}
