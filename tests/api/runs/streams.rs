//! Listening to runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};
use toolshelf_tests::{Client, EventStream, SentEvent};

use super::{answer, ask, heard, listen, run_of, say, talk, text, with_model};

/// Listens until this many pieces were heard; returns the last id and the text so far.
async fn hear(client: &Client, run: &str, pieces: usize) -> (String, String) {
    let mut stream = listen(client, run).await;
    let mut events = Vec::new();
    loop {
        let event = stream.next().await;
        events.push(event);
        let known = heard(&events, String::new());
        if known.split_whitespace().count() == pieces {
            return (events.pop().unwrap().id, known);
        }
    }
}

async fn resume(client: &Client, run: &str, id: &str) -> EventStream {
    client.get(&format!("/api/v1/runs/{run}/events")).header("last-event-id", id).listen().await
}

fn sequence(id: &str) -> u64 {
    id.split_once('.').unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn whoever_comes_back_while_it_goes_on_hears_the_rest_and_nothing_twice() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "count"})).await;
    let call = model.asked().await;
    let mut whole = listen(&admin, &run).await;
    let mut gone = Vec::new();
    for number in 0..20 {
        call.write(&format!("{number} "));
        gone.push(hear(&admin, &run, number + 1).await);
        // Other things happen in between, and take places of the same sequence.
        admin.disable("grep", "broken").await.expect(200);
    }
    // Everybody is back before it goes on.
    let mut back = Vec::new();
    for (at, knew) in gone {
        back.push((resume(&admin, &run, &at).await, knew));
    }
    call.write("21 ");
    call.answer("22");
    let whole = whole.rest().await;
    let expected = heard(&whole, String::new());
    assert_eq!(expected, text(&answer(&admin, &id).await));
    assert!(expected.starts_with("0 1 2 ") && expected.ends_with("19 21 22"));
    assert_eq!((whole[0].name.as_str(), whole.last().unwrap().name.as_str()), ("resync", "finished"));
    assert!(whole.windows(2).all(|pair| sequence(&pair[0].id) < sequence(&pair[1].id)));
    for (mut stream, knew) in back {
        let rest = stream.rest().await;
        assert!(rest.iter().all(|event| event.name != "resync"), "nothing was lost");
        // The pieces alone give the text, before the part is told as a whole.
        let pieces: Vec<SentEvent> = rest.iter().filter(|event| event.name == "delta").cloned().collect();
        assert_eq!(heard(&pieces, knew), expected);
        assert_eq!(rest.last().unwrap().name, "finished");
    }
}

#[tokio::test]
async fn whoever_was_away_too_long_is_told_the_whole_run() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "count"})).await;
    let call = model.asked().await;
    call.write("0 ");
    let (at, _) = hear(&admin, &run, 1).await;
    for number in 1..600 {
        call.write(&format!("{number} "));
    }
    hear(&admin, &run, 600).await;
    let mut stream = resume(&admin, &run, &at).await;
    let first = stream.next().await;
    assert_eq!(first.name, "resync");
    assert_eq!(heard(&[first], String::new()).split_whitespace().count(), 600);
    call.answer("end");
    assert!(heard(&stream.rest().await, String::new()).ends_with("end"));
}

#[tokio::test]
async fn a_run_goes_on_when_nobody_listens() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    let mut stream = listen(&admin, &run).await;
    stream.next().await;
    drop(stream);
    call.call("list", json!({}));
    drop(call);
    model.asked().await.answer("done");
    let rest = listen(&admin, &run).await.rest().await;
    assert_eq!(rest.last().unwrap().data["state"], "done");
    assert_eq!(text(&answer(&admin, &id).await), "done");
}

#[tokio::test]
async fn runs_are_told_among_changes_to_whoever_names_them() {
    let (app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    let over = ask(&admin, &talk(&admin, json!({})).await, "/help").await["id"].clone();
    let over = over.as_str().unwrap();
    let mut stream = admin.get(&format!("/api/v1/events?runs={run},{over},{run}")).listen().await;
    let hello = stream.next().await;
    assert_eq!(hello.name, "hello");
    call.write("one ");
    admin.disable("grep", "broken").await.expect(200);
    call.answer("two");
    let (mut of_run, mut of_over, mut changed) = (Vec::new(), Vec::new(), None);
    let finished = |events: &[Value]| events.last().is_some_and(|event| event["kind"] == "finished");
    while !(finished(&of_run) && finished(&of_over) && changed.is_some()) {
        let event = stream.next().await;
        match event.name.as_str() {
            "run" if event.data["run_id"] == over => of_over.push(event.data["event"].clone()),
            "run" => {
                assert_eq!((&event.data["run_id"], event.id.as_str()), (&json!(run), ""));
                of_run.push(event.data["event"].clone());
            }
            "tool_changed" => changed = Some(event.id),
            other => panic!("{other}"),
        }
    }
    assert_eq!((of_over.len(), &of_over[0]["run"]["state"]), (2, &json!("done")));
    let told: Vec<SentEvent> = of_run
        .iter()
        .map(|event| SentEvent {
            name: event["kind"].as_str().unwrap().to_owned(),
            id: String::new(),
            data: event.clone(),
        })
        .collect();
    assert_eq!((told[0].name.as_str(), heard(&told, String::new()).as_str()), ("resync", "one two"));
    // The stream outlives its runs.
    admin.enable("grep").await.expect(200);
    assert_eq!(stream.next().await.name, "tool_changed");
    // Whoever comes back goes on with the changes where they were, and is told the run as it is.
    let again = admin.get(&format!("/api/v1/events?runs={run}")).header("last-event-id", &changed.unwrap());
    let mut again = again.listen().await;
    let names = [again.next().await, again.next().await, again.next().await, again.next().await];
    let mut names = names.map(|event| event.data["event"]["kind"].as_str().unwrap_or(&event.name).to_owned());
    assert_eq!(names[0], "hello");
    names.sort();
    assert_eq!(names, ["finished", "hello", "resync", "tool_changed"]);

    let bob = app.user(&admin, "bob", "user").await;
    bob.get(&format!("/api/v1/events?runs={run}")).await.problem(404, "unknown_run");
    admin.get("/api/v1/events?runs=nonsense").await.problem(404, "unknown_run");
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    let many = format!("/api/v1/events?runs={}", many.join(","));
    admin.get(&many).await.problem(422, "invalid").pointers(&["runs"]);
    admin.get("/api/v1/events?nonsense=1").await.problem(422, "invalid");
}

#[tokio::test]
async fn a_listener_hears_no_more_than_its_key_allows() {
    let (_app, admin, model, id) = with_model().await;
    let run = say(&admin, &id, json!({"message": "x"})).await;
    let call = model.asked().await;
    let key = admin.key(&["read"]).await;
    let mut alone = listen(&key, &run).await;
    let mut among = key.get(&format!("/api/v1/events?runs={run}")).listen().await;
    alone.next().await;
    among.next().await;
    admin.delete(&format!("/api/v1/api-keys/{}", key.id)).await.expect(200);
    call.answer("secret");
    for stream in [&mut alone, &mut among] {
        let rest = stream.rest().await;
        assert!(rest.iter().all(|event| !event.data.to_string().contains("secret")), "{rest:?}");
    }
    assert_eq!(listen(&admin, &run).await.rest().await.last().unwrap().data["state"], "done");
    assert_eq!(run_of(&admin, &run).await["state"], "done");
}
