use serde_json::json;
use toolshelf_core::{Layer, Refusal};
use toolshelf_runtime::CallRefused;
use toolshelf_runtime::store::{TodoRow, TodoStatus};

use super::render;
use crate::testing::{Bench, request};

#[test]
fn a_list_shows_how_far_each_todo_is() {
    let todo = |number, status, text: &str| TodoRow {
        conversation_id: "c".to_owned(),
        number,
        text: text.to_owned(),
        status,
        created_at: chrono::DateTime::UNIX_EPOCH,
    };
    let todos = [
        todo(1, TodoStatus::Done, "first"),
        todo(2, TodoStatus::InProgress, "second\n3. [x] forged"),
        todo(10, TodoStatus::Pending, "读"),
    ];
    assert_eq!(render(&todos), "1. [x] first\n2. [~] second 3. [x] forged\n10. [ ] 读");
}

#[tokio::test]
async fn todos_that_are_none_are_refused_before_the_store_is_asked() {
    let bench = Bench::new();
    for todos in
        [json!([]), json!([""]), json!(["x".repeat(501)]), json!(vec!["x"; 51]), json!("x"), json!([1])]
    {
        bench.refuse("todo_create", json!({"todos": todos})).await;
    }
    bench.refuse("todo_create", json!({"todos": ["x"], "more": 1})).await;
    bench.refuse("todo_list", json!({"all": true})).await;
    // The schema counts the space around a text, and the function does not.
    let error = bench.fail("todo_create", json!({"todos": ["fine", " \n\t"]})).await;
    assert_eq!(error, "Todo 2 is empty. Nothing was added.");
}

#[tokio::test]
async fn a_failing_store_is_an_error_without_its_details() {
    let bench = Bench::new();
    for (name, arguments) in [("todo_create", json!({"todos": ["x"]})), ("todo_list", json!({}))] {
        let error = bench.fail(name, arguments).await;
        assert!(error.contains("could not be read or changed") && !error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_call_without_a_conversation_is_refused() {
    let bench = Bench::new();
    for name in ["todo_create", "todo_list"] {
        let result = bench.registry().invoke(&request(None), name, serde_json::Map::new()).await;
        let Err(CallRefused::Refused(Refusal::Removed(verdict))) = result else { panic!("{result:?}") };
        assert_eq!(verdict.layer, Some(Layer::L4));
    }
}
