//! Todo lists have an end.

use serde_json::json;
use toolshelf_tests::TestApp;

#[tokio::test]
async fn a_list_holds_500_todos_and_then_says_what_to_do() {
    let (_app, admin) = TestApp::with_admin().await;
    let conversation = admin.post("/api/v1/conversations", json!({})).await.expect(201).json();
    let call = async |tool: &str, arguments: serde_json::Value| {
        let call = json!({"arguments": arguments, "conversation_id": conversation["id"]});
        admin.post(&format!("/api/v1/tools/{tool}/call"), call).await.expect(200).json()
    };
    let todos = |count: usize| json!({"todos": vec!["milk"; count]});
    for _ in 0..9 {
        assert_eq!(call("todo_create", todos(50)).await["is_error"], false);
    }
    assert_eq!(call("todo_create", todos(49)).await["is_error"], false);
    let refused = call("todo_create", todos(2)).await;
    assert_eq!((&refused["is_error"], &refused["code"]), (&json!(true), &json!("execution_failed")));
    assert!(refused["text"].as_str().unwrap().contains("at most 500 todos and has 499 now"), "{refused}");
    assert_eq!(call("todo_create", todos(1)).await["is_error"], false, "nothing was half applied");
    assert!(call("todo_list", json!({})).await["text"].as_str().unwrap().contains("500"));
}
