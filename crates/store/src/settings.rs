//! What the workspace and each user set once.

use async_trait::async_trait;
use toolshelf_runtime::store::{ActiveRow, Settings, StoreError};

use crate::stored::{Stored, signed};
use crate::unit::SqliteUnit;

#[async_trait]
impl Settings for SqliteUnit {
    async fn find_active_toolset(&mut self) -> Result<Option<ActiveRow>, StoreError> {
        let row = self
            .optional(sqlx::query(
                "SELECT reference AS \"active_toolset.reference\", revision AS \"active_toolset.revision\" \
                 FROM active_toolset WHERE singleton = 1",
            ))
            .await?;
        row.as_ref()
            .map(|row| {
                let stored = Stored::new(row, &[]);
                Ok(ActiveRow {
                    reference: stored.get("active_toolset.reference")?,
                    revision: stored.number("active_toolset.revision")?,
                })
            })
            .transpose()
    }

    async fn put_active_toolset(&mut self, active: &ActiveRow) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO active_toolset (singleton, reference, revision) VALUES (1, $1, $2) \
                 ON CONFLICT (singleton) DO UPDATE SET reference = excluded.reference, revision = excluded.revision",
            )
            .bind(&active.reference)
            .bind(signed(active.revision)?),
        )
        .await?;
        Ok(())
    }

    async fn find_start_toolset(&mut self, user_id: &str) -> Result<Option<String>, StoreError> {
        let statement = sqlx::query(
            "SELECT user_id AS \"start_toolsets.user_id\", reference AS \"start_toolsets.reference\" \
             FROM start_toolsets WHERE user_id = $1",
        );
        let row = self.optional(statement.bind(user_id)).await?;
        row.as_ref()
            .map(|row| Stored::new(row, &["start_toolsets.user_id"]).get("start_toolsets.reference"))
            .transpose()
    }

    async fn put_start_toolset(&mut self, user_id: &str, reference: Option<&str>) -> Result<(), StoreError> {
        let statement = match reference {
            None => sqlx::query("DELETE FROM start_toolsets WHERE user_id = $1").bind(user_id),
            Some(reference) => sqlx::query(
                "INSERT INTO start_toolsets (user_id, reference) VALUES ($1, $2) \
                 ON CONFLICT (user_id) DO UPDATE SET reference = excluded.reference",
            )
            .bind(user_id)
            .bind(reference),
        };
        self.execute(statement).await?;
        Ok(())
    }

    async fn list_start_toolsets(&mut self) -> Result<Vec<(String, String)>, StoreError> {
        let statement = sqlx::query(
            "SELECT user_id AS \"start_toolsets.user_id\", reference AS \"start_toolsets.reference\" \
             FROM start_toolsets ORDER BY user_id",
        );
        let rows = self.all(statement).await?;
        rows.iter()
            .map(|row| {
                let stored = Stored::new(row, &["start_toolsets.user_id"]);
                Ok((stored.get("start_toolsets.user_id")?, stored.get("start_toolsets.reference")?))
            })
            .collect()
    }

    async fn repoint_start_toolsets(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        let statement = sqlx::query("UPDATE start_toolsets SET reference = $2 WHERE reference = $1");
        self.execute(statement.bind(from).bind(to)).await?;
        Ok(())
    }
}
