//! The suite on `SQLite`, and what a file brings with it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use toolshelf_runtime::store::Store;
use toolshelf_store::{OpenError, SqliteStore};

use crate::conformance::samples::{at, conversation, user};
use crate::conformance::{Fresh, stamp};

/// A folder with a database that is open.
pub(crate) struct OnDisk {
    pub(crate) folder: TempDir,
    pub(crate) store: SqliteStore,
}

impl OnDisk {
    pub(crate) async fn new() -> OnDisk {
        let folder = TempDir::new().unwrap();
        let store = SqliteStore::open(&folder.path().join("toolshelf.db")).await.unwrap();
        OnDisk { folder, store }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("toolshelf.db")
    }
}

async fn fresh() -> Fresh<TempDir> {
    let OnDisk { folder, store } = OnDisk::new().await;
    Fresh { store: Arc::new(store), _guard: folder }
}

stamp!(crate::sqlite::fresh);

/// Commits something that [`assert_filled`] recognises.
async fn fill(store: &dyn Store) {
    let mut unit = store.begin().await.unwrap();
    unit.insert_user(&user("u1", "Anna")).await.unwrap();
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    unit.append_todos("c1", &["sow".to_owned()], at(1)).await.unwrap();
    assert_eq!(unit.raise_snapshot_revision().await.unwrap(), 1);
    unit.commit().await.unwrap();
}

async fn assert_filled(store: &dyn Store) {
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.list_users().await.unwrap(), [user("u1", "Anna")]);
    assert_eq!(unit.find_conversation("c1").await.unwrap(), Some(conversation("c1", "u1")));
    assert_eq!(unit.list_todos("c1").await.unwrap().len(), 1);
    assert_eq!(unit.snapshot_revision().await.unwrap(), 1);
}

#[tokio::test]
async fn what_is_committed_survives_closing() {
    let on_disk = OnDisk::new().await;
    fill(&on_disk.store).await;
    on_disk.store.close().await;
    let path = on_disk.path();
    let OnDisk { folder: _folder, store } = on_disk;
    drop(store);
    assert_filled(&SqliteStore::open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn what_is_committed_survives_a_kill() {
    let on_disk = OnDisk::new().await;
    fill(&on_disk.store).await;
    // What is on disk while another unit of work is half done is what a killed server leaves.
    let mut unfinished = on_disk.store.begin().await.unwrap();
    unfinished.insert_user(&user("u2", "Bert")).await.unwrap();

    let killed = TempDir::new().unwrap();
    for file in ["toolshelf.db", "toolshelf.db-wal"] {
        fs::copy(on_disk.folder.path().join(file), killed.path().join(file)).unwrap();
    }
    let path = killed.path().join("toolshelf.db");
    assert_filled(&SqliteStore::open(&path).await.unwrap()).await;
    // What was recovered lasts.
    assert_filled(&SqliteStore::open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn two_servers_do_not_share_a_database() {
    let on_disk = OnDisk::new().await;
    fill(&on_disk.store).await;
    let error = SqliteStore::open(&on_disk.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("toolshelf.db is already in use"), "{text}");
    assert_filled(&on_disk.store).await;
}
