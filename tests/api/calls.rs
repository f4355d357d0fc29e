//! Calling tools that work on files.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolshelf_tests::TestApp;

#[tokio::test]
async fn files_of_the_workspace_are_read_listed_and_searched() {
    let (app, admin) = TestApp::with_admin().await;
    let workspace = app.workspace(&admin.id);
    std::fs::create_dir(workspace.join("notes")).unwrap();
    std::fs::write(workspace.join("notes/today.md"), "one\ntwo needle\n").unwrap();

    let read = admin.call("read", json!({"path": "notes/today.md"})).await.expect(200).json();
    assert_eq!((&read["is_error"], &read["code"]), (&json!(false), &Value::Null));
    assert!(read["text"].as_str().unwrap().contains("2\ttwo needle"), "{read}");
    assert!(read["duration_ms"].is_u64());
    assert_eq!(read["snapshot_revision"], 0);
    let grep = admin.call("grep", json!({"pattern": "n[e]+dle"})).await.expect(200).json();
    assert!(grep["text"].as_str().unwrap().contains("notes/today.md:2:two needle"), "{grep}");
    let list = admin.call("list", json!({})).await.expect(200).json();
    assert!(list["text"].as_str().unwrap().contains("notes"), "{list}");
    let glob = admin.call("glob", json!({"pattern": "**/*.md"})).await.expect(200).json();
    assert!(glob["text"].as_str().unwrap().contains("notes/today.md"), "{glob}");

    // Everybody has a workspace of their own.
    let bob = app.user(&admin, "bob", "user").await;
    let other = bob.call("read", json!({"path": "notes/today.md"})).await.expect(200).json();
    assert_eq!((&other["is_error"], &other["code"]), (&json!(true), &json!("execution_failed")));
}

