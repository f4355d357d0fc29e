//! Making, cloning and listing profiles.

use serde_json::{Value, json};
use toolshelf_tests::{CATALOG, TestApp};

use super::{edit, listed, make, path, show};

#[tokio::test]
async fn a_new_profile_copies_default_unless_another_toolset_is_named() {
    let (_app, admin) = TestApp::with_admin().await;
    let new = json!({"name": "mine", "description": " For nights "});
    let answer = admin.post("/api/v1/profiles", new).await.expect(201);
    assert_eq!(answer.header("etag"), "\"r1\"");
    let profile = answer.json();
    let tokens = profile["tokens"].as_u64().unwrap();
    assert!(tokens > 0);
    let at = "2026-03-01T12:00:00.000000Z";
    assert_eq!(
        profile,
        json!({
            "name": "mine", "description": "For nights", "tools": CATALOG, "missing": [], "pinned": [],
            "new_tools": "ignore", "held": [], "owner": "ada", "can_edit": true,
            "used_by": {"conversations": 0, "keys": 0, "starts": 0, "others": false}, "revision": 1, "tokens": tokens,
            "created_at": at, "updated_at": at
        })
    );
    assert_eq!(show(&admin, "mine").await, profile);

    make(&admin, "two", &["read", "grep"]).await;
    for (number, (from, tools)) in [
        ("two", json!(["read", "grep"])),
        ("TWO", json!(["read", "grep"])),
        ("none", json!([])),
        ("all", json!(CATALOG)),
    ]
    .into_iter()
    .enumerate()
    {
        let new = json!({"name": format!("copy {number}"), "from": from});
        let copy = admin.post("/api/v1/profiles", new).await.expect(201).json();
        assert_eq!(copy["tools"], tools, "{from}");
    }
    for policy in ["ignore", "include", "hold"] {
        let new = json!({"name": policy, "tools": ["read"], "new_tools": policy});
        let made = admin.post("/api/v1/profiles", new).await.expect(201).json();
        // The registry is as it was, so nothing is new.
        assert_eq!(
            (&made["new_tools"], &made["tools"], &made["held"]),
            (&json!(policy), &json!(["read"]), &json!([]))
        );
    }
}

