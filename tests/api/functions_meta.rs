//! The interchange document of profiles: over HTTP, from the command line, and in a new data folder.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toolshelf_tests::{Answer, CATALOG, Client, Process, ProcessOptions, TestApp};

const PATH: &str = "/api/v1/functions-meta";
const ALL: [&str; 7] = ["glob", "grep", "list", "read", "todo_create", "todo_list", "web_fetch"];

/// The document of the seed, with what its `...` stands for left out.
fn sample() -> Value {
    json!({
        "profiles": {
            "default": ["bash", "read", "write"],
            "research": ["web_search", "web_fetch", "read", "write", "bash"],
            "safe": ["read", "glob", "grep", "web_search"]
        },
        "active": "default"
    })
}

async fn get(client: &Client) -> Answer {
    client.get(PATH).await.expect(200)
}

async fn profile(client: &Client, name: &str) -> Value {
    client.get(&format!("/api/v1/profiles/{name}")).await.expect(200).json()
}

#[tokio::test]
async fn the_sample_imports_and_comes_out_as_it_went_in() {
    let (_app, admin) = TestApp::with_admin().await;
    assert_eq!(
        get(&admin).await.text(),
        json!({"profiles": {"default": CATALOG}, "active": "default"}).to_string()
    );
    let done = admin.put(PATH, sample()).await.expect(200).json();
    assert_eq!(
        done,
        json!({
            "created": ["research", "safe"], "changed": [], "deleted": [],
            "missing": ["bash", "web_search", "write"], "active": "default"
        })
    );
    let research = profile(&admin, "research").await;
    assert_eq!(research["tools"], sample()["profiles"]["research"]);
    assert_eq!(research["missing"], json!(["web_search", "write", "bash"]));
    assert_eq!((&research["owner"], &research["revision"]), (&json!("ada"), &json!(1)));

    // What comes out changes nothing when it goes in again, byte by byte and revision by revision.
    let out = get(&admin).await;
    assert!(out.text().starts_with(r#"{"profiles":{"default":["glob","grep""#), "{}", out.text());
    let revision = admin.post("/api/v1/resolve", json!({})).await.json()["revision"].clone();
    let again = admin.ask("PUT", PATH).header("content-type", "application/json").body(out.text().to_owned());
    let done = again.await.expect(200).json();
    assert_eq!((&done["created"], &done["changed"]), (&json!([]), &json!([])));
    assert_eq!(get(&admin).await.text(), out.text());
    assert_eq!(admin.post("/api/v1/resolve", json!({})).await.json()["revision"], revision);
    assert_eq!(profile(&admin, "research").await, research);
}

#[tokio::test]
async fn a_document_sets_exact_lists_and_leaves_what_it_does_not_name() {
    let (_app, admin) = TestApp::with_admin().await;
    for (name, policy) in [("kept", "ignore"), ("Mixed", "include")] {
        let new =
            json!({"name": name, "tools": ["read", "list"], "new_tools": policy, "description": "Words"});
        admin.post("/api/v1/profiles", new).await.expect(201);
    }
    let document = json!({
        "profiles": {"mixed": ["grep", "read", "grep"], "新": [], "default": []}, "active": "mixed"
    });
    let done = admin.put(PATH, document).await.expect(200).json();
    assert_eq!((&done["created"], &done["changed"]), (&json!(["新"]), &json!(["Mixed"])));
    let mixed = profile(&admin, "mixed").await;
    assert_eq!((&mixed["name"], &mixed["tools"]), (&json!("Mixed"), &json!(["grep", "read"])));
    assert_eq!((&mixed["description"], &mixed["revision"]), (&json!("Words"), &json!(2)));
    assert_eq!(profile(&admin, "kept").await["tools"], json!(["read", "list"]));
    assert_eq!(get(&admin).await.json()["active"], "Mixed");
    assert_eq!(admin.get("/api/v1/active-profile").await.expect(200).json(), json!({"name": "Mixed"}));
    let history = admin.get("/api/v1/profiles/mixed/history").await.json();
    assert_eq!(history["total"], 2);

    // Replacing removes the others under the delete rule: not while somebody uses one.
    let key = json!({"name": "k", "scopes": ["read"], "profile": "kept"});
    let key = admin.post("/api/v1/api-keys", key).await.expect(201).json();
    let before = get(&admin).await.text().to_owned();
    let only = json!({"profiles": {"only": ["read"]}, "active": "only"});
    let refused = admin.put(&format!("{PATH}?replace=true"), only.clone()).await.problem(409, "in_use");
    assert!(refused["detail"].as_str().unwrap().contains("kept"), "{refused}");
    assert_eq!(get(&admin).await.text(), before);
    admin.delete(&format!("/api/v1/api-keys/{}", key["id"].as_str().unwrap())).await.expect(200);
    let done = admin.put(&format!("{PATH}?replace=true"), only).await.expect(200).json();
    assert_eq!(done["deleted"], json!(["kept", "Mixed", "新"]));
    assert_eq!(get(&admin).await.json()["profiles"], json!({"default": CATALOG, "only": ["read"]}));
    admin.get("/api/v1/profiles/kept").await.problem(410, "retired");
}

#[tokio::test]
async fn a_damaged_document_is_refused_whole_with_pointers() {
    let (_app, admin) = TestApp::with_admin().await;
    admin.put(PATH, sample()).await.expect(200);
    let before = get(&admin).await.text().to_owned();
    for (document, pointers) in [
        (json!({"profiles": {"a": ["read"], "b": "read"}, "active": "default"}), &["/profiles/b"][..]),
        (json!({"profiles": {"a": ["read", 7]}, "active": "default"}), &["/profiles/a/1"]),
        (json!({"profiles": [], "active": "default"}), &["/profiles"]),
        (json!({"profiles": {}}), &[""]),
        (json!({"active": "default"}), &[""]),
        (json!({"profiles": {}, "active": null}), &["/active"]),
        (json!({"profiles": {}, "active": "default", "more": 1}), &["/more"]),
        (
            json!({"profiles": {"new": [], "a/b": [], "none": ["read"], "x\u{202E}": []}, "active": "default"}),
            &["/profiles/a~1b", "/profiles/none", "/profiles/x\u{202E}"],
        ),
        (json!({"profiles": {"new": [], "NEW": []}, "active": "default"}), &["/profiles/NEW"]),
        (
            json!({"profiles": {"new": ["read", "no good", ""]}, "active": "default"}),
            &["/profiles/new/1", "/profiles/new/2"],
        ),
    ] {
        let refused = admin.put(PATH, document.clone()).await;
        assert_eq!(refused.status(), 422, "{document}: {}", refused.text());
        refused.problem(422, "invalid").pointers(pointers);
    }
    let unknown = json!({"profiles": {"new": ["read"]}, "active": "nwe"});
    admin.put(PATH, unknown).await.problem(422, "unknown_toolset").pointers(&["/active"]);
    let removed = json!({"profiles": {}, "active": "safe"});
    admin.put(&format!("{PATH}?replace=true"), removed).await.problem(422, "invalid").pointers(&["/active"]);
    let cut =
        admin.ask("PUT", PATH).header("content-type", "application/json").body(r#"{"profiles": {"a": ["#);
    cut.await.problem(400, "malformed_json");
    assert_eq!(get(&admin).await.text(), before);
}

#[tokio::test]
async fn whatever_went_in_comes_out_the_same_twice() {
    let (_app, admin) = TestApp::with_admin().await;
    let tool = prop_oneof![
        3 => proptest::sample::select(ALL.to_vec()).prop_map(str::to_owned),
        1 => "[a-z]{1,6}__[a-z]{1,6}",
    ];
    let document =
        prop::collection::btree_map("[a-zA-Z客 ]{0,3}[a-z]", prop::collection::vec(tool, 0..9), 0..5);
    let mut runner = TestRunner::deterministic();
    for _ in 0..40 {
        let drawn = document.new_tree(&mut runner).unwrap().current();
        let put = admin.put(PATH, json!({"profiles": drawn, "active": "default"})).await;
        if put.status() == 422 {
            // Names that differ in letter case only, or are reserved, were drawn.
            continue;
        }
        put.expect(200);
        let out = get(&admin).await;
        for (name, tools) in &drawn {
            let mut seen = std::collections::HashSet::new();
            let unique: Vec<&String> = tools.iter().filter(|tool| seen.insert(*tool)).collect();
            let shown = out.json()["profiles"]
                .as_object()
                .unwrap()
                .iter()
                .find(|(shown, _)| shown.to_lowercase() == name.trim().to_lowercase())
                .map(|(_, tools)| tools.clone());
            assert_eq!(shown, Some(json!(unique)), "{name}");
        }
        admin.put(PATH, out.json()).await.expect(200);
        assert_eq!(get(&admin).await.text(), out.text());
    }
}

/// Starts the program on a folder that holds a document already.
async fn started_with(folder: &tempfile::TempDir, document: &str) -> Process {
    std::fs::write(folder.path().join("functions_meta.json"), document).expect("the folder is there");
    Process::start(folder.path(), false, ProcessOptions::default()).await
}

#[tokio::test]
async fn a_document_in_a_new_data_folder_belongs_to_the_first_account() {
    let folder = Process::folder();
    let mut document = sample();
    document["active"] = json!("safe");
    let text = format!("{document:#}\n");
    let mut process = started_with(&folder, &text).await;
    // Nothing is lost when it stops before there is an account.
    process.kill().await;
    let mut process = Process::start(folder.path(), false, ProcessOptions::default()).await;
    let admin = process.set_up().await;
    let out = get(&admin).await;
    assert_eq!(out.json()["profiles"]["research"], sample()["profiles"]["research"]);
    assert_eq!(out.json()["active"], "safe");
    assert_eq!(profile(&admin, "safe").await["owner"], "ada");
    let talk = admin.post("/api/v1/conversations", json!({})).await.expect(201).json();
    assert_eq!(talk["toolset"], json!({"name": "safe", "origin": "active", "missing": false}));
    process.kill().await;
    // It is imported once, and never written.
    assert_eq!(std::fs::read_to_string(folder.path().join("functions_meta.json")).unwrap(), text);
    let process = Process::start(folder.path(), true, ProcessOptions::default()).await;
    let admin = process.log_in("ada").await;
    admin.delete("/api/v1/profiles/research").await.expect(204);
    assert_eq!(process.signal("TERM").await.code, Some(0));
    let process = Process::start(folder.path(), true, ProcessOptions::default()).await;
    let admin = process.log_in("ada").await;
    admin.get("/api/v1/profiles/research").await.problem(410, "retired");
}

#[tokio::test]
async fn a_damaged_document_in_a_new_data_folder_stops_the_start() {
    for (document, place) in [
        ("{\"profiles\": {\"a\": [\"read\"}", "line 1"),
        ("{\"profiles\": {\"a\": [7]}, \"active\": \"default\"}", "profiles.a[0]"),
        ("{\"profiles\": {\"a/b\": []}, \"active\": \"default\"}", "/profiles/a~1b"),
        ("{\"profiles\": {\"a\": []}, \"active\": \"b\"}", "/active"),
        ("{\"profiles\": {\"a\": [], \"a\": [\"read\"]}, \"active\": \"a\"}", "twice"),
    ] {
        let folder = Process::folder();
        std::fs::write(folder.path().join("functions_meta.json"), document).unwrap();
        let data = folder.path().to_str().unwrap();
        let ended = Process::run(&["serve", "--listen", "127.0.0.1:0", "--data", data]).await;
        assert_eq!(ended.code, Some(1), "{document}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(place) && ended.stderr.contains("functions_meta.json"),
            "{}",
            ended.stderr
        );
        assert_eq!(std::fs::read_to_string(folder.path().join("functions_meta.json")).unwrap(), document);
    }
}

#[tokio::test]
async fn the_command_line_imports_into_a_folder_that_no_server_uses() {
    let folder = Process::folder();
    let data = folder.path().join("data");
    let file = folder.path().join("mine.json");
    std::fs::write(&file, sample().to_string()).unwrap();
    let (data, path) = (data.to_str().unwrap(), file.to_str().unwrap());
    let ended = Process::run(&["import", path, "--data", data]).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("no database"), "{}", ended.stderr);
    assert_eq!(Process::run(&["import"]).await.code, Some(2));

    let process = Process::start(data.as_ref(), false, ProcessOptions::default()).await;
    let _ = process.set_up().await;
    // A server that runs is the only writer.
    let ended = Process::run(&["import", path, "--data", data]).await;
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert_eq!(process.signal("TERM").await.code, Some(0));
    let ended = Process::run(&["import", path, "--data", data]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in [
        "Created: research, safe",
        "No such tool now, kept until there is one: bash, web_search, write",
        "New conversations start with default.",
    ] {
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
    }
    let again = Process::run(&["import", path, "--data", data]).await;
    assert!(again.stdout.contains("as the file says already"), "{}", again.stdout);
    std::fs::write(&file, r#"{"profiles": {"a": ["read"], "b:c": []}, "active": "default"}"#).unwrap();
    let ended = Process::run(&["import", path, "--data", data]).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("/profiles/b:c") && ended.stderr.contains("nothing was changed"),
        "{}",
        ended.stderr
    );

    let process = Process::start(data.as_ref(), true, ProcessOptions::default()).await;
    let admin = process.log_in("ada").await;
    let out = get(&admin).await.json();
    assert_eq!(out["profiles"]["safe"], sample()["profiles"]["safe"]);
    assert_eq!(out["profiles"]["a"], Value::Null);
}
