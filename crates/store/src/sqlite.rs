//! The store on `SQLite`.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::sqlite::SqlitePool;
use toolshelf_runtime::store::{Store, StoreError, UnitOfWork};

use crate::open::{MIGRATOR, OpenError, Opened, open};
use crate::stored::database;
use crate::unit::SqliteUnit;

/// How long closing waits for units of work that are still open.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A store in one `SQLite` file.
#[derive(Debug)]
pub struct SqliteStore {
    writer: SqlitePool,
    readers: SqlitePool,
    /// Held, not used: the operating system gives the lock back when the file is closed.
    _lock: File,
}

impl SqliteStore {
    /// Opens the database, creates it if there is none, and brings it up to date.
    ///
    /// The folder must exist. Beside the file come `<path>-wal` and `<path>-shm`, which belong to it, the lock
    /// `<path>.lock`, and `<path>.before-<migration>` when migrations are applied to a database that is in use:
    /// its state before them.
    pub async fn open(path: &Path) -> Result<SqliteStore, OpenError> {
        let Opened { writer, readers, lock } = open(path, &MIGRATOR).await?;
        Ok(SqliteStore { writer, readers, _lock: lock })
    }

    /// Closes the connections and moves everything from the log into the database file.
    ///
    /// Nothing committed is lost without it: the next opening reads the log. Therefore what goes wrong here is logged
    /// and not returned.
    pub async fn close(&self) {
        let closed = tokio::time::timeout(CLOSE_TIMEOUT, async {
            self.readers.close().await;
            if let Err(error) = self.checkpoint().await {
                tracing::warn!(%error, "the log of the database stays beside it until the next start");
            }
            self.writer.close().await;
        });
        if closed.await.is_err() {
            tracing::warn!("units of work were still open when the database was closed");
        }
    }

    async fn checkpoint(&self) -> Result<(), sqlx::Error> {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&self.writer).await?;
        Ok(())
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        // A transaction that begins as a reader and then writes can fail half-way; this one has the right to write
        // from its first statement on.
        let transaction = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(database)?;
        Ok(Box::new(SqliteUnit::new(transaction)))
    }

    async fn read(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        let transaction = self.readers.begin().await.map_err(database)?;
        Ok(Box::new(SqliteUnit::new(transaction)))
    }
}

#[cfg(test)]
mod tests;
