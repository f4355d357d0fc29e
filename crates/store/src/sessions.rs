//! Browser sessions.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{SessionRow, Sessions, StoreError, UserRow};

use crate::accounts::{read_user, user_columns};
use crate::columns::columns;
use crate::stored::{Stored, micros};
use crate::unit::SqliteUnit;

fn read_session(row: &SqliteRow) -> Result<SessionRow, StoreError> {
    // The owner and not the hash names the row: hashes of tokens stay out of logs.
    let stored = Stored::new(row, &["sessions.user_id"]);
    Ok(SessionRow {
        token_hash: stored.hash("sessions.token_hash")?,
        user_id: stored.get("sessions.user_id")?,
        created_at: stored.time("sessions.created_at")?,
        expires_at: stored.time("sessions.expires_at")?,
    })
}

#[async_trait]
impl Sessions for SqliteUnit {
    async fn insert_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO sessions (token_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
            )
            .bind(&session.token_hash[..])
            .bind(&session.user_id)
            .bind(micros(session.created_at))
            .bind(micros(session.expires_at)),
        )
        .await?;
        Ok(())
    }

    async fn find_session(
        &mut self,
        token_hash: &[u8; 32],
    ) -> Result<Option<(SessionRow, UserRow)>, StoreError> {
        let row = self
            .optional(
                sqlx::query(concat!(
                    "SELECT ",
                    columns!("sessions": "token_hash", "user_id", "created_at", "expires_at"),
                    ", ",
                    user_columns!(),
                    " FROM sessions JOIN users ON users.id = sessions.user_id WHERE sessions.token_hash = $1"
                ))
                .bind(&token_hash[..]),
            )
            .await?;
        row.as_ref().map(|row| Ok((read_session(row)?, read_user(row)?))).transpose()
    }

    async fn confirm_session(&mut self, token_hash: &[u8; 32], at: DateTime<Utc>) -> Result<(), StoreError> {
        let statement = sqlx::query("UPDATE sessions SET created_at = $2 WHERE token_hash = $1");
        self.execute(statement.bind(&token_hash[..]).bind(micros(at))).await?;
        Ok(())
    }

    async fn delete_session(&mut self, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        self.execute(sqlx::query("DELETE FROM sessions WHERE token_hash = $1").bind(&token_hash[..])).await?;
        Ok(())
    }

    async fn delete_sessions_of(&mut self, user_id: &str) -> Result<(), StoreError> {
        self.execute(sqlx::query("DELETE FROM sessions WHERE user_id = $1").bind(user_id)).await?;
        Ok(())
    }

    async fn delete_sessions_expired_at(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute(sqlx::query("DELETE FROM sessions WHERE expires_at <= $1").bind(micros(now))).await?;
        Ok(())
    }
}
