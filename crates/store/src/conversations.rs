//! Conversations.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_core::fold_name;
use toolshelf_runtime::store::{ConversationRow, ConversationUse, Conversations, FallbackOrigin, StoreError};

use crate::columns::columns;
use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// Conversations, up to the condition.
macro_rules! select_conversations {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "conversations": "id", "user_id", "title", "pick", "fallback", "fallback_origin", "pin", "model",
                "tools_enabled", "web_search", "attended", "revision", "created_at", "updated_at",
            ),
            " FROM conversations ",
            $rest
        )
    };
}

fn read_conversation(row: &SqliteRow) -> Result<ConversationRow, StoreError> {
    let stored = Stored::new(row, &["conversations.id"]);
    let fallback: Option<String> = stored.get("conversations.fallback")?;
    let origin: Option<String> = stored.get("conversations.fallback_origin")?;
    let fallback = match (fallback, origin.as_deref()) {
        (None, None) => None,
        (Some(reference), Some("start")) => Some((reference, FallbackOrigin::Start)),
        (Some(reference), Some("active")) => Some((reference, FallbackOrigin::Active)),
        _ => return Err(stored.damaged("conversations.fallback", "it does not fit fallback_origin")),
    };
    Ok(ConversationRow {
        id: stored.get("conversations.id")?,
        user_id: stored.get("conversations.user_id")?,
        title: stored.get("conversations.title")?,
        pick: stored.get("conversations.pick")?,
        fallback,
        pin: stored.get("conversations.pin")?,
        model: stored.get("conversations.model")?,
        tools_enabled: stored.get("conversations.tools_enabled")?,
        web_search: stored.get("conversations.web_search")?,
        attended: stored.get("conversations.attended")?,
        revision: stored.number("conversations.revision")?,
        created_at: stored.time("conversations.created_at")?,
        updated_at: stored.time("conversations.updated_at")?,
    })
}

/// The pattern of titles that hold a text.
fn holding(query: Option<&str>) -> String {
    let text = fold_name(query.unwrap_or("")).replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{text}%")
}

#[async_trait]
impl Conversations for SqliteUnit {
    async fn insert_conversation(&mut self, conversation: &ConversationRow) -> Result<(), StoreError> {
        let (fallback, origin) = match &conversation.fallback {
            Some((reference, FallbackOrigin::Start)) => (Some(reference), Some("start")),
            Some((reference, FallbackOrigin::Active)) => (Some(reference), Some("active")),
            None => (None, None),
        };
        self.execute(
            sqlx::query(
                "INSERT INTO conversations (id, user_id, title, title_key, pick, fallback, fallback_origin, pin, \
                 model, tools_enabled, web_search, attended, revision, created_at, updated_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            )
            .bind(&conversation.id)
            .bind(&conversation.user_id)
            .bind(&conversation.title)
            .bind(fold_name(&conversation.title))
            .bind(&conversation.pick)
            .bind(fallback)
            .bind(origin)
            .bind(&conversation.pin)
            .bind(&conversation.model)
            .bind(conversation.tools_enabled)
            .bind(conversation.web_search)
            .bind(conversation.attended)
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
        query: Option<&str>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        // Ids of conversations grow with time, so the id alone gives the order; none is above '~'.
        let statement = sqlx::query(select_conversations!(
            "WHERE conversations.user_id = $1 AND conversations.id < $2 AND conversations.title_key LIKE $3 ESCAPE '!' \
             ORDER BY conversations.id DESC LIMIT $4"
        ))
        .bind(user_id)
        .bind(before.unwrap_or("~"))
        .bind(holding(query))
        .bind(i64::from(limit));
        self.all(statement).await?.iter().map(read_conversation).collect()
    }

    async fn count_conversations(&mut self, user_id: &str, query: Option<&str>) -> Result<u64, StoreError> {
        let statement = sqlx::query(
            "SELECT COUNT(*) FROM conversations WHERE user_id = $1 AND title_key LIKE $2 ESCAPE '!'",
        );
        self.count(statement.bind(user_id).bind(holding(query))).await
    }

    async fn update_conversation(
        &mut self,
        conversation: &ConversationRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError> {
        let updated = self
            .execute(
                sqlx::query(
                    "UPDATE conversations SET title = $1, title_key = $2, pick = $3, model = $4, tools_enabled = $5, \
                     web_search = $6, attended = $7, revision = $8, updated_at = $9 WHERE id = $10 AND revision = $11",
                )
                .bind(&conversation.title)
                .bind(fold_name(&conversation.title))
                .bind(&conversation.pick)
                .bind(&conversation.model)
                .bind(conversation.tools_enabled)
                .bind(conversation.web_search)
                .bind(conversation.attended)
                .bind(signed(conversation.revision)?)
                .bind(micros(conversation.updated_at))
                .bind(&conversation.id)
                .bind(signed(expected_revision)?),
            )
            .await?;
        Ok(updated == 1)
    }

    async fn list_conversation_uses(
        &mut self,
        reference: Option<&str>,
    ) -> Result<Vec<ConversationUse>, StoreError> {
        // UNION counts a conversation once, also when it picked what it started with.
        let statement = sqlx::query(
            "SELECT uses.reference AS \"uses.reference\", uses.user_id AS \"uses.user_id\", \
             COUNT(*) AS \"uses.conversations\" FROM (\
             SELECT id, user_id, pick AS reference FROM conversations WHERE pick IS NOT NULL UNION \
             SELECT id, user_id, fallback AS reference FROM conversations WHERE fallback IS NOT NULL UNION \
             SELECT id, user_id, pin AS reference FROM conversations WHERE pin IS NOT NULL) AS uses \
             WHERE $1 IS NULL OR uses.reference = $1 GROUP BY uses.reference, uses.user_id",
        );
        let rows = self.all(statement.bind(reference)).await?;
        rows.iter()
            .map(|row| {
                let stored = Stored::new(row, &["uses.reference", "uses.user_id"]);
                Ok(ConversationUse {
                    reference: stored.get("uses.reference")?,
                    user_id: stored.get("uses.user_id")?,
                    conversations: stored.number("uses.conversations")?,
                })
            })
            .collect()
    }

    async fn repoint_conversations(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        self.execute(sqlx::query("UPDATE conversations SET pick = $2 WHERE pick = $1").bind(from).bind(to))
            .await?;
        self.execute(
            sqlx::query("UPDATE conversations SET fallback = $2 WHERE fallback = $1").bind(from).bind(to),
        )
        .await?;
        self.execute(sqlx::query("UPDATE conversations SET pin = $2 WHERE pin = $1").bind(from).bind(to))
            .await?;
        Ok(())
    }

    async fn delete_conversation(&mut self, id: &str) -> Result<(), StoreError> {
        // The foreign keys of what belongs to it do the rest.
        self.execute(sqlx::query("DELETE FROM conversations WHERE id = $1").bind(id)).await?;
        Ok(())
    }
}
