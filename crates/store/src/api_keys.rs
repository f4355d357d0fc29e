//! API keys.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{ApiKeyRow, ApiKeys, StoreError, UserRow};

use crate::accounts::{read_user, user_columns};
use crate::columns::columns;
use crate::stored::{Stored, micros};
use crate::unit::SqliteUnit;

/// The columns that [`read_api_key`] reads.
macro_rules! api_key_columns {
    () => {
        columns!(
            "api_keys": "id", "user_id", "name", "token_hash", "scopes", "pinned", "expires_at", "created_at",
            "revoked_at"
        )
    };
}

/// Keys with the names of their owners, up to the condition.
macro_rules! select_with_owner {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            api_key_columns!(),
            ", ",
            columns!("users": "id", "username"),
            " FROM api_keys JOIN users ON users.id = api_keys.user_id ",
            $rest
        )
    };
}

fn read_api_key(row: &SqliteRow) -> Result<ApiKeyRow, StoreError> {
    let stored = Stored::new(row, &["api_keys.id"]);
    let scopes = stored.get("api_keys.scopes")?;
    Ok(ApiKeyRow {
        id: stored.get("api_keys.id")?,
        user_id: stored.get("api_keys.user_id")?,
        name: stored.get("api_keys.name")?,
        token_hash: stored.hash("api_keys.token_hash")?,
        scopes: serde_json::from_str(scopes).map_err(|error| stored.damaged("api_keys.scopes", error))?,
        pinned: stored.get("api_keys.pinned")?,
        expires_at: stored.time_or_none("api_keys.expires_at")?,
        created_at: stored.time("api_keys.created_at")?,
        revoked_at: stored.time_or_none("api_keys.revoked_at")?,
    })
}

fn read_with_owner(row: &SqliteRow) -> Result<(ApiKeyRow, String), StoreError> {
    let owner = Stored::new(row, &["users.id"]).get("users.username")?;
    Ok((read_api_key(row)?, owner))
}

#[async_trait]
impl ApiKeys for SqliteUnit {
    async fn insert_api_key(&mut self, key: &ApiKeyRow) -> Result<(), StoreError> {
        let scopes =
            serde_json::to_string(&key.scopes).map_err(|error| StoreError::Database(Box::new(error)))?;
        self.execute(
            sqlx::query(
                "INSERT INTO api_keys (id, user_id, name, token_hash, scopes, pinned, expires_at, created_at, \
                 revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            )
            .bind(&key.id)
            .bind(&key.user_id)
            .bind(&key.name)
            .bind(&key.token_hash[..])
            .bind(scopes)
            .bind(&key.pinned)
            .bind(key.expires_at.map(micros))
            .bind(micros(key.created_at))
            .bind(key.revoked_at.map(micros)),
        )
        .await?;
        Ok(())
    }

    async fn find_api_key_by_token(
        &mut self,
        token_hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRow, UserRow)>, StoreError> {
        let row = self
            .optional(
                sqlx::query(concat!(
                    "SELECT ",
                    api_key_columns!(),
                    ", ",
                    user_columns!(),
                    " FROM api_keys JOIN users ON users.id = api_keys.user_id WHERE api_keys.token_hash = $1"
                ))
                .bind(&token_hash[..]),
            )
            .await?;
        row.as_ref().map(|row| Ok((read_api_key(row)?, read_user(row)?))).transpose()
    }

    async fn find_api_key(&mut self, id: &str) -> Result<Option<(ApiKeyRow, String)>, StoreError> {
        let row = self.optional(sqlx::query(select_with_owner!("WHERE api_keys.id = $1")).bind(id)).await?;
        row.as_ref().map(read_with_owner).transpose()
    }

    async fn list_api_keys(&mut self, user_id: Option<&str>) -> Result<Vec<(ApiKeyRow, String)>, StoreError> {
        let statement = match user_id {
            Some(user_id) => sqlx::query(select_with_owner!(
                "WHERE api_keys.user_id = $1 ORDER BY api_keys.created_at DESC, api_keys.id DESC"
            ))
            .bind(user_id),
            None => sqlx::query(select_with_owner!("ORDER BY api_keys.created_at DESC, api_keys.id DESC")),
        };
        self.all(statement).await?.iter().map(read_with_owner).collect()
    }

    async fn repoint_api_keys(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE api_keys SET pinned = $1 WHERE pinned = $2");
        self.execute(query.bind(to).bind(from)).await?;
        Ok(())
    }

    async fn revoke_api_key(&mut self, id: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute(
            sqlx::query("UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL")
                .bind(micros(at))
                .bind(id),
        )
        .await?;
        Ok(())
    }
}
