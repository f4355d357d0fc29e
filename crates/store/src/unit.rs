//! A unit of work: one transaction.

use async_trait::async_trait;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row, Sqlite, Transaction};
use toolshelf_runtime::store::{StoreError, UnitOfWork};

use crate::columns::columns;
use crate::stored::{Stored, database};

/// A statement with its parameters.
type Statement<'q> = Query<'q, Sqlite, SqliteArguments>;

/// A transaction. Dropping it rolls it back.
///
/// After a statement failed, the unit refuses all further ones. `SQLite` ends the whole transaction on some errors,
/// such as a full disk, and what came after would be committed by itself; `PostgreSQL` refuses on its own.
pub(crate) struct SqliteUnit {
    transaction: Transaction<'static, Sqlite>,
    failed: bool,
}

impl SqliteUnit {
    pub(crate) fn new(transaction: Transaction<'static, Sqlite>) -> Self {
        SqliteUnit { transaction, failed: false }
    }

    /// Runs a statement; returns how many rows it changed.
    pub(crate) async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        self.refuse_if_failed()?;
        let result = statement.execute(&mut *self.transaction).await;
        self.note(result).map(|done| done.rows_affected())
    }

    /// All rows of a query.
    pub(crate) async fn all(&mut self, statement: Statement<'_>) -> Result<Vec<SqliteRow>, StoreError> {
        self.refuse_if_failed()?;
        let result = statement.fetch_all(&mut *self.transaction).await;
        self.note(result)
    }

    /// The first row of a query.
    pub(crate) async fn optional(
        &mut self,
        statement: Statement<'_>,
    ) -> Result<Option<SqliteRow>, StoreError> {
        self.refuse_if_failed()?;
        let result = statement.fetch_optional(&mut *self.transaction).await;
        self.note(result)
    }

    /// The one number that an aggregate gives.
    pub(crate) async fn number(&mut self, statement: Statement<'_>) -> Result<i64, StoreError> {
        self.refuse_if_failed()?;
        let result = statement.fetch_one(&mut *self.transaction).await.and_then(|row| row.try_get(0));
        self.note(result)
    }

    /// The result of a `COUNT`.
    pub(crate) async fn count(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.number(statement).await?).expect("COUNT is never negative"))
    }

    fn refuse_if_failed(&self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Database("an earlier statement of this unit of work failed".into()));
        }
        Ok(())
    }

    fn note<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        result.map_err(|error| {
            self.failed = true;
            database(error)
        })
    }

    /// Reads the counter out of what a statement on its only row gave.
    fn revision(row: Option<&SqliteRow>) -> Result<u64, StoreError> {
        let row = row.ok_or_else(|| StoreError::Corrupt("snapshot_revision has no row".to_owned()))?;
        Stored::new(row, &["snapshot_revision.singleton"]).number("snapshot_revision.revision")
    }
}

#[async_trait]
impl UnitOfWork for SqliteUnit {
    async fn snapshot_revision(&mut self) -> Result<u64, StoreError> {
        let row = self
            .optional(sqlx::query(concat!(
                "SELECT ",
                columns!("snapshot_revision": "singleton", "revision"),
                " FROM snapshot_revision WHERE singleton = 1"
            )))
            .await?;
        Self::revision(row.as_ref())
    }

    async fn raise_snapshot_revision(&mut self) -> Result<u64, StoreError> {
        let row = self
            .optional(sqlx::query(concat!(
                "UPDATE snapshot_revision SET revision = revision + 1 WHERE singleton = 1 RETURNING ",
                columns!("snapshot_revision": "singleton", "revision"),
            )))
            .await?;
        Self::revision(row.as_ref())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.refuse_if_failed()?;
        self.transaction.commit().await.map_err(database)
    }
}
