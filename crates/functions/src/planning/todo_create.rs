//! `todo_create`: adds to the todo list.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolshelf_core::{Effect, Kind};
use toolshelf_runtime::store::{Store, TodoStatus};
use toolshelf_runtime::{CallContext, Clock, FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use super::{conversation, row, store_failed};

/// The most todos of one call.
const MAX_TODOS: usize = 50;
/// The most todos of a conversation, so that the list stays short enough to read.
const MAX_LIST: usize = 500;
/// The most characters of a todo.
const MAX_TEXT: usize = 500;

const DESCRIPTION: &str = "Adds todos at the end of this conversation's todo list, all of them not begun. Use it to \
plan work of several steps, so that both you and the user see what is left. Returns the new todos with their numbers.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What to do, in the order in which it will be done: 1 to 50 short texts.
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 500)))]
    todos: Vec<String>,
}

pub(super) fn register(
    builder: RegistryBuilder,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("Add todos"),
        description: DESCRIPTION,
        kind: Kind::Write,
        effect: Effect::Write,
        ..super::spec("todo_create")
    };
    builder.function(spec, move |context, arguments: Arguments| {
        let store = Arc::clone(&store);
        let clock = Arc::clone(&clock);
        async move { create(&*store, &*clock, &context, &arguments.todos).await }
    })
}

async fn create(
    store: &dyn Store,
    clock: &dyn Clock,
    context: &CallContext,
    todos: &[String],
) -> Result<ToolReturn, FunctionError> {
    let conversation_id = conversation(context)?;
    let texts = checked(todos)?;
    let mut work = store.begin().await.map_err(store_failed)?;
    let before = work.list_todos(&conversation_id).await.map_err(store_failed)?.len();
    if before + texts.len() > MAX_LIST {
        return Err(FunctionError::new(format!(
            "A conversation's list holds at most {MAX_LIST} todos and has {before} now. Put several steps into one todo, \
             or go on in another conversation."
        )));
    }
    let numbers = work.append_todos(&conversation_id, &texts, clock.now()).await.map_err(store_failed)?;
    work.commit().await.map_err(store_failed)?;
    let rows: Vec<String> =
        numbers.iter().zip(&texts).map(|(number, text)| row(*number, TodoStatus::Pending, text)).collect();
    let data: Vec<_> = numbers
        .iter()
        .zip(&texts)
        .map(|(number, text)| json!({"number": number, "text": text, "status": TodoStatus::Pending}))
        .collect();
    Ok(ToolReturn {
        text: rows.join("\n"),
        data: Some(json!({"todos": data})),
        is_error: false,
        ..ToolReturn::default()
    })
}

/// The texts without the space around them. The schema counts before that, so this counts again.
fn checked(todos: &[String]) -> Result<Vec<String>, FunctionError> {
    if todos.is_empty() || todos.len() > MAX_TODOS {
        return Err(FunctionError::new(format!("Give 1 to {MAX_TODOS} todos.")));
    }
    let text = |(position, todo): (usize, &String)| {
        let text = todo.trim();
        match text.chars().count() {
            0 => Err(FunctionError::new(format!("Todo {} is empty. Nothing was added.", position + 1))),
            length if length > MAX_TEXT => Err(FunctionError::new(format!(
                "Todo {} has {length} characters, and the most is {MAX_TEXT}. Nothing was added.",
                position + 1
            ))),
            _ => Ok(text.to_owned()),
        }
    };
    todos.iter().enumerate().map(text).collect()
}
