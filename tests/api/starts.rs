//! What new conversations start with, and what deleting or narrowing it does.

use serde_json::{Value, json};
use toolshelf_tests::{Client, TestApp};

async fn make(client: &Client, name: &str, tools: &[&str]) {
    client.post("/api/v1/profiles", json!({"name": name, "tools": tools})).await.expect(201);
}

async fn talk(client: &Client) -> Value {
    client.post("/api/v1/conversations", json!({})).await.expect(201).json()
}

async fn again(client: &Client, talk: &Value) -> Value {
    let id = talk["id"].as_str().expect("an id");
    client.get(&format!("/api/v1/conversations/{id}")).await.expect(200).json()
}

/// What a conversation offers now.
async fn offered(client: &Client, talk: &Value) -> Vec<String> {
    let resolved =
        client.post("/api/v1/resolve", json!({"conversation_id": talk["id"]})).await.expect(200).json();
    let tools = resolved["tools"].as_array().expect("a list").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

fn chosen(name: &str, origin: &str) -> Value {
    json!({"name": name, "origin": origin, "missing": false})
}

#[tokio::test]
async fn a_conversation_starts_with_the_users_own_else_the_workspaces() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    make(&admin, "team", &["read"]).await;
    make(&admin, "mine", &["grep", "list"]).await;
    let before = talk(&bob).await;
    let active = admin.get("/api/v1/active-profile").await.expect(200);
    assert_eq!((active.header("etag"), active.json()), ("\"r0\"", json!({"name": "default"})));
    let set = admin.put("/api/v1/active-profile", json!({"name": "TEAM"})).if_match(0).await.expect(200);
    assert_eq!((set.header("etag"), set.json()), ("\"r1\"", json!({"name": "team"})));
    let stale = admin.put("/api/v1/active-profile", json!({"name": "mine"})).if_match(0).await;
    assert_eq!(stale.problem(412, "stale_revision")["current"], json!({"name": "team", "revision": 1}));
    bob.put("/api/v1/active-profile", json!({"name": "mine"})).await.problem(403, "admins_only");
    for (name, status, code) in [("nope", 422, "unknown_toolset"), ("", 422, "unknown_toolset")] {
        let refused = admin.put("/api/v1/active-profile", json!({"name": name})).await;
        refused.problem(status, code).pointers(&["/name"]);
        bob.put("/api/v1/start-profile", json!({"name": name}))
            .await
            .problem(status, code)
            .pointers(&["/name"]);
    }

    let by_team = talk(&bob).await;
    assert_eq!((&by_team["profile"], &by_team["toolset"]), (&json!(null), &chosen("team", "active")));
    let starts = bob.get("/api/v1/start-profile").await.expect(200).json();
    assert_eq!(starts, json!({"name": null, "in_force": chosen("team", "active")}));
    let starts = bob.put("/api/v1/start-profile", json!({"name": "mine"})).await.expect(200).json();
    assert_eq!(starts, json!({"name": "mine", "in_force": chosen("mine", "start")}));
    let by_bob = talk(&bob).await;
    assert_eq!(by_bob["toolset"], chosen("mine", "start"));
    assert_eq!(offered(&bob, &by_bob).await, ["grep", "list"]);

    // Later changes of either touch no conversation that exists.
    bob.put("/api/v1/start-profile", json!({"name": null})).await.expect(200);
    admin.put("/api/v1/active-profile", json!({"name": "none"})).await.expect(200);
    for talk in [&before, &by_team, &by_bob] {
        assert_eq!(again(&bob, talk).await, *talk);
    }
    assert_eq!(talk(&bob).await["toolset"], chosen("none", "active"));
    bob.put("/api/v1/start-profile", json!({"name": "default"})).await.expect(200);
    assert_eq!(talk(&bob).await["toolset"], chosen("default", "start"));
}

#[tokio::test]
async fn what_a_new_conversation_would_get_is_said_before_it_is_made() {
    let (_app, admin) = TestApp::with_admin().await;
    make(&admin, "mine", &["grep", "todo_list"]).await;
    admin.put("/api/v1/start-profile", json!({"name": "mine"})).await.expect(200);
    for said in [json!(null), json!({"profile": "default"}), json!({"web_search": true}), json!([])] {
        let asked = json!({"new_conversation": true, "tools_override": said});
        let before = admin.post("/api/v1/resolve", asked).await.expect(200).json();
        let talk = talk(&admin).await;
        let asked = json!({"conversation_id": talk["id"], "tools_override": said});
        let after = admin.post("/api/v1/resolve", asked).await.expect(200).json();
        assert_eq!(before, after, "{said}");
    }
    let both = json!({"new_conversation": true, "conversation_id": "x"});
    admin.post("/api/v1/resolve", both).await.problem(422, "invalid").pointers(&["/new_conversation"]);
}

