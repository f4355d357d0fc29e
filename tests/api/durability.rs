//! What the program promises about its data, its output and its end.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::sync::mpsc;
use toolshelf_tests::{Key, Process, ProcessOptions, Session, within};

async fn start(folder: &tempfile::TempDir, has_account: bool) -> Process {
    Process::start(folder.path(), has_account, ProcessOptions::default()).await
}

/// The same session with a program that was started again.
fn admin_again(process: &Process, admin: &Session) -> Session {
    let me = json!({"id": admin.id, "csrf_token": admin.csrf});
    Session::new(process.nobody(), &admin.token, &me)
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let folder = Process::folder();
    let mut process = start(&folder, false).await;
    let admin = process.set_up().await;
    // Each is the last thing before the kill.
    admin.disable("grep", "broken").await.expect(200);
    process.kill().await;

    let mut process = start(&folder, true).await;
    let admin = process.log_in("ada").await;
    let tool = admin.get("/api/v1/tools/grep").await.expect(200).json();
    assert_eq!((&tool["disabled"]["reason"], &tool["disabled"]["by"]), (&json!("broken"), &json!("ada")));
    admin.call("grep", json!({"pattern": "x"})).await.problem(403, "unauthorized");
    let new = json!({"username": "bob", "password": toolshelf_tests::PASSWORD, "role": "user"});
    admin.post("/api/v1/users", new).await.expect(201);
    process.kill().await;

    let mut process = start(&folder, true).await;
    let bob = process.log_in("bob").await;
    let key = bob.key(&["read"]).await;
    process.kill().await;

    let mut process = start(&folder, true).await;
    let key = Key::new(process.address, key.id, key.token);
    assert_eq!(key.get("/api/v1/me").await.expect(200).json()["username"], "bob");
    // Profiles are there, with the names that they had and the keys that are pinned to them.
    let curator = admin_again(&process, &admin);
    let new = json!({"name": "客户", "tools": ["read", "list"]});
    curator.post("/api/v1/profiles", new).await.expect(201);
    let pinned = curator.key_as(json!({"name": "p", "scopes": ["read"], "profile": "客户"})).await;
    let change = json!({"name": "support", "tools": ["list"]});
    curator.patch("/api/v1/profiles/%E5%AE%A2%E6%88%B7", change).await.expect(200);
    process.kill().await;

    let mut process = start(&folder, true).await;
    let curator = admin_again(&process, &admin);
    let profile = curator.get("/api/v1/profiles/%E5%AE%A2%E6%88%B7").await.expect(200).json();
    assert_eq!((&profile["name"], &profile["tools"]), (&json!("support"), &json!(["list"])));
    let pinned = Key::new(process.address, pinned.id, pinned.token);
    let resolved = pinned.post("/api/v1/resolve", json!({})).await.expect(200).json();
    assert_eq!(resolved["tools"].as_array().unwrap().len(), 1);
    curator.delete("/api/v1/profiles/support?replacement=none").await.expect(204);
    process.kill().await;

    let mut process = start(&folder, true).await;
    let curator = admin_again(&process, &admin);
    curator.get("/api/v1/profiles/support").await.problem(410, "retired");
    let pinned = Key::new(process.address, pinned.id, pinned.token);
    let resolved = pinned.post("/api/v1/resolve", json!({})).await.expect(200).json();
    assert_eq!(resolved["tools"], json!([]));
    // The session is there too, and so is its end.
    let admin = admin_again(&process, &admin);
    admin.post("/api/v1/logout", json!({})).await.expect(204);
    process.kill().await;
    let process = start(&folder, true).await;
    let cookie = format!("toolshelf_session={}", admin.token);
    process.nobody().get("/api/v1/me").header("cookie", &cookie).await.problem(401, "unauthenticated");
}