#[tokio::test]
async fn no_path_leads_out_of_the_workspace() {
    let (app, admin) = TestApp::with_admin().await;
    let workspace = app.workspace(&admin.id);
    let secret = workspace.parent().unwrap().parent().unwrap().join("secret.txt");
    std::fs::write(&secret, "the secret text\n").unwrap();
    let neighbour = app.workspace("neighbour");
    std::fs::write(neighbour.join("theirs.txt"), "the secret text\n").unwrap();
    std::fs::create_dir(workspace.join("inside")).unwrap();
    symlink(&secret, workspace.join("link.txt")).unwrap();
    symlink("../../secret.txt", workspace.join("inside/relative.txt")).unwrap();
    symlink("/", workspace.join("root")).unwrap();
    symlink(&neighbour, workspace.join("theirs")).unwrap();
    symlink("link.txt", workspace.join("chain.txt")).unwrap();

    let absolute = secret.to_str().unwrap();
    let through_root = format!("root{absolute}");
    for path in [
        "../secret.txt",
        "../../secret.txt",
        "inside/../../../secret.txt",
        "./../neighbour/theirs.txt",
        "/etc/passwd",
        absolute,
        "link.txt",
        "chain.txt",
        "inside/relative.txt",
        "theirs/theirs.txt",
        "root/etc/passwd",
        &through_root,
    ] {
        for (tool, arguments) in
            [("read", json!({"path": path})), ("grep", json!({"pattern": ".", "path": path}))]
        {
            let result = admin.call(tool, arguments).await.expect(200).json();
            assert_eq!(
                (&result["is_error"], &result["code"]),
                (&json!(true), &json!("execution_failed")),
                "{tool} {path}: {result}"
            );
            let text = result["text"].as_str().unwrap();
            assert!(
                text.contains("outside of the workspace") || text.contains("absolute path"),
                "{tool} {path}: {text}"
            );
            assert!(!text.contains("secret text") && !text.contains("root:"), "{tool} {path}: {text}");
        }
    }
    for path in ["..", "/", "root", "theirs", "root/etc"] {
        for (tool, arguments) in
            [("list", json!({"path": path})), ("glob", json!({"pattern": "**/*", "path": path}))]
        {
            let result = admin.call(tool, arguments).await.expect(200).json();
            assert_eq!(result["is_error"], true, "{tool} {path}: {result}");
        }
    }
    // Nor does anything that goes through the whole workspace. The patterns are not what is looked for, because a
    // result repeats its pattern.
    for (tool, arguments) in [
        ("grep", json!({"pattern": "secr.t te.t"})),
        ("glob", json!({"pattern": "**/their*.txt"})),
        ("glob", json!({"pattern": "../**"})),
        ("grep", json!({"pattern": "secr.t", "glob": "../*"})),
    ] {
        let result = admin.call(tool, arguments).await.expect(200).json();
        let text = result["text"].as_str().unwrap();
        assert!(!text.contains("secret") && !text.contains("theirs.txt"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_by_place_and_nothing_runs() {
    let (_app, admin) = TestApp::with_admin().await;
    for (tool, arguments, pointers) in [
        ("read", json!({}), &["/arguments/path"][..]),
        ("read", json!({"path": 5}), &["/arguments/path"]),
        ("read", json!({"path": ""}), &["/arguments/path"]),
        ("read", json!({"path": "x", "offset": 0}), &["/arguments/offset"]),
        (
            "read",
            json!({"path": "x", "limit": "all", "nonsense": 1}),
            &["/arguments/limit", "/arguments/nonsense"],
        ),
        ("grep", json!({"pattern": "x", "context": -1}), &["/arguments/context"]),
        ("grep", json!({"pattern": "x", "a/b": 1}), &["/arguments/a~1b"]),
        ("web_fetch", json!({"url": ""}), &["/arguments/url"]),
    ] {
        let answer = admin.call(tool, arguments).await;
        let problem = answer.problem(422, "invalid_input").pointers(pointers);
        assert!(problem.get("verdict").is_none());
    }
}

#[tokio::test]
async fn an_unknown_tool_is_not_called() {
    let (_app, admin) = TestApp::with_admin().await;
    admin.call("Grep", json!({})).await.problem(404, "unknown_tool").suggests(&["grep"]);
    let nothing = admin.call("nothing_like_it", json!({})).await.problem(404, "unknown_tool");
    assert!(nothing.get("suggestions").is_none());
}

#[tokio::test]
async fn a_failure_of_the_tool_is_a_result() {
    let (_app, admin) = TestApp::with_admin().await;
    let result = admin.call("read", json!({"path": "missing.txt"})).await.expect(200).json();
    assert_eq!((&result["is_error"], &result["code"]), (&json!(true), &json!("execution_failed")));
    assert!(result["text"].as_str().unwrap().contains("missing.txt"), "{result}");
    let result = admin.call("grep", json!({"pattern": "("})).await.expect(200).json();
    assert_eq!(result["is_error"], true);
}

#[tokio::test]
async fn resolving_says_which_tools_and_why() {
    let (_app, admin) = TestApp::with_admin().await;
    let resolve = async |body: Value| admin.post("/api/v1/resolve", body).await.expect(200).json();
    let names = |resolved: &Value| -> Vec<String> {
        let mut names: Vec<String> = resolved["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let all = resolve(json!({})).await;
    assert_eq!(names(&all), ["glob", "grep", "list", "read", "web_fetch"]);
    assert_eq!(all["verdicts"].as_array().unwrap().len(), 12, "the loader has a verdict too");
    assert_eq!(all["tokens"]["total"], all["tokens"]["offered"]);
    assert!(all["tokens"]["method"].as_str().is_some_and(|method| !method.is_empty()));
    assert_eq!(names(&resolve(json!({"toolset": ["grep", "read"]})).await), ["grep", "read"]);
    assert_eq!(names(&resolve(json!({"toolset": "none"})).await), Vec::<String>::new());
    assert_eq!(names(&resolve(json!({"allow": []})).await), Vec::<String>::new());
    assert_eq!(names(&resolve(json!({"deny": ["web_*"]})).await), ["glob", "grep", "list", "read"]);

    let close = admin.post("/api/v1/resolve", json!({"toolset": "defualt"})).await;
    close.problem(422, "unknown_toolset").suggests(&["default"]).pointers(&["/toolset"]);
    let close = admin.post("/api/v1/resolve", json!({"toolset": ["read", "Grep"]})).await;
    close.problem(422, "unknown_tool").suggests(&["grep"]).pointers(&["/toolset/1"]);
    let far = admin.post("/api/v1/resolve", json!({"toolset": "qqqqqqqq"})).await;
    assert!(far.problem(422, "unknown_toolset").get("suggestions").is_none());
}
