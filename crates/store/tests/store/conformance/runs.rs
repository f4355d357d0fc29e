use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;
use toolshelf_runtime::store::{
    MessageRole, MessageRow, NodeKind, RunNodeRow, RunRow, RunState, Store, StoreError,
};

use super::samples::{at, conversation, message, run, run_node, user, with_users};

/// Adds a user with two conversations.
async fn with_conversations(store: &Arc<dyn Store>) {
    with_users(store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    unit.insert_conversation(&conversation("c2", "u1")).await.unwrap();
    unit.commit().await.unwrap();
}

fn done(id: &str, conversation_id: &str) -> RunRow {
    RunRow { state: RunState::Done, finished_at: Some(at(50)), ..run(id, conversation_id) }
}

pub(crate) async fn runs_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let states =
        [RunState::Done, RunState::Failed, RunState::Cancelled, RunState::Interrupted, RunState::Running];
    let rows: Vec<RunRow> = states
        .into_iter()
        .enumerate()
        .map(|(number, state)| RunRow {
            state,
            code: (state == RunState::Failed).then(|| "model_failed".to_owned()),
            detail: (state == RunState::Failed).then(|| "The key is \"wrong\" ✓.".to_owned()),
            snapshot_revision: 7,
            finished_at: (state != RunState::Running).then(|| at(50)),
            ..run(&format!("r{number}"), "c1")
        })
        .collect();
    let mut unit = store.begin().await.unwrap();
    for row in &rows {
        unit.insert_run(row).await.unwrap();
    }
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    for row in &rows {
        assert_eq!(unit.find_run(&row.id).await.unwrap().as_ref(), Some(row));
    }
    assert_eq!(unit.find_run("r9").await.unwrap(), None);
    assert_eq!(unit.find_running("c1").await.unwrap().as_ref(), rows.last());
    assert_eq!(unit.find_running("c2").await.unwrap(), None);
}

pub(crate) async fn one_run_goes_on_in_a_conversation(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_run(&run("r1", "c1")).await.unwrap();
    unit.insert_run(&run("r2", "c2")).await.unwrap();
    unit.insert_run(&done("r3", "c1")).await.unwrap();
    let error = unit.insert_run(&run("r4", "c1")).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken("conversation_id")), "{error:?}");
    // The refusal leaves the unit usable.
    assert_eq!(unit.list_running().await.unwrap(), [run("r1", "c1"), run("r2", "c2")]);
    let ended = RunRow { code: Some("x".to_owned()), detail: Some("y".to_owned()), ..done("r1", "c1") };
    assert!(unit.finish_run(&ended).await.unwrap());
    assert_eq!(unit.find_run("r1").await.unwrap(), Some(ended.clone()));
    // It ends once.
    let again = RunRow { state: RunState::Failed, ..ended.clone() };
    assert!(!unit.finish_run(&again).await.unwrap());
    assert!(!unit.finish_run(&done("r9", "c1")).await.unwrap());
    assert_eq!(unit.find_run("r1").await.unwrap(), Some(ended));
    unit.insert_run(&run("r4", "c1")).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().list_running().await.unwrap().len(), 2);
}

