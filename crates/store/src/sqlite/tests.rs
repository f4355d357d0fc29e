use chrono::DateTime;
use tempfile::TempDir;
use toolshelf_runtime::store::{NewAudit, Store, StoreError, UnitOfWork};

use super::SqliteStore;

async fn open() -> (TempDir, SqliteStore) {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("toolshelf.db")).await.unwrap();
    (folder, store)
}

fn entry(detail: String) -> NewAudit {
    NewAudit {
        at: DateTime::UNIX_EPOCH,
        actor: None,
        key: None,
        action: "test.done",
        target: "test".to_owned(),
        detail,
    }
}

/// Lets the database of the writing connection grow by no page, as on a disk that is full.
async fn fill_disk(store: &SqliteStore) {
    let pages: i64 = sqlx::query_scalar("PRAGMA max_page_count = 1").fetch_one(&store.writer).await.unwrap();
    assert!(pages > 1, "the limit cannot be below what is in use");
}

/// Makes the unit fail with `SQLite` ending the transaction.
async fn overfill(unit: &mut dyn UnitOfWork) {
    let error = unit.append_audit(&entry("x".repeat(1_000_000))).await.unwrap_err();
    let StoreError::Database(source) = error else { panic!("{error:?}") };
    assert!(source.to_string().contains("full"), "{source}");
}

#[tokio::test]
async fn the_writer_recovers_after_the_disk_was_full() {
    let (_folder, store) = open().await;
    fill_disk(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.append_audit(&entry("small".to_owned())).await.unwrap();
    overfill(&mut *unit).await;
    drop(unit);

    // The connection of before would refuse this. The new one has no limit: the disk has room again.
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.count_audit().await.unwrap(), 0);
    unit.append_audit(&entry("after".to_owned())).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().count_audit().await.unwrap(), 1);
}

#[tokio::test]
async fn nothing_is_written_by_itself_after_a_unit_failed() {
    let (_folder, store) = open().await;
    fill_disk(&store).await;
    let mut unit = store.begin().await.unwrap();
    overfill(&mut *unit).await;

    // SQLite would take these, each as a transaction of its own.
    assert!(matches!(unit.append_audit(&entry("small".to_owned())).await, Err(StoreError::Database(_))));
    assert!(matches!(unit.raise_snapshot_revision().await, Err(StoreError::Database(_))));
    assert!(matches!(unit.commit().await, Err(StoreError::Database(_))));

    let mut reader = store.read().await.unwrap();
    assert_eq!(reader.count_audit().await.unwrap(), 0);
    assert_eq!(reader.snapshot_revision().await.unwrap(), 0);
}

#[tokio::test]
async fn closing_moves_the_log_into_the_file() {
    let (folder, store) = open().await;
    let mut unit = store.begin().await.unwrap();
    unit.append_audit(&entry("kept".to_owned())).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().count_audit().await.unwrap(), 1);

    store.close().await;
    assert!(!folder.path().join("toolshelf.db-wal").exists());
    assert!(matches!(store.begin().await, Err(StoreError::Database(_))));
    assert!(matches!(store.read().await, Err(StoreError::Database(_))));

    // Only the file itself is needed from here on.
    let elsewhere = TempDir::new().unwrap();
    let copied = elsewhere.path().join("toolshelf.db");
    std::fs::copy(folder.path().join("toolshelf.db"), &copied).unwrap();
    let store = SqliteStore::open(&copied).await.unwrap();
    assert_eq!(store.read().await.unwrap().count_audit().await.unwrap(), 1);
}
