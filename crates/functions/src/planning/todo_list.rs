//! `todo_list`: the todo list.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolshelf_runtime::store::Store;
use toolshelf_runtime::{CallContext, FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use super::{conversation, render, store_failed};

const DESCRIPTION: &str = "Returns this conversation's todo list by number. A todo is marked [ ] when it is not \
begun, [~] when it is in progress, and [x] when it is done.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

pub(super) fn register(builder: RegistryBuilder, store: Arc<dyn Store>) -> RegistryBuilder {
    let spec =
        FunctionSpec { title: Some("Todo list"), description: DESCRIPTION, ..super::spec("todo_list") };
    builder.function(spec, move |context, Arguments {}| {
        let store = Arc::clone(&store);
        async move { list(&*store, &context).await }
    })
}

async fn list(store: &dyn Store, context: &CallContext) -> Result<ToolReturn, FunctionError> {
    let conversation_id = conversation(context)?;
    let mut work = store.read().await.map_err(store_failed)?;
    let todos = work.list_todos(&conversation_id).await.map_err(store_failed)?;
    let text = if todos.is_empty() { "The todo list is empty.".to_owned() } else { render(&todos) };
    let data: Vec<_> = todos
        .iter()
        .map(|todo| json!({"number": todo.number, "text": todo.text, "status": todo.status}))
        .collect();
    Ok(ToolReturn { text, data: Some(json!({"todos": data})), is_error: false, ..ToolReturn::default() })
}
