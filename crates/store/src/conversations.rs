//! Conversations.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{ConversationRow, Conversations, StoreError};

use crate::columns::columns;
use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// Conversations, up to the condition.
macro_rules! select_conversations {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!("conversations": "id", "user_id", "title", "revision", "created_at", "updated_at"),
            " FROM conversations ",
            $rest
        )
    };
}

fn read_conversation(row: &SqliteRow) -> Result<ConversationRow, StoreError> {
    let stored = Stored::new(row, &["conversations.id"]);
    Ok(ConversationRow {
        id: stored.get("conversations.id")?,
        user_id: stored.get("conversations.user_id")?,
        title: stored.get("conversations.title")?,
        revision: stored.number("conversations.revision")?,
        created_at: stored.time("conversations.created_at")?,
        updated_at: stored.time("conversations.updated_at")?,
    })
}

#[async_trait]
impl Conversations for SqliteUnit {
    async fn insert_conversation(&mut self, conversation: &ConversationRow) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO conversations (id, user_id, title, revision, created_at, updated_at) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(&conversation.id)
            .bind(&conversation.user_id)
            .bind(&conversation.title)
            .bind(signed(conversation.revision)?)
            .bind(micros(conversation.created_at))
            .bind(micros(conversation.updated_at)),
        )
        .await?;
        Ok(())
    }

    async fn find_conversation(&mut self, id: &str) -> Result<Option<ConversationRow>, StoreError> {
        let row =
            self.optional(sqlx::query(select_conversations!("WHERE conversations.id = $1")).bind(id)).await?;
        row.as_ref().map(read_conversation).transpose()
    }

    async fn list_conversations(
        &mut self,
        user_id: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        // Ids of conversations grow with time, so the id alone gives the order.
        let statement = match before {
            Some(before) => sqlx::query(select_conversations!(
                "WHERE conversations.user_id = $1 AND conversations.id < $3 ORDER BY conversations.id DESC LIMIT $2"
            ))
            .bind(user_id)
            .bind(i64::from(limit))
            .bind(before),
            None => sqlx::query(select_conversations!(
                "WHERE conversations.user_id = $1 ORDER BY conversations.id DESC LIMIT $2"
            ))
            .bind(user_id)
            .bind(i64::from(limit)),
        };
        self.all(statement).await?.iter().map(read_conversation).collect()
    }

    async fn count_conversations(&mut self, user_id: &str) -> Result<u64, StoreError> {
        self.count(sqlx::query("SELECT COUNT(*) FROM conversations WHERE user_id = $1").bind(user_id)).await
    }

    async fn delete_conversation(&mut self, id: &str) -> Result<(), StoreError> {
        // The foreign keys of what belongs to it do the rest.
        self.execute(sqlx::query("DELETE FROM conversations WHERE id = $1").bind(id)).await?;
        Ok(())
    }
}