/// Each is the last thing before a kill: an import, what conversations start with, a pick, a switch, a message.
#[tokio::test]
async fn choices_are_there_after_a_kill() {
    let folder = Process::folder();
    let mut process = start(&folder, false).await;
    let mut admin = process.set_up().await;
    let document = json!({"profiles": {"few": ["read"], "two": ["read", "grep"]}, "active": "few"});
    admin.put("/api/v1/functions-meta", document).await.expect(200);
    let mut talk = String::new();
    for step in 0..6 {
        process.kill().await;
        process = start(&folder, true).await;
        admin = admin_again(&process, &admin);
        let conversation =
            async || admin.get(&format!("/api/v1/conversations/{talk}")).await.expect(200).json();
        match step {
            0 => {
                let meta = admin.get("/api/v1/functions-meta").await.expect(200).json();
                assert_eq!(
                    (&meta["profiles"]["two"], &meta["active"]),
                    (&json!(["read", "grep"]), &json!("few"))
                );
                admin.put("/api/v1/start-profile", json!({"name": "two"})).await.expect(200);
            }
            1 => {
                let made = admin.post("/api/v1/conversations", json!({})).await.expect(201).json();
                talk = made["id"].as_str().unwrap().to_owned();
                assert_eq!(made["toolset"]["name"], "two");
            }
            2 => {
                assert_eq!(conversation().await["toolset"]["origin"], "start");
                let pick = json!({"profile": "few"});
                admin.patch(&format!("/api/v1/conversations/{talk}"), pick).await.expect(200);
            }
            3 => {
                assert_eq!(conversation().await["profile"], "few");
                let switch = json!({"tools_enabled": false, "web_search": true, "attended": false});
                admin.patch(&format!("/api/v1/conversations/{talk}"), switch).await.expect(200);
            }
            4 => {
                let now = conversation().await;
                assert_eq!(
                    (&now["tools_enabled"], &now["web_search"], &now["attended"]),
                    (&json!(false), &json!(true), &json!(false))
                );
                let turn = json!({"message": "kept", "tools_override": ["read"]});
                admin.post(&format!("/api/v1/conversations/{talk}/turns"), turn).await.expect(202);
            }
            _ => {
                let said =
                    admin.get(&format!("/api/v1/conversations/{talk}/messages")).await.expect(200).json();
                let said = said["items"].as_array().unwrap().last().unwrap().clone();
                assert_eq!((&said["text"], &said["tools_override"]), (&json!("kept"), &json!(["read"])));
                let run = format!("/api/v1/runs/{}", said["run_id"].as_str().unwrap());
                let state = admin.get(&run).await.expect(200).json()["state"].clone();
                // It was over already, or it is marked as cut off; it never goes on.
                assert!(state == "done" || state == "interrupted", "{state}");
            }
        }
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_whenever_the_kill_comes() {
    let folder = Process::folder();
    let mut process = start(&folder, false).await;
    let admin = process.set_up().await;
    let key = admin.key(&["admin"]).await;
    let mut acknowledged = BTreeSet::new();
    for (round, kill_after) in [1_usize, 8, 29].into_iter().enumerate() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut writers = Vec::new();
        for writer in 0..4 {
            let key = Key::new(process.address, key.id.clone(), key.token.clone());
            let sender = sender.clone();
            writers.push(tokio::spawn(async move {
                for number in 0_u32.. {
                    let name = format!("tool_{round}_{writer}_{number}");
                    let answer = key.disable(&name, "until the kill").await.expect(200);
                    assert_eq!(answer.json()["name"], name);
                    // Whoever counts has gone when the program was killed.
                    if sender.send(name).is_err() {
                        return;
                    }
                }
            }));
        }
        drop(sender);
        for _ in 0..kill_after {
            acknowledged.insert(within("a write", receiver.recv()).await.unwrap());
        }
        process.kill().await;
        // What was answered before the kill and not counted yet.
        while let Some(name) = within("the end of the writers", receiver.recv()).await {
            acknowledged.insert(name);
        }
        for writer in writers {
            // A writer fails when its connection breaks.
            let _ = writer.await;
        }
        process = start(&folder, true).await;
        let key = Key::new(process.address, key.id.clone(), key.token.clone());
        let mut logged = BTreeSet::new();
        let mut cursor = String::new();
        loop {
            let page = key.get(&format!("/api/v1/audit?limit=500{cursor}")).await.expect(200).json();
            let entries = page["items"].as_array().unwrap();
            let disabled = entries.iter().filter(|entry| entry["action"] == "tool.disabled");
            logged.extend(disabled.map(|entry| entry["target"].as_str().unwrap().to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert!(acknowledged.is_subset(&logged), "{:?}", acknowledged.difference(&logged));
        for name in &acknowledged {
            // The state, and not only its entry: a write on the first revision is stale.
            let stale = key.disable(name, "again").if_match(0).await;
            assert_eq!(
                stale.problem(412, "stale_revision")["current"]["disabled"]["reason"],
                "until the kill"
            );
        }
        assert_eq!(process.nobody().get("/readyz").await.status(), 200);
    }
}

#[tokio::test]
async fn it_stops_when_asked_though_somebody_listens() {
    for signal in ["TERM", "INT"] {
        let folder = Process::folder();
        let process = start(&folder, false).await;
        let address = process.address;
        let token = process.setup_token.clone().unwrap();
        let admin = process.set_up().await;
        let mut stream = admin.listen().await;
        stream.next().await;
        let asked = std::time::Instant::now();
        let ended = process.signal(signal).await;
        assert!(asked.elapsed() < std::time::Duration::from_secs(5), "{signal}: {:?}", asked.elapsed());
        assert_eq!(ended.code, Some(0), "{signal}: {}", ended.stderr);
        assert_eq!(
            ended.stdout,
            format!(
                "Toolshelf is listening on http://{address}\nSet up: http://{address}/setup?token={token}\n"
            )
        );
        assert_eq!(stream.rest().await, []);
        assert_ne!(address.port(), 0);
    }
}

#[tokio::test]
async fn without_a_set_up_only_one_line_is_printed() {
    let folder = Process::folder();
    let process = start(&folder, false).await;
    process.set_up().await;
    process.signal("TERM").await;
    let process = start(&folder, true).await;
    let address = process.address;
    let ended = process.signal("TERM").await;
    assert_eq!(ended.stdout, format!("Toolshelf is listening on http://{address}\n"));
}

#[tokio::test]
async fn a_second_program_on_the_same_folder_is_refused() {
    let folder = Process::folder();
    let process = start(&folder, false).await;
    let data = folder.path().to_str().unwrap();
    let ended = Process::run(&["serve", "--listen", "127.0.0.1:0", "--data", data]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains("already in use"), "{}", ended.stderr);
    // The first goes on, with its set-up link.
    process.set_up().await;
}

#[tokio::test]
async fn failures_end_with_1_and_wrong_usage_with_2() {
    let folder = Process::folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below_a_file = file.join("data");
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = holder.local_addr().unwrap().to_string();
    let data = folder.path().join("data");
    let (data, file, below_a_file) =
        (data.to_str().unwrap(), file.to_str().unwrap(), below_a_file.to_str().unwrap());
    for (arguments, code, said) in [
        (&["serve", "--listen", "127.0.0.1:0", "--data", below_a_file][..], 1, "data folder"),
        (&["serve", "--listen", "127.0.0.1:0", "--data", file], 1, "data folder"),
        (&["serve", "--listen", "127.0.0.1:0", "--data", "/proc/toolshelf"], 1, "data folder"),
        (&["serve", "--listen", "nowhere", "--data", data], 1, "server.listen"),
        (&["serve", "--listen", "0.0.0.0:0", "--data", data], 1, "--allow-remote"),
        (&["--config", "/nonexistent.toml", "--data", data], 1, "/nonexistent.toml"),
        (&["serve", "--nonsense"], 2, "--nonsense"),
        (&["nonsense"], 2, "nonsense"),
        (&["serve", "--listen"], 2, "--listen"),
    ] {
        let ended = Process::run(arguments).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{arguments:?}\n{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}\n{}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{arguments:?}\n{}", ended.stderr);
    }
    let ended = Process::run(&["--listen", &busy, "--data", data]).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains(&busy) && ended.stderr.contains("--listen"), "{}", ended.stderr);
    let help = Process::run(&["--help"]).await;
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("serve"));
}