#[tokio::test]
async fn a_profile_that_anything_refers_to_is_in_use() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let eve = app.user(&admin, "eve", "user").await;
    make(&bob, "shared", &["read", "grep"]).await;
    let uses = || async { bob.get("/api/v1/profiles/shared").await.expect(200).json()["used_by"].clone() };
    assert_eq!(uses().await, json!({"conversations": 0, "keys": 0, "starts": 0, "others": false}));
    bob.put("/api/v1/start-profile", json!({"name": "shared"})).await.expect(200);
    let own = talk(&bob).await;
    assert_eq!(uses().await, json!({"conversations": 1, "keys": 0, "starts": 1, "others": false}));
    // While only its owner uses it, its owner may add to it.
    let add = |tool: &str| bob.post("/api/v1/profiles/shared/tools", json!({"add": [tool]}));
    add("list").await.expect(200);
    let id = own["id"].as_str().unwrap();
    bob.patch(&format!("/api/v1/conversations/{id}"), json!({"profile": "shared"})).await.expect(200);

    eve.post("/api/v1/conversations", json!({"profile": "shared"})).await.expect(201);
    admin.put("/api/v1/active-profile", json!({"name": "shared"})).await.expect(200);
    assert_eq!(uses().await, json!({"conversations": 2, "keys": 0, "starts": 2, "others": true}));
    add("glob").await.problem(403, "used_by_others");
    bob.post("/api/v1/profiles/shared/tools", json!({"remove": ["list"]})).await.expect(200);
    bob.patch("/api/v1/profiles/shared", json!({"new_tools": "include"}))
        .await
        .problem(403, "used_by_others");

    let refused = bob.delete("/api/v1/profiles/shared").await.problem(409, "in_use");
    let detail = refused["detail"].as_str().unwrap().to_owned();
    for part in ["2 conversations", "1 user who starts with it", "1 workspace default"] {
        assert!(detail.contains(part), "{detail}");
    }
    let refused = bob.delete("/api/v1/profiles/shared?replacement=none").await.problem(409, "in_use");
    assert!(
        refused["detail"].as_str().unwrap().contains("1 conversation and 1 workspace default"),
        "{refused}"
    );
    make(&admin, "less", &["read"]).await;
    admin.delete("/api/v1/profiles/shared?replacement=less").await.expect(204);
    assert_eq!(again(&bob, &own).await["toolset"], chosen("less", "pick"));
    assert_eq!(admin.get("/api/v1/active-profile").await.json(), json!({"name": "less"}));
    assert_eq!(bob.get("/api/v1/start-profile").await.json()["name"], "less");
    let list = bob.get("/api/v1/profiles").await.expect(200).json();
    let less = list["items"].as_array().unwrap().iter().find(|profile| profile["name"] == "less").unwrap();
    assert_eq!(less["used_by"], json!({"conversations": 2, "keys": 0, "starts": 2, "others": true}));
}

/// No way to delete or narrow a profile widens anything that refers to it.
#[tokio::test]
async fn deleting_or_narrowing_widens_nothing() {
    let (_app, admin) = TestApp::with_admin().await;
    for (way, change) in [
        ("remove", json!({"remove": ["grep"]})),
        ("patch", json!({"tools": ["read"]})),
        ("import", json!({"profiles": {"p": ["read"]}, "active": "p"})),
        ("empty", json!({"tools": []})),
        ("replaced by less", json!(null)),
        ("replaced by none", json!(null)),
    ] {
        make(&admin, "p", &["read", "grep"]).await;
        make(&admin, "less", &["read"]).await;
        admin.put("/api/v1/active-profile", json!({"name": "p"})).await.expect(200);
        let fallback = talk(&admin).await;
        let picked = admin.post("/api/v1/conversations", json!({"profile": "p"})).await.expect(201).json();
        let scopes = ["read", "curate", "call"];
        let key = admin.key_as(json!({"name": "k", "scopes": scopes, "profile": "p"})).await;
        let by_key = talk(&key).await;
        match way {
            "remove" => admin.post("/api/v1/profiles/p/tools", change).await.expect(200),
            "patch" | "empty" => admin.patch("/api/v1/profiles/p", change).await.expect(200),
            "import" => admin.put("/api/v1/functions-meta", change).await.expect(200),
            "replaced by less" => admin.delete("/api/v1/profiles/p?replacement=less").await.expect(204),
            _ => admin.delete("/api/v1/profiles/p?replacement=none").await.expect(204),
        };
        for talk in [&fallback, &picked, &by_key] {
            let now = offered(&admin, talk).await;
            assert!(now.iter().all(|tool| tool == "read"), "{way}: {now:?}");
        }
        let now = offered(&key, &json!({"id": null})).await;
        assert!(now.iter().all(|tool| tool == "read"), "{way}: {now:?}");
        key.call("grep", json!({"pattern": "x"})).await.problem(403, "unauthorized");
        for name in ["p", "less"] {
            // They are used from here on; what is left of them makes room for the next way.
            let _ = admin.delete(&format!("/api/v1/profiles/{name}?replacement=none")).await;
        }
    }
}

/// A pick, a start and a delete at once: whoever comes first, nothing refers to what is gone.
#[tokio::test]
async fn nothing_refers_to_a_profile_that_is_being_deleted() {
    let (_app, admin) = TestApp::with_admin().await;
    for round in 0..12 {
        let name = format!("p{round}");
        make(&admin, &name, &["read"]).await;
        let talk = talk(&admin).await;
        let path = format!("/api/v1/conversations/{}", talk["id"].as_str().unwrap());
        let pick = tokio::spawn(admin.patch(&path, json!({"profile": name})).into_future());
        let start = tokio::spawn(admin.put("/api/v1/start-profile", json!({"name": name})).into_future());
        let active = tokio::spawn(admin.put("/api/v1/active-profile", json!({"name": name})).into_future());
        let gone = admin.delete(&format!("/api/v1/profiles/{name}")).await;
        let answers = [pick.await.unwrap(), start.await.unwrap(), active.await.unwrap()];
        match gone.status() {
            204 => assert!(answers.iter().all(|answer| answer.status() == 410), "{round}"),
            409 => assert!(answers.iter().any(|answer| answer.status() == 200), "{round}"),
            other => panic!("the delete was answered with {other}"),
        }
        let now = again(&admin, &talk).await;
        assert_eq!(now["toolset"]["missing"], json!(false));
        admin.put("/api/v1/start-profile", json!({"name": null})).await.expect(200);
        admin.put("/api/v1/active-profile", json!({"name": "default"})).await.expect(200);
    }
}
