//! Saying something in a conversation, and the run that answers.

mod ends;
mod streams;
mod turns;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolshelf_tests::{
    AppOptions, Client, EventStream, Process, ProcessOptions, SentEvent, Session, TestApp, TestModel,
};

async fn talk(client: &Client, new: Value) -> String {
    let made = client.post("/api/v1/conversations", new).await.expect(201).json();
    made["id"].as_str().expect("an id").to_owned()
}

/// A server with a model that does what the test says, and the conversation of an admin with it.
async fn with_model() -> (TestApp, Session, TestModel, String) {
    let model = TestModel::new();
    let options = AppOptions { model: Some(model.clone()), ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let id = talk(&admin, json!({"model": "test"})).await;
    (app, admin, model, id)
}

/// A run as it is.
async fn run_of(client: &Client, run: &str) -> Value {
    client.get(&format!("/api/v1/runs/{run}")).await.expect(200).json()
}

/// Says something, and returns the id of the run.
async fn say(client: &Client, talk: &str, turn: Value) -> String {
    let started = client.post(&format!("/api/v1/conversations/{talk}/turns"), turn).await.expect(202).json();
    started["run_id"].as_str().expect("an id").to_owned()
}

/// Says something and waits for the end of the run.
async fn ask(client: &Client, talk: &str, message: &str) -> Value {
    let run = say(client, talk, json!({"message": message})).await;
    listen(client, &run).await.rest().await;
    client.get(&format!("/api/v1/runs/{run}")).await.expect(200).json()
}

async fn listen(client: &Client, run: &str) -> EventStream {
    client.get(&format!("/api/v1/runs/{run}/events")).listen().await
}

/// The last answer in a conversation.
async fn answer(client: &Client, talk: &str) -> Value {
    let page = client.get(&format!("/api/v1/conversations/{talk}/messages")).await.expect(200).json();
    assert_eq!(page["items"][0]["role"], "assistant", "{page}");
    page["items"][0].clone()
}

fn text(of: &Value) -> &str {
    of["text"].as_str().expect("a text")
}

#[tokio::test]
async fn a_message_is_answered_and_both_are_kept() {
    let (app, admin) = TestApp::with_admin().await;
    let id = talk(&admin, json!({})).await;
    let run = ask(&admin, &id, "  Hello there\nand more").await;
    assert_eq!((&run["state"], &run["code"]), (&json!("done"), &json!(null)));
    let kinds: Vec<&Value> = run["nodes"].as_array().unwrap().iter().map(|node| &node["kind"]).collect();
    assert_eq!(kinds, ["user_message", "model_call"]);
    let said = answer(&admin, &id).await;
    assert!(text(&said).contains("not a language model") && text(&said).contains("7 of 11 tools"), "{said}");
    assert_eq!(text(&run["nodes"][1]), text(&said));
    for tool in ["glob", "grep", "list", "read", "todo_create", "todo_list", "web_fetch"] {
        assert!(text(&said).contains(&format!("`{tool}`")), "{said}");
    }
    let page = admin.get(&format!("/api/v1/conversations/{id}/messages?limit=1")).await.expect(200).json();
    assert_eq!((&page["total"], page["items"].as_array().unwrap().len()), (&json!(2), 1));
    let older = page["next_cursor"].as_str().unwrap();
    let page = admin.get(&format!("/api/v1/conversations/{id}/messages?cursor={older}")).await.json();
    assert_eq!((&page["items"][0]["role"], &page["next_cursor"]), (&json!("user"), &json!(null)));
    assert_eq!(text(&page["items"][0]), "  Hello there\nand more");
    // The conversation is named after what was said first.
    let conversation = admin.get(&format!("/api/v1/conversations/{id}")).await.json();
    assert_eq!((&conversation["title"], &conversation["revision"]), (&json!("Hello there"), &json!(2)));

    let app = app.restart().await;
    let admin = app.log_in(toolshelf_tests::ADMIN, toolshelf_tests::PASSWORD).await;
    assert_eq!(answer(&admin, &id).await, said);
    admin.delete(&format!("/api/v1/conversations/{id}")).await.expect(204);
    admin.get(&format!("/api/v1/runs/{}", run["id"].as_str().unwrap())).await.problem(404, "unknown_run");
}

#[tokio::test]
async fn the_console_shows_and_calls_what_a_message_carries() {
    let (app, admin) = TestApp::with_admin().await;
    let workspace = app.workspace(&admin.id);
    std::fs::write(workspace.join("notes.md"), "Welcome\n").unwrap();
    admin.post("/api/v1/profiles", json!({"name": "few", "tools": ["list", "grep"]})).await.expect(201);
    let id = talk(&admin, json!({"profile": "few"})).await;
    for (message, parts) in [
        ("/tools", &["2 of 11 tools", "`grep`, `list`"][..]),
        ("/help", &["`/call name", "`/why name`"]),
        ("/nope", &["`/nope` is no command"]),
        ("/why list", &["`list` is **offered**"]),
        (
            "/why read",
            &["`read` is **not offered**", "**Selection** (L2b, by toolset `few`)", "You can choose"],
        ),
        ("/why raed", &["no tool named `raed`"]),
        ("/why reads", &["Did you mean `read`"]),
        ("/search files", &["`grep`", "`list`"]),
        ("/search read", &["None of the 2 tools"]),
        ("/call list {}", &["`list` returned", "notes.md"]),
        ("/call list {\"path\": \"nowhere\"}", &["did not work (execution_failed)"]),
        ("/call list {\"paht\": \"x\"}", &["did not work (invalid_input)", "paht"]),
        ("/call list {", &["cannot be read", "line 1"]),
        (
            "/call read {\"path\": \"welcome.md\"}",
            &["did not work (unauthorized)", "not in the chosen toolset (few)"],
        ),
        ("/call lost {}", &["did not work (unknown_tool)", "Did you mean list"]),
    ] {
        ask(&admin, &id, message).await;
        let said = answer(&admin, &id).await;
        for part in parts {
            assert!(text(&said).contains(part), "{message}: {part} is not in {said}");
        }
    }
    // The refused call is kept with its verdict, and so is the one that ran with its arguments.
    let run = ask(&admin, &id, "/call read {\"path\": \"welcome.md\"}").await;
    let call = &run["nodes"][2];
    assert_eq!(
        (&call["kind"], &call["state"], &call["code"]),
        (&json!("tool_call"), &json!("failed"), &json!("unauthorized"))
    );
    assert_eq!((&call["verdict"]["code"], &call["parent"]), (&json!("not_in_toolset"), &json!(2)));
    ask(&admin, &id, "/call grep {\"pattern\": \"Welcome\"}").await;
    let said = answer(&admin, &id).await;
    assert_eq!(said["calls"][0]["name"], "grep");
    assert_eq!(said["calls"][0]["arguments"], json!({"pattern": "Welcome"}));
    assert_eq!(said["calls"][0]["state"], "done");
}

#[tokio::test]
async fn what_a_message_says_about_tools_counts_for_it_alone_and_is_kept_by_id() {
    let (_app, admin) = TestApp::with_admin().await;
    admin.post("/api/v1/profiles", json!({"name": "few", "tools": ["list"]})).await.expect(201);
    let id = talk(&admin, json!({})).await;
    for (said, part) in [
        (json!({"profile": "few"}), "1 of 11 tools"),
        (json!(["grep", "read"]), "2 of 11 tools"),
        (json!([]), "no tools"),
        (json!({"tools": false, "web_search": true}), "1 of 11 tools"),
        (json!(null), "7 of 11 tools"),
    ] {
        let run = say(&admin, &id, json!({"message": "/tools", "tools_override": said})).await;
        listen(&admin, &run).await.rest().await;
        let answered = answer(&admin, &id).await;
        assert!(text(&answered).contains(part), "{said}: {answered}");
    }
    admin.patch("/api/v1/profiles/few", json!({"name": "fewer"})).await.expect(200);
    let page = admin.get(&format!("/api/v1/conversations/{id}/messages")).await.expect(200).json();
    let users = page["items"].as_array().unwrap().iter().rev().filter(|message| message["role"] == "user");
    let kept: Vec<&Value> = users.map(|message| &message["tools_override"]).collect();
    assert_eq!(
        kept,
        [
            &json!({"profile": "fewer"}),
            &json!(["grep", "read"]),
            &json!([]),
            &json!({"tools": false, "web_search": true}),
            &json!(null)
        ]
    );
}

#[tokio::test]
async fn what_is_refused_stores_nothing() {
    let options = AppOptions {
        console: toolshelf_server::ModelLimits { max_tools: Some(5), ..Default::default() },
        ..AppOptions::default()
    };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let id = talk(&admin, json!({})).await;
    let path = format!("/api/v1/conversations/{id}/turns");
    let turn = |turn: Value| admin.post(&path, turn);
    turn(json!({"message": " \n"})).await.problem(422, "invalid").pointers(&["/message"]);
    turn(json!({"message": "x".repeat(100_001)})).await.problem(422, "invalid").pointers(&["/message"]);
    turn(json!({"message": "x", "tools_override": 7}))
        .await
        .problem(422, "invalid")
        .pointers(&["/tools_override"]);
    turn(json!({"message": "x", "tools_override": ["nope"]}))
        .await
        .problem(422, "invalid")
        .pointers(&["/tools_override/0"]);
    let unknown = turn(json!({"message": "x", "tools_override": {"profile": "nope"}})).await;
    unknown.problem(422, "unknown_toolset").pointers(&["/tools_override/profile"]);
    let over = turn(json!({"message": "x"})).await.problem(422, "too_many_tools");
    assert_eq!((&over["over_limit"]["count"], &over["over_limit"]["limit"]), (&json!(7), &json!(5)));
    assert_eq!(over["over_limit"]["heaviest"][0]["service"], "files");
    let resolved = admin.post("/api/v1/resolve", json!({"conversation_id": id})).await.expect(200).json();
    assert_eq!(resolved["over_limit"], over["over_limit"]);
    let model = admin.get("/api/v1/models").await.expect(200).json();
    assert_eq!((&model["items"][0]["name"], &model["items"][0]["max_tools"]), (&json!("console"), &json!(5)));

    let page = admin.get(&format!("/api/v1/conversations/{id}/messages")).await.expect(200).json();
    assert_eq!(page["total"], 0);
    let conversation = admin.get(&format!("/api/v1/conversations/{id}")).await.json();
    assert_eq!((&conversation["title"], &conversation["revision"]), (&json!("New conversation"), &json!(1)));
    // With fewer tools it goes.
    turn(json!({"message": "x", "tools_override": ["read"]})).await.expect(202);
}

#[tokio::test]
async fn runs_are_their_owners_alone_and_keys_need_to_call() {
    let (app, admin) = TestApp::with_admin().await;
    let bob = app.user(&admin, "bob", "user").await;
    let id = talk(&bob, json!({})).await;
    let run = ask(&bob, &id, "hello").await;
    let run = run["id"].as_str().unwrap();
    for path in [
        format!("/api/v1/runs/{run}"),
        format!("/api/v1/runs/{run}/events"),
        "/api/v1/runs/nonsense".to_owned(),
    ] {
        admin.get(&path).await.problem(404, "unknown_run");
    }
    admin.post(&format!("/api/v1/runs/{run}/cancel"), json!({})).await.problem(404, "unknown_run");
    let messages = format!("/api/v1/conversations/{id}/messages");
    admin.get(&messages).await.problem(404, "unknown_conversation");
    let turns = format!("/api/v1/conversations/{id}/turns");
    admin.post(&turns, json!({"message": "x"})).await.problem(404, "unknown_conversation");
    let curator = bob.key(&["read", "curate"]).await;
    curator.post(&turns, json!({"message": "x"})).await.problem(403, "missing_scope");
    let caller = bob.key(&["read", "curate", "call"]).await;
    let by_key = ask(&caller, &id, "/call list {}").await;
    assert_eq!(by_key["state"], "done");
}

/// What a listener knows of the text of a model's answer after these events.
fn heard(events: &[SentEvent], mut text: String) -> String {
    for event in events {
        let of_model = |nodes: &Value| -> Option<String> {
            let nodes = nodes.as_array()?;
            nodes
                .iter()
                .find(|node| node["number"] == 2)
                .map(|node| node["text"].as_str().expect("a text").to_owned())
        };
        match event.name.as_str() {
            "resync" => text = of_model(&event.data["run"]["nodes"]).unwrap_or_default(),
            "node" if event.data["node"]["number"] == 2 => {
                event.data["node"]["text"].as_str().expect("a text").clone_into(&mut text);
            }
            "delta" if event.data["number"] == 2 => {
                text.push_str(event.data["text"].as_str().expect("a text"));
            }
            _ => {}
        }
    }
    text
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_goes_on_without_loss() {
    let (_app, admin) = TestApp::with_admin().await;
    let id = talk(&admin, json!({})).await;
    let run = say(&admin, &id, json!({"message": "hello"})).await;
    let path = format!("/api/v1/runs/{run}/events");
    let whole = listen(&admin, &run).await.rest().await;
    assert_eq!(whole.last().unwrap().name, "finished");
    let said = text(&answer(&admin, &id).await).to_owned();
    assert_eq!(heard(&whole, String::new()), said);
    for cut in 0..whole.len() {
        let before = &whole[..=cut];
        let id = before.last().unwrap().id.clone();
        let rest = admin.get(&path).header("last-event-id", &id).listen().await.rest().await;
        assert_eq!(heard(&rest, heard(before, String::new())), said, "cut after {cut}");
        assert!(rest.is_empty() || rest.last().unwrap().name == "finished");
    }
    for nonsense in ["x", "0.1", "99999999999999.1"] {
        let again = admin.get(&path).header("last-event-id", nonsense).listen().await.rest().await;
        assert_eq!((again[0].name.as_str(), heard(&again, String::new())), ("resync", said.clone()));
    }
}

#[tokio::test]
async fn a_run_is_stopped_while_a_tool_waits() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = AppOptions { web_allowed_hosts: vec!["127.0.0.1".to_owned()], ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let id = talk(&admin, json!({})).await;
    let message = format!("/call web_fetch {{\"url\": \"http://{}/\"}}", silent.local_addr().unwrap());
    let run = say(&admin, &id, json!({"message": message})).await;
    let (connection, _) = toolshelf_tests::within("the connection", silent.accept()).await.unwrap();
    let turns = format!("/api/v1/conversations/{id}/turns");
    let active = admin.post(&turns, json!({"message": "me too"})).await.problem(409, "run_active");
    assert_eq!(active["current"], json!({"run_id": run}));
    let mut stream = listen(&admin, &run).await;
    let first = stream.next().await;
    assert_eq!(first.data["run"]["nodes"][2]["state"], "running", "{first:?}");

    let stopped = admin.post(&format!("/api/v1/runs/{run}/cancel"), json!({})).await.expect(200).json();
    assert_eq!(
        (&stopped["state"], &stopped["nodes"][2]["state"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    let rest = stream.rest().await;
    assert_eq!(rest.last().unwrap().data["state"], "cancelled");
    // The tool's work ended too: its connection is closed.
    let mut byte = [0; 4096];
    let closed = async {
        loop {
            connection.readable().await.unwrap();
            match connection.try_read(&mut byte) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
    };
    toolshelf_tests::within("the end of the connection", closed).await;
    let again = admin.post(&format!("/api/v1/runs/{run}/cancel"), json!({})).await.expect(200).json();
    assert_eq!(again, stopped);
    assert_eq!(text(&answer(&admin, &id).await), "");
    ask(&admin, &id, "hello").await;
}

#[tokio::test]
async fn a_run_ends_with_the_standing_of_whoever_asked() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = AppOptions { web_allowed_hosts: vec!["127.0.0.1".to_owned()], ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let key = admin.key(&["read", "curate", "call"]).await;
    let id = talk(&key, json!({})).await;
    let message = format!("/call web_fetch {{\"url\": \"http://{}/\"}}", silent.local_addr().unwrap());
    let run = say(&key, &id, json!({"message": message})).await;
    let _connection = toolshelf_tests::within("the connection", silent.accept()).await.unwrap();
    let mut stream = listen(&admin, &run).await;
    admin.delete(&format!("/api/v1/api-keys/{}", key.id)).await.expect(200);
    let rest = stream.rest().await;
    assert_eq!(rest.last().unwrap().data["code"], "signed_out", "{rest:?}");
}

#[tokio::test]
async fn a_run_that_is_cut_off_is_marked_and_never_runs_again() {
    let folder = Process::folder();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let data = folder.path().join("data");
    let options = ProcessOptions { web_allowed_hosts: Some("[\"127.0.0.1\"]"), ..ProcessOptions::default() };
    let mut process = Process::start(&data, false, options.clone()).await;
    let admin = process.set_up().await;
    let id = talk(&admin, json!({})).await;
    let message = format!("/call web_fetch {{\"url\": \"http://{address}/\"}}");
    let run = say(&admin, &id, json!({"message": message})).await;
    let _connection = toolshelf_tests::within("the connection", silent.accept()).await.unwrap();
    process.kill().await;

    let process = Process::start(&data, true, options.clone()).await;
    let admin = process.log_in("ada").await;
    let cut = admin.get(&format!("/api/v1/runs/{run}")).await.expect(200).json();
    assert_eq!((&cut["state"], &cut["nodes"][2]["state"]), (&json!("interrupted"), &json!("interrupted")));
    assert!(cut["detail"].as_str().unwrap().contains("Send the message again"), "{cut}");
    let events = listen(&admin, &run).await.rest().await;
    assert_eq!(events.last().unwrap().data["state"], "interrupted");
    // It left its message, with the call that it had begun.
    let left = answer(&admin, &id).await;
    assert_eq!((&left["run_id"], text(&left)), (&json!(run), ""));
    assert_eq!(
        (&left["calls"][0]["name"], &left["calls"][0]["state"]),
        (&json!("web_fetch"), &json!("interrupted"))
    );
    ask(&admin, &id, "hello").await;
    // A stop in good order marks what goes on too.
    let run = say(&admin, &id, json!({"message": message})).await;
    let _connection = toolshelf_tests::within("the connection", silent.accept()).await.unwrap();
    assert_eq!(process.signal("TERM").await.code, Some(0));
    let process = Process::start(&data, true, options).await;
    let admin = process.log_in("ada").await;
    assert_eq!(admin.get(&format!("/api/v1/runs/{run}")).await.expect(200).json()["state"], "interrupted");
}
