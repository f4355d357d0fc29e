//! Todo lists.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{StoreError, TodoRow, TodoStatus, Todos};

use crate::columns::columns;
use crate::stored::{Stored, micros};
use crate::unit::SqliteUnit;

fn read_todo(row: &SqliteRow) -> Result<TodoRow, StoreError> {
    let stored = Stored::new(row, &["todos.conversation_id", "todos.number"]);
    Ok(TodoRow {
        conversation_id: stored.get("todos.conversation_id")?,
        number: stored.number("todos.number")?,
        text: stored.get("todos.text")?,
        status: read_status(stored)?,
        created_at: stored.time("todos.created_at")?,
    })
}

fn read_status(stored: Stored<'_>) -> Result<TodoStatus, StoreError> {
    const COLUMN: &str = "todos.status";
    match stored.get(COLUMN)? {
        "pending" => Ok(TodoStatus::Pending),
        "in_progress" => Ok(TodoStatus::InProgress),
        "done" => Ok(TodoStatus::Done),
        other => Err(stored.damaged(COLUMN, format_args!("{other:?} is no status"))),
    }
}

#[async_trait]
impl Todos for SqliteUnit {
    async fn append_todos(
        &mut self,
        conversation_id: &str,
        texts: &[String],
        at: DateTime<Utc>,
    ) -> Result<Vec<u32>, StoreError> {
        // Writers wait for each other, so nobody else takes a number between this and the insertions.
        let mut last = self
            .number(
                sqlx::query("SELECT COALESCE(MAX(number), 0) FROM todos WHERE conversation_id = $1")
                    .bind(conversation_id),
            )
            .await?;
        let mut numbers = Vec::with_capacity(texts.len());
        for text in texts {
            last += 1;
            let number = u32::try_from(last).map_err(|error| StoreError::Database(Box::new(error)))?;
            self.execute(
                sqlx::query(
                    "INSERT INTO todos (conversation_id, number, text, status, created_at) \
                     VALUES ($1, $2, $3, 'pending', $4)",
                )
                .bind(conversation_id)
                .bind(last)
                .bind(text)
                .bind(micros(at)),
            )
            .await?;
            numbers.push(number);
        }
        Ok(numbers)
    }

    async fn list_todos(&mut self, conversation_id: &str) -> Result<Vec<TodoRow>, StoreError> {
        let rows = self
            .all(
                sqlx::query(concat!(
                    "SELECT ",
                    columns!("todos": "conversation_id", "number", "text", "status", "created_at"),
                    " FROM todos WHERE todos.conversation_id = $1 ORDER BY todos.number"
                ))
                .bind(conversation_id),
            )
            .await?;
        rows.iter().map(read_todo).collect()
    }
}
