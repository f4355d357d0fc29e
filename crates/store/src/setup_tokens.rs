//! The token of the set-up link.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use toolshelf_runtime::store::{SetupTokens, StoreError};

use crate::columns::columns;
use crate::stored::{Stored, micros};
use crate::unit::SqliteUnit;

#[async_trait]
impl SetupTokens for SqliteUnit {
    async fn put_setup_token(
        &mut self,
        token_hash: &[u8; 32],
        expires_at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO setup_tokens (singleton, token_hash, expires_at) VALUES (1, $1, $2) \
                 ON CONFLICT (singleton) DO UPDATE \
                 SET token_hash = excluded.token_hash, expires_at = excluded.expires_at",
            )
            .bind(&token_hash[..])
            .bind(micros(expires_at)),
        )
        .await?;
        Ok(())
    }

    async fn find_setup_token(&mut self) -> Result<Option<([u8; 32], DateTime<Utc>)>, StoreError> {
        let row = self
            .optional(sqlx::query(concat!(
                "SELECT ",
                columns!("setup_tokens": "singleton", "token_hash", "expires_at"),
                " FROM setup_tokens"
            )))
            .await?;
        row.as_ref()
            .map(|row| {
                let stored = Stored::new(row, &["setup_tokens.singleton"]);
                Ok((stored.hash("setup_tokens.token_hash")?, stored.time("setup_tokens.expires_at")?))
            })
            .transpose()
    }

    async fn take_setup_token(&mut self, token_hash: &[u8; 32]) -> Result<bool, StoreError> {
        let taken = self
            .execute(sqlx::query("DELETE FROM setup_tokens WHERE token_hash = $1").bind(&token_hash[..]))
            .await?;
        Ok(taken == 1)
    }
}