pub(crate) async fn of_many_at_once_one_begins_a_run(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut writers = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        writers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            match unit.insert_run(&run(&format!("r{number}"), "c1")).await {
                Ok(()) => {
                    unit.commit().await.unwrap();
                    true
                }
                Err(StoreError::Taken("conversation_id")) => false,
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    let begun = writers.join_all().await;
    assert_eq!(begun.iter().filter(|begun| **begun).count(), 1);
}

pub(crate) async fn parts_are_kept_and_replaced_by_number(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_run(&run("r1", "c1")).await.unwrap();
    unit.insert_run(&run("r2", "c2")).await.unwrap();
    let message = RunNodeRow {
        kind: NodeKind::UserMessage,
        state: RunState::Done,
        name: String::new(),
        arguments: None,
        finished_at: Some(at(40)),
        parent: None,
        ..run_node("r1", 1)
    };
    let model = RunNodeRow { kind: NodeKind::ModelCall, arguments: None, parent: None, ..run_node("r1", 2) };
    let calls = [
        run_node("r1", 3),
        RunNodeRow { arguments: Some(json!("{ no json")), ..run_node("r1", 4) },
        RunNodeRow { arguments: Some(json!({"b": [1, null], "a": "读"})), ..run_node("r1", 10) },
    ];
    // In any order.
    for node in [&calls[2], &calls[0], &model, &calls[1], &message] {
        unit.put_run_node(node).await.unwrap();
    }
    unit.put_run_node(&run_node("r2", 1)).await.unwrap();
    let ended = RunNodeRow {
        state: RunState::Failed,
        text: "No.".to_owned(),
        code: Some("unauthorized".to_owned()),
        verdict: Some(json!({"tool": "read", "code": "not_in_toolset"})),
        finished_at: Some(at(60)),
        ..calls[0].clone()
    };
    unit.put_run_node(&ended).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    let [_, second, third] = calls;
    assert_eq!(unit.list_run_nodes("r1").await.unwrap(), [message, model, ended, second, third]);
    assert_eq!(unit.list_run_nodes("r2").await.unwrap(), [run_node("r2", 1)]);
    assert_eq!(unit.list_run_nodes("r9").await.unwrap(), []);
}

pub(crate) async fn messages_are_numbered_and_paged_newest_first(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_run(&done("r1", "c1")).await.unwrap();
    unit.insert_run(&done("r2", "c2")).await.unwrap();
    for number in 1..=5 {
        // What was given as number counts for nothing.
        let row = MessageRow { number: 99, ..message(&format!("m{number}"), "c1", number, "r1") };
        assert_eq!(unit.append_message(&row).await.unwrap(), number);
    }
    let other = MessageRow {
        role: MessageRole::Assistant,
        tools_override: Some(json!(["read"])),
        ..message("n1", "c2", 1, "r2")
    };
    assert_eq!(unit.append_message(&other).await.unwrap(), 1);
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    let row = |number: u64| message(&format!("m{number}"), "c1", number, "r1");
    assert_eq!(unit.list_messages("c1", None, 2).await.unwrap(), [row(5), row(4)]);
    assert_eq!(unit.list_messages("c1", Some(4), 2).await.unwrap(), [row(3), row(2)]);
    assert_eq!(unit.list_messages("c1", Some(2), 2).await.unwrap(), [row(1)]);
    assert_eq!(unit.list_messages("c1", Some(1), 2).await.unwrap(), []);
    assert_eq!(unit.list_messages("c1", Some(u64::MAX), 9).await.unwrap().len(), 5);
    assert_eq!(unit.list_messages("c2", None, 9).await.unwrap(), [other]);
    let counts = [
        unit.count_messages("c1").await.unwrap(),
        unit.count_messages("c2").await.unwrap(),
        unit.count_messages("c3").await.unwrap(),
    ];
    assert_eq!(counts, [5, 1, 0]);
}

pub(crate) async fn a_model_is_told_the_answers_of_runs_that_are_done(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    let mut number = 0;
    for (id, state) in [
        ("r1", RunState::Done),
        ("r2", RunState::Failed),
        ("r3", RunState::Cancelled),
        ("r4", RunState::Interrupted),
        ("r5", RunState::Done),
        ("r6", RunState::Running),
    ] {
        unit.insert_run(&RunRow { state, ..run(id, "c1") }).await.unwrap();
        for (role, name) in [(MessageRole::User, "q"), (MessageRole::Assistant, "a")] {
            number += 1;
            let row = MessageRow { role, ..message(&format!("{name}{id}"), "c1", number, id) };
            unit.append_message(&row).await.unwrap();
        }
    }
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    let ids = |rows: Vec<MessageRow>| -> Vec<String> { rows.into_iter().map(|row| row.id).collect() };
    let all = ids(unit.list_told("c1", 100).await.unwrap());
    assert_eq!(all, ["qr6", "ar5", "qr5", "qr4", "qr3", "qr2", "ar1", "qr1"]);
    assert_eq!(ids(unit.list_told("c1", 2).await.unwrap()), ["qr6", "ar5"]);
    assert_eq!(ids(unit.list_told("c2", 100).await.unwrap()), Vec::<String>::new());
}

pub(crate) async fn calls_and_runs_are_found_by_messages(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    for (number, id) in [(1, "r1"), (2, "r2"), (3, "r3")] {
        unit.insert_run(&done(id, "c1")).await.unwrap();
        unit.append_message(&message(&format!("m{number}"), "c1", number, id)).await.unwrap();
        let model = RunNodeRow { kind: NodeKind::ModelCall, ..run_node(id, 1) };
        for node in [run_node(id, 3), model, run_node(id, 2)] {
            unit.put_run_node(&node).await.unwrap();
        }
    }
    unit.insert_run(&done("r4", "c2")).await.unwrap();
    unit.append_message(&message("n1", "c2", 1, "r4")).await.unwrap();
    unit.put_run_node(&run_node("r4", 1)).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    let of = |id: &str| [run_node(id, 2), run_node(id, 3)];
    assert_eq!(unit.list_tool_calls("c1", 2, 3).await.unwrap(), [of("r2"), of("r3")].concat());
    assert_eq!(unit.list_tool_calls("c1", 1, 1).await.unwrap(), of("r1"));
    assert_eq!(unit.list_tool_calls("c1", 0, 0).await.unwrap(), []);
    assert_eq!(unit.list_tool_calls("c2", 0, 9).await.unwrap(), [run_node("r4", 1)]);
    // So are the runs themselves.
    let runs = unit.list_runs_of_messages("c1", 2, 3).await.unwrap();
    assert_eq!(runs, [done("r2", "c1"), done("r3", "c1")]);
    assert_eq!(unit.list_runs_of_messages("c1", 4, 9).await.unwrap(), []);
    assert_eq!(unit.list_runs_of_messages("c2", 0, 9).await.unwrap(), [done("r4", "c2")]);
}

pub(crate) async fn deleting_a_conversation_takes_its_runs_and_messages(store: Arc<dyn Store>) {
    with_conversations(&store).await;
    let mut unit = store.begin().await.unwrap();
    for (conversation, id) in [("c1", "r1"), ("c2", "r2")] {
        unit.insert_run(&run(id, conversation)).await.unwrap();
        unit.put_run_node(&run_node(id, 1)).await.unwrap();
        unit.append_message(&message(&format!("m-{id}"), conversation, 1, id)).await.unwrap();
    }
    unit.delete_conversation("c1").await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_run("r1").await.unwrap(), None);
    assert_eq!(unit.list_run_nodes("r1").await.unwrap(), []);
    assert_eq!(unit.count_messages("c1").await.unwrap(), 0);
    assert_eq!(unit.list_running().await.unwrap(), [run("r2", "c2")]);
    assert_eq!(unit.list_run_nodes("r2").await.unwrap().len(), 1);
    assert_eq!(unit.count_messages("c2").await.unwrap(), 1);
    // What it belonged to is gone, so nothing more can be added.
    let error = unit.put_run_node(&run_node("r1", 2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}
