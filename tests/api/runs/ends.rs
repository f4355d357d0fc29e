//! How runs end before they have an answer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use toolshelf_tests::{ADMIN, PASSWORD, Session, TestApp};

use super::{answer, ask, listen, run_of, say, talk, text, with_model};

/// The states of the run and of its parts.
fn states(run: &Value) -> Vec<&str> {
    let nodes = run["nodes"].as_array().unwrap().iter();
    std::iter::once(&run["state"])
        .chain(nodes.map(|node| &node["state"]))
        .map(|state| state.as_str().unwrap())
        .collect()
}

/// Waits for the end of a run, and returns it with the code and the detail of its end.
async fn ended(client: &Session, run: &str) -> (Value, String, String) {
    let events = listen(client, run).await.rest().await;
    let told = &events.last().unwrap().data;
    let run = run_of(client, run).await;
    for field in ["state", "code", "detail"] {
        assert_eq!(told[field], run[field], "what is told and what is stored");
    }
    assert!(run["finished_at"].is_string());
    // Both messages say it too, so that what was cut off never looks whole.
    let path = format!("/api/v1/conversations/{}/messages", run["conversation_id"].as_str().unwrap());
    let page = client.get(&path).await.expect(200).json();
    let of_run = page["items"].as_array().unwrap().iter().filter(|message| message["run_id"] == run["id"]);
    let of_run: Vec<&Value> = of_run.collect();
    assert!(of_run.len() >= 2, "{page}");
    for message in of_run {
        for field in ["state", "code", "detail"] {
            assert_eq!(message[field], run[field], "{message}");
        }
    }
    let of = |field: &str| told[field].as_str().unwrap_or_default().to_owned();
    (run.clone(), of("code"), of("detail"))
}

#[tokio::test]
async fn what_was_written_before_a_stop_is_kept_and_not_told_to_the_model_again() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "first"})).await;
    let call = model.asked().await;
    let mut stream = listen(&admin, &run).await;
    call.write("half an ans");
    while stream.next().await.name != "delta" {}
    let stopped = admin.post(&format!("/api/v1/runs/{run}/cancel"), json!({})).await.expect(200).json();
    call.dropped().await;
    assert_eq!(states(&stopped), ["cancelled", "done", "cancelled"]);
    assert_eq!(text(&stopped["nodes"][1]), "half an ans");
    assert_eq!(text(&answer(&admin, &id).await), "half an ans");
    assert_eq!(stopped, ended(&admin, &run).await.0);

    say(&admin, &id, json!({"message": "second"})).await;
    let call = model.asked().await;
    assert_eq!(format!("{:?}", call.prompt.before), "[User(\"first\")]");
    call.answer("whole");
}

#[tokio::test]
async fn a_model_that_fails_ends_its_run_with_the_reason_and_keeps_what_it_wrote() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    call.write("half");
    call.fail("The provider is down.");
    let (run, code, detail) = ended(&admin, &run).await;
    assert_eq!((code.as_str(), detail.as_str()), ("model_failed", "The provider is down."));
    assert_eq!((states(&run), text(&run["nodes"][1])), (vec!["failed", "done", "failed"], "half"));
    assert_eq!(text(&answer(&admin, &id).await), "half");
    // A panic too, and the server goes on.
    model.panic_next();
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let (run, code, detail) = ended(&admin, &run).await;
    assert_eq!((code.as_str(), states(&run)), ("model_failed", vec!["failed", "done", "failed"]));
    assert!(!detail.contains("the test wants it"), "{detail}");
    let run = say(&admin, &id, json!({"message": "x"})).await;
    model.asked().await.answer("fine");
    assert_eq!(ended(&admin, &run).await.0["state"], "done");
}

#[tokio::test]
async fn a_tool_that_is_disabled_in_the_middle_of_a_run_is_not_called() {
    let (app, admin, model, id) = with_model().await;
    let bob = app.user(&admin, "bob", "user").await;
    let of_bob = talk(&bob, json!({"model": "test"})).await;
    let run = say(&bob, &of_bob, json!({"message": "x"})).await;
    let call = model.asked().await;
    call.call("list", json!({}));
    drop(call);
    let call = model.asked().await;
    assert_eq!(call.prompt.rounds[0].results[0].code, None);
    admin.disable("list", "it is broken").await.expect(200);
    call.call("list", json!({}));
    drop(call);
    let call = model.asked().await;
    let told = &call.prompt.rounds[1].results[0];
    assert!(told.text.contains("ada disabled it for everyone: it is broken."), "{}", told.text);
    assert!(call.prompt.resolution.offered.iter().all(|tool| tool.name().as_ref() != "list"));
    call.answer("So be it.");
    let (run, ..) = ended(&bob, &run).await;
    let refused = &run["nodes"][4];
    assert_eq!(
        (&refused["state"], &refused["code"], &refused["verdict"]["code"]),
        (&json!("failed"), &json!("unauthorized"), &json!("globally_disabled"))
    );
    let said = answer(&bob, &of_bob).await;
    assert_eq!((text(&said), said["calls"].as_array().unwrap().len()), ("So be it.", 2));
    assert_eq!(id.len(), of_bob.len());
}

