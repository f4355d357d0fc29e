//! Functions on the todo list of a conversation.

mod todo_create;
mod todo_list;

use std::sync::Arc;

use toolshelf_runtime::store::{Store, StoreError, TodoRow, TodoStatus};
use toolshelf_runtime::{CallContext, Clock, FunctionError, FunctionSpec, RegistryBuilder};

/// Registers the functions on todo lists.
pub(crate) fn register(
    builder: RegistryBuilder,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
) -> RegistryBuilder {
    let builder = todo_create::register(builder, Arc::clone(&store), clock);
    todo_list::register(builder, store)
}

/// What the functions on todo lists have in common.
fn spec(name: &'static str) -> FunctionSpec {
    FunctionSpec {
        toolsets: &["planning"],
        needs_conversation: true,
        ..FunctionSpec::new(name, "planning", "")
    }
}

/// The conversation whose list it is. The resolver refuses a call without one; this is for whoever calls otherwise.
fn conversation(context: &CallContext) -> Result<Arc<str>, FunctionError> {
    context.conversation_id.clone().ok_or_else(|| {
        FunctionError::new("A todo list belongs to a conversation, and this call is not part of one.")
    })
}

/// The store's own text is for the log: it may name what callers must not know.
#[expect(clippy::needless_pass_by_value, reason = "it is made for map_err")]
fn store_failed(error: StoreError) -> FunctionError {
    tracing::error!(error = &error as &dyn std::error::Error, "A todo list could not be read or changed.");
    FunctionError::new("The todo list could not be read or changed. Try again later.")
}

/// A todo as one row. A text that a model wrote on several lines must not look like several todos.
fn row(number: u32, status: TodoStatus, text: &str) -> String {
    let mark = match status {
        TodoStatus::Pending => ' ',
        TodoStatus::InProgress => '~',
        TodoStatus::Done => 'x',
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{number}. [{mark}] {text}")
}

/// A list as text.
fn render(todos: &[TodoRow]) -> String {
    todos.iter().map(|todo| row(todo.number, todo.status, &todo.text)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