#[tokio::test]
async fn exact_tools_keep_their_order_and_duplicates_collapse() {
    let (_app, admin) = TestApp::with_admin().await;
    let made = make(&admin, "a", &["read", "glob", "read", "list", "glob"]).await;
    assert_eq!(made["tools"], json!(["read", "glob", "list"]));
    let empty = make(&admin, "empty", &[]).await;
    assert_eq!((&empty["tools"], &empty["tokens"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn what_cannot_be_made_is_refused_by_field() {
    let (_app, admin) = TestApp::with_admin().await;
    let unknown = json!({"name": "a", "tools": ["read", "read", "grepp", "zzzzzzzz"]});
    let problem = admin.post("/api/v1/profiles", unknown).await.problem(422, "invalid");
    let problem = problem.pointers(&["/tools/2", "/tools/3"]);
    let message = |at: usize| problem["errors"][at]["message"].as_str().unwrap().to_owned();
    assert!(message(0).contains("grepp") && message(0).contains("Did you mean grep"), "{}", message(0));
    assert!(!message(1).contains("Did you mean"), "{}", message(1));

    let both = json!({"name": "a", "from": "default", "tools": []});
    admin.post("/api/v1/profiles", both).await.problem(422, "invalid").pointers(&["/from"]);
    let from = json!({"name": "a", "from": "defualt"});
    let problem = admin.post("/api/v1/profiles", from).await.problem(422, "unknown_toolset");
    problem.pointers(&["/from"]).suggests(&["default"]);
    for (description, fine) in
        [("x".repeat(501), false), ("a\nb".to_owned(), false), ("读".repeat(500), true)]
    {
        let answer = admin.post("/api/v1/profiles", json!({"name": "d", "description": description})).await;
        if fine {
            answer.expect(201);
        } else {
            answer.problem(422, "invalid").pointers(&["/description"]);
        }
    }
    let all = json!({"name": "a/b", "description": "a\nb", "tools": ["nope!"]});
    let problem = admin.post("/api/v1/profiles", all).await.problem(422, "invalid");
    problem.pointers(&["/name", "/description", "/tools/0"]);
    for wrong in
        [json!({}), json!({"name": 1}), json!({"name": "a", "tools": "read"}), json!({"name": "a", "x": 1})]
    {
        let answer = admin.post("/api/v1/profiles", wrong.clone()).await;
        assert_eq!(answer.status(), 422, "{wrong}\n{}", answer.text());
    }
    assert_eq!(listed(&admin).await, ["default", "d"]);
}

#[tokio::test]
async fn a_clone_is_the_cloners_and_goes_its_own_way() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    make(&admin, "source", &["read", "glob", "list"]).await;
    let change = json!({"description": "d", "pinned": ["list"], "new_tools": "hold"});
    admin.patch(&path("source"), change).await.expect(200);
    let answer = bob.post(&format!("{}/clone", path("source")), json!({"name": "copy"})).await.expect(201);
    let copy = answer.json();
    for field in ["description", "tools", "pinned", "new_tools"] {
        assert_eq!(copy[field], show(&admin, "source").await[field], "{field}");
    }
    assert_eq!(
        (&copy["owner"], &copy["revision"], &copy["can_edit"]),
        (&json!("bob"), &json!(1), &json!(true))
    );
    edit(&bob, "copy", &[], &["read"]).await.expect(200);
    assert_eq!(show(&bob, "source").await["tools"], json!(["read", "glob", "list"]));

    let clone =
        bob.post(&format!("{}/clone", path("default")), json!({"name": "everything"})).await.expect(201);
    assert_eq!(clone.json()["tools"], json!(CATALOG));
    let again = bob.post(&format!("{}/clone", path("source")), json!({"name": "COPY"})).await;
    again.problem(409, "name_taken");
    let nothing = bob.post(&format!("{}/clone", path("surce")), json!({"name": "x"})).await;
    nothing.problem(404, "unknown_profile").suggests(&["source"]);
    let wrong = bob.post(&format!("{}/clone", path("source")), json!({"name": "a:b"})).await;
    wrong.problem(422, "invalid").pointers(&["/name"]);
}

#[tokio::test]
async fn default_is_listed_first_and_pages_of_every_size_show_the_same() {
    let (_app, admin) = TestApp::with_admin().await;
    for name in ["b", "Ä 1", "a", "客户支持", "C"] {
        make(&admin, name, &["read"]).await;
    }
    let whole = listed(&admin).await;
    assert_eq!(whole, ["default", "a", "b", "C", "Ä 1", "客户支持"]);
    for limit in 1..=7 {
        let (mut shown, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = admin.get(&format!("/api/v1/profiles?limit={limit}{cursor}")).await.expect(200).json();
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= limit && page["total"] == 6, "{page}");
            shown.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={}", path(next).trim_start_matches("/api/v1/profiles/"));
        }
        assert_eq!(shown, whole, "{limit}");
    }
    let answer = admin.get("/api/v1/profiles?cursor=nonsense").await;
    answer.problem(422, "invalid").pointers(&["cursor"]);

    let toolsets = admin.get("/api/v1/toolsets").await.expect(200).json();
    let items = toolsets["items"].as_array().unwrap();
    let shown: Vec<(&str, &str, u64)> = items
        .iter()
        .map(|item| {
            let text = |name: &str| item[name].as_str().unwrap();
            (text("name"), text("kind"), item["count"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(shown[..3], [("default", "reserved", 11), ("none", "reserved", 0), ("a", "profile", 1)]);
    assert_eq!((shown.len(), &toolsets["total"]), (7, &json!(7)));
}

#[tokio::test]
async fn default_is_computed_and_cannot_be_changed() {
    let (_app, admin) = TestApp::with_admin().await;
    let default = show(&admin, "default").await;
    assert_eq!((&default["tools"], &default["owner"]), (&json!(CATALOG), &Value::Null));
    assert_eq!((&default["can_edit"], &default["revision"]), (&json!(false), &json!(0)));
    assert_eq!(show(&admin, "all").await, default);
    for name in ["default", "all", "full", "none"] {
        let place = path(name);
        admin.patch(&place, json!({"description": "x"})).await.problem(422, "reserved_name");
        admin.patch(&place, json!({"name": "x"})).await.problem(422, "reserved_name");
        edit(&admin, name, &[], &["read"]).await.problem(422, "reserved_name");
        let restore = admin.post(&format!("{place}/restore"), json!({"revision": 1})).await;
        restore.problem(422, "reserved_name");
        admin.delete(&place).await.problem(422, "reserved_name");
        admin.delete(&format!("{place}?replacement=none")).await.problem(422, "reserved_name");
    }
    assert_eq!(show(&admin, "default").await, default);
    admin.get(&path("none")).await.problem(404, "unknown_profile");
}