#[tokio::test]
async fn a_run_ends_when_its_user_is_disabled_signs_out_or_changes_roles() {
    let (app, admin, model, _) = with_model().await;
    for (name, change) in [
        ("bob", json!({"disabled": true})),
        ("eve", json!({"role": "admin"})),
        ("dan", json!({"password": "another long password"})),
        ("sam", Value::Null),
    ] {
        let user = app.user(&admin, name, "user").await;
        let id = talk(&user, json!({"model": "test"})).await;
        say(&user, &id, json!({"message": "x"})).await;
        let call = model.asked().await;
        if change.is_null() {
            user.post("/api/v1/logout", json!({})).await.expect(204);
        } else {
            admin.patch(&format!("/api/v1/users/{}", user.id), change.clone()).await.expect(200);
        }
        // The model is let go of, so it cannot ask for another call.
        call.dropped().await;
        if name == "sam" {
            let again = app.log_in(name, PASSWORD).await;
            let said = async {
                loop {
                    let path = format!("/api/v1/conversations/{id}/messages");
                    let page = again.get(&path).await.expect(200).json();
                    if page["total"] == 2 {
                        return page["items"][0]["run_id"].as_str().unwrap().to_owned();
                    }
                }
            };
            let run = toolshelf_tests::within("the end of the run", said).await;
            assert_eq!(ended(&again, &run).await.1, "signed_out");
        }
    }
}

#[tokio::test]
async fn deleting_a_conversation_stops_its_run() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    call.write("something");
    admin.delete(&format!("/api/v1/conversations/{id}")).await.expect(204);
    call.dropped().await;
    admin.get(&format!("/api/v1/runs/{run}")).await.problem(404, "unknown_run");
    admin.post(&format!("/api/v1/runs/{run}/cancel"), json!({})).await.problem(404, "unknown_run");
}

async fn again(app: TestApp) -> (TestApp, Session) {
    let app = app.restart().await;
    let admin = app.log_in(ADMIN, PASSWORD).await;
    (app, admin)
}

#[tokio::test]
async fn a_stop_of_the_server_keeps_what_was_written_and_done() {
    let (app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    call.call("list", json!({}));
    drop(call);
    let call = model.asked().await;
    let mut stream = listen(&admin, &run).await;
    stream.next().await;
    call.write("half");
    while stream.next().await.name != "delta" {}
    let (_app, admin) = again(app).await;
    call.dropped().await;
    let (run, code, detail) = ended(&admin, &run).await;
    assert_eq!(states(&run), ["interrupted", "done", "done", "done", "interrupted"]);
    assert_eq!((code.as_str(), text(&run["nodes"][3])), ("", "half"));
    assert!(detail.contains("Send the message again"), "{detail}");
    let left = answer(&admin, &id).await;
    assert_eq!((text(&left), &left["calls"][0]["state"]), ("half", &json!("done")));
    // The conversation is free.
    admin.patch(&format!("/api/v1/conversations/{id}"), json!({"model": "console"})).await.expect(200);
    assert_eq!(ask(&admin, &id, "hello").await["state"], "done");
}

/// Makes a run look as if its end could not be stored.
async fn unfinish(app: &TestApp, user: &Session, run: &str) {
    let workspace = app.workspace(&user.id);
    let file = workspace.parent().unwrap().parent().unwrap().join("toolshelf.db");
    let options = SqliteConnectOptions::new().filename(file);
    let mut connection: SqliteConnection = options.connect().await.unwrap();
    let run_row = "UPDATE runs SET state = 'running', finished_at = NULL WHERE id = $1";
    assert_eq!(sqlx::query(run_row).bind(run).execute(&mut connection).await.unwrap().rows_affected(), 1);
    let node = "UPDATE run_nodes SET state = 'running', finished_at = NULL WHERE run_id = $1 AND number = 3";
    sqlx::query(node).bind(run).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_run_whose_end_could_not_be_stored_blocks_nothing() {
    let (app, admin) = TestApp::with_admin().await;
    let id = talk(&admin, json!({})).await;
    let first = ask(&admin, &id, "/call list {}").await["id"].as_str().unwrap().to_owned();
    // Whoever looks finds it cut off,
    unfinish(&app, &admin, &first).await;
    let (run, _, detail) = ended(&admin, &first).await;
    assert_eq!(states(&run), ["interrupted", "done", "done", "interrupted", "done"]);
    assert!(detail.contains("Send the message again"), "{detail}");
    // and so does whoever says something, without waiting for anybody to look.
    unfinish(&app, &admin, &first).await;
    assert_eq!(ask(&admin, &id, "hello").await["state"], "done");
    assert_eq!(run_of(&admin, &first).await["state"], "interrupted");
}
