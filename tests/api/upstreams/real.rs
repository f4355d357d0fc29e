//! Real servers from npm and `PyPI`, over standard input and output and over HTTP.

use serde_json::{Value, json};
use toolshelf_tests::{EverythingHttp, RealMcp, TestApp, new_repository};

use super::Watch;

#[tokio::test]
async fn real_servers_are_connected_listed_and_called() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let (files, repository) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(files.path().join("a.txt"), "读 me").unwrap();
    new_repository(repository.path());
    let http = EverythingHttp::start().await;
    for (name, connection) in [
        ("everything", RealMcp::everything()),
        ("remote", http.connection()),
        ("disk", RealMcp::filesystem(files.path())),
        ("time", RealMcp::time()),
        ("git", RealMcp::git(repository.path())),
    ] {
        admin.post("/api/v1/mcp-servers", json!({"name": name, "connection": connection})).await.expect(201);
    }
    for (name, least) in [("everything", 10), ("remote", 10), ("disk", 14), ("time", 2), ("git", 12)] {
        let server = watch.until(name, |server| server["status"]["state"] == "ready").await;
        assert_eq!(server["rejected"], json!([]), "{name}");
        let tools = watch.tools(name).await;
        assert!(tools.len() >= least, "{name}: {tools:?}");
        assert_eq!(server["tool_count"], tools.len());
    }
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let call = async |tool: &str, arguments: Value| -> String {
        let result = admin.call(tool, arguments).await.expect(200).json();
        assert_eq!(result["is_error"], false, "{tool}: {result}");
        result["text"].as_str().unwrap().to_owned()
    };
    for name in ["everything", "remote"] {
        assert_eq!(call(&format!("{name}__echo"), json!({"message": "hé"})).await, "Echo: hé");
        assert!(call(&format!("{name}__get-sum"), json!({"a": 2, "b": 3})).await.contains('5'));
        assert!(call(&format!("{name}__get-tiny-image"), json!({})).await.contains("[image: image/png"));
    }
    assert_eq!(call("disk__read_text_file", json!({"path": path("a.txt")})).await, "读 me");
    assert!(call("time__get_current_time", json!({"timezone": "UTC"})).await.contains("UTC"));
    let repository = repository.path().to_str().unwrap();
    assert!(call("git__git_log", json!({"repo_path": repository})).await.contains("Notes"));

    // What a server refuses is a result that says so; what the schema refuses never reaches it.
    let outside = admin.call("disk__read_text_file", json!({"path": "/etc/passwd"})).await.expect(200).json();
    assert_eq!((&outside["is_error"], &outside["code"]), (&json!(true), &json!("execution_failed")));
    admin.call("everything__get-sum", json!({"a": "x", "b": 3})).await.problem(422, "invalid_input");
    let resources =
        admin.call("list_mcp_resources", json!({"server": "everything"})).await.expect(200).json();
    assert_eq!(resources["is_error"], false, "{resources}");
    let found = admin.post("/api/v1/tools/search", json!({"queries": ["convert time between zones"]})).await;
    assert_eq!(found.expect(200).json()["items"][0]["name"], "time__convert_time");

    admin.disable("time__get_current_time", "Nobody needs it.").await.expect(200);
    let refused =
        admin.call("time__get_current_time", json!({"timezone": "UTC"})).await.problem(403, "unauthorized");
    assert_eq!(refused["verdict"]["code"], "globally_disabled");
    admin.delete("/api/v1/mcp-servers/time").await.expect(204);
    admin.call("time__convert_time", json!({})).await.problem(404, "unknown_tool");
}

/// A server over HTTP that goes away is down with a reason, and its tools come back with it.
#[tokio::test]
async fn a_server_over_http_that_goes_away_is_down() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut watch = Watch::new(admin.clone()).await;
    let http = EverythingHttp::start().await;
    admin
        .post("/api/v1/mcp-servers", json!({"name": "remote", "connection": http.connection()}))
        .await
        .expect(201);
    watch.until("remote", |server| server["status"]["state"] == "ready").await;
    drop(http);
    // Whether the end is noticed at once or by the next call, no call is answered as if it had run.
    admin.post("/api/v1/mcp-servers/remote/refresh", json!({})).await.expect(202);
    let down = watch.until("remote", |server| server["status"]["state"] == "down").await;
    assert!(!down["status"]["reason"].as_str().unwrap().is_empty());
    let refused = admin.call("remote__echo", json!({"message": "x"})).await.problem(403, "inactive");
    assert_eq!(refused["verdict"]["code"], "upstream_down");
}
