//! The audit log.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{Audit, AuditRow, NewAudit, StoreError};

use crate::columns::columns;
use crate::stored::{Stored, micros};
use crate::unit::SqliteUnit;

fn read_entry(row: &SqliteRow) -> Result<AuditRow, StoreError> {
    let stored = Stored::new(row, &["audit.id"]);
    Ok(AuditRow {
        id: stored.get("audit.id")?,
        at: stored.time("audit.at")?,
        actor: stored.get("audit.actor")?,
        key: stored.get("audit.api_key")?,
        action: stored.get("audit.action")?,
        target: stored.get("audit.target")?,
        detail: stored.get("audit.detail")?,
    })
}

#[async_trait]
impl Audit for SqliteUnit {
    async fn append_audit(&mut self, entry: &NewAudit) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO audit (at, actor, api_key, action, target, detail) VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(micros(entry.at))
            .bind(&entry.actor)
            .bind(&entry.key)
            .bind(entry.action)
            .bind(&entry.target)
            .bind(&entry.detail),
        )
        .await?;
        Ok(())
    }

    async fn list_audit(&mut self, before: Option<i64>, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        let rows = self
            .all(
                sqlx::query(concat!(
                    "SELECT ",
                    columns!("audit": "id", "at", "actor", "api_key", "action", "target", "detail"),
                    " FROM audit WHERE audit.id < $1 ORDER BY audit.id DESC LIMIT $2"
                ))
                // No entry ever gets the largest id, so this bound leaves none out.
                .bind(before.unwrap_or(i64::MAX))
                .bind(i64::from(limit)),
            )
            .await?;
        rows.iter().map(read_entry).collect()
    }

    async fn count_audit(&mut self) -> Result<u64, StoreError> {
        self.count(sqlx::query("SELECT COUNT(*) FROM audit")).await
    }
}
