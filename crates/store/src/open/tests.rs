use std::fs::{self, read_dir};
use std::path::{Path, PathBuf};

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr};
use tempfile::TempDir;

use super::{MIGRATOR, OpenError, Opened, open};
use crate::files::with_suffix;

/// A version far after every real one.
const LATER: i64 = 99_990_101_000_000;

/// The migrator of a version that has one migration more.
fn with_one_more(sql: &'static str) -> Migrator {
    let more = Migration::new(LATER, "later".into(), MigrationType::Simple, sql.into_sql_str(), false);
    Migrator::with_migrations(MIGRATOR.iter().cloned().chain([more]).collect())
}

fn later() -> Migrator {
    with_one_more("ALTER TABLE tool_states ADD COLUMN note TEXT")
}

struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: TempDir::new().unwrap() }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("toolshelf.db")
    }

    fn copy(&self) -> PathBuf {
        with_suffix(&self.database(), &format!(".before-{LATER}"))
    }

    fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files
    }
}

async fn close(opened: Opened) {
    opened.readers.close().await;
    opened.writer.close().await;
}

async fn put_tool(opened: &Opened, name: &str) {
    sqlx::query("INSERT INTO tool_states (tool, revision) VALUES ($1, 1)")
        .bind(name)
        .execute(&opened.writer)
        .await
        .unwrap();
}

async fn tools(opened: &Opened) -> Vec<String> {
    sqlx::query_scalar("SELECT tool FROM tool_states ORDER BY tool").fetch_all(&opened.readers).await.unwrap()
}

async fn pragma(pool: &sqlx::SqlitePool, name: &str) -> String {
    let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn connections_are_set_for_durability_and_little_memory() {
    let folder = Folder::new();
    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();

    for pool in [&opened.writer, &opened.readers] {
        assert_eq!(pragma(pool, "journal_mode").await, "wal");
        assert_eq!(pragma(pool, "synchronous").await, "2", "2 is FULL");
        assert_eq!(pragma(pool, "foreign_keys").await, "1");
        assert_eq!(pragma(pool, "cache_size").await, "-1024");
    }
    assert_eq!(pragma(&opened.writer, "query_only").await, "0");
    assert_eq!(pragma(&opened.readers, "query_only").await, "1");
    assert_eq!(opened.writer.options().get_max_connections(), 1);
    assert_eq!(opened.readers.options().get_max_connections(), 4);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_any_of_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;
    let opened = open(&folder.database(), &later()).await.unwrap();
    put_tool(&opened, "time.now").await;

    let files = folder.files();
    let copy = format!("toolshelf.db.before-{LATER}");
    for file in ["toolshelf.db", "toolshelf.db-shm", "toolshelf.db-wal", "toolshelf.db.lock", copy.as_str()] {
        assert!(files.iter().any(|other| other == file), "{file} is not among {files:?}");
    }
    for file in &files {
        let mode = fs::metadata(folder.folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_database_in_use_is_copied_before_it_is_migrated() {
    let folder = Folder::new();
    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    put_tool(&opened, "time.now").await;
    close(opened).await;
    assert_eq!(folder.files(), ["toolshelf.db", "toolshelf.db.lock"], "a new database is not copied");

    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;
    assert_eq!(folder.files(), ["toolshelf.db", "toolshelf.db.lock"], "nothing to migrate, nothing to copy");

    // What is only in the log belongs to the copy too, so the database is not closed in good order.
    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    put_tool(&opened, "web.search").await;
    let killed = Folder::new();
    for file in ["toolshelf.db", "toolshelf.db-wal"] {
        fs::copy(folder.folder.path().join(file), killed.folder.path().join(file)).unwrap();
    }

    let opened = open(&killed.database(), &later()).await.unwrap();
    sqlx::query("SELECT note FROM tool_states").fetch_all(&opened.readers).await.unwrap();
    put_tool(&opened, "zip.pack").await;
    assert_eq!(tools(&opened).await, ["time.now", "web.search", "zip.pack"]);

    let copied = open(&killed.copy(), &MIGRATOR).await.unwrap();
    assert_eq!(tools(&copied).await, ["time.now", "web.search"]);
}

#[tokio::test]
async fn a_database_of_the_first_version_gets_profiles_and_loses_nothing() {
    let first = Migrator::with_migrations(MIGRATOR.iter().take(1).cloned().collect());
    let folder = Folder::new();
    let opened = open(&folder.database(), &first).await.unwrap();
    put_tool(&opened, "time.now").await;
    close(opened).await;

    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    assert_eq!(tools(&opened).await, ["time.now"]);
    for count in [
        "SELECT COUNT(*) FROM profiles",
        "SELECT COUNT(*) FROM profile_versions",
        "SELECT COUNT(*) FROM retired_names",
        "SELECT COUNT(*) FROM tool_sightings",
    ] {
        assert_eq!(
            sqlx::query_scalar::<_, i64>(count).fetch_one(&opened.readers).await.unwrap(),
            0,
            "{count}"
        );
    }
    close(opened).await;

    let copied = with_suffix(&folder.database(), ".before-20261201010000");
    assert_eq!(tools(&open(&copied, &first).await.unwrap()).await, ["time.now"]);
}

#[tokio::test]
async fn a_newer_copy_takes_the_place_of_an_older_one() {
    let folder = Folder::new();
    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;
    close(open(&folder.database(), &later()).await.unwrap()).await;

    // The user goes back, works on, and comes again.
    fs::rename(folder.copy(), folder.database()).unwrap();
    fs::write(folder.copy(), "old").unwrap();
    fs::write(with_suffix(&folder.copy(), ".partial"), "left by a server that was killed").unwrap();
    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    put_tool(&opened, "time.now").await;
    close(opened).await;
    close(open(&folder.database(), &later()).await.unwrap()).await;

    let copied = open(&folder.copy(), &MIGRATOR).await.unwrap();
    assert_eq!(tools(&copied).await, ["time.now"]);
    assert!(!folder.files().iter().any(|file| file.ends_with(".partial")));
}

#[tokio::test]
async fn a_copy_that_fails_stops_the_migration() {
    let folder = Folder::new();
    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;
    // A folder cannot be replaced by a file.
    fs::create_dir(folder.copy()).unwrap();

    let error = open(&folder.database(), &later()).await.unwrap_err();
    assert!(
        matches!(&error, OpenError::Copy { path, .. } if path.ends_with(folder.copy().file_name().unwrap()))
    );
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    open(&folder.database(), &MIGRATOR).await.unwrap();
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    let folder = Folder::new();
    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;

    let failing = with_one_more("CREATE TABLE half (id TEXT); INSERT INTO nowhere (id) VALUES ('1');");
    let error = open(&folder.database(), &failing).await.unwrap_err();
    assert!(matches!(error, OpenError::Migrate { .. }), "{error:?}");
    assert!(error.to_string().contains("toolshelf.db.before-*"), "{error}");

    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    assert_eq!(tools(&opened).await, Vec::<String>::new());
    let halves: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_master WHERE name = 'half'")
        .fetch_one(&opened.readers)
        .await
        .unwrap();
    assert_eq!(halves, 0);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    close(open(&folder.database(), &MIGRATOR).await.unwrap()).await;
    close(open(&folder.database(), &later()).await.unwrap()).await;
    let before = fs::read(folder.database()).unwrap();

    let error = open(&folder.database(), &MIGRATOR).await.unwrap_err();
    let last = MIGRATOR.iter().map(|migration| migration.version).max().unwrap();
    assert!(matches!(error, OpenError::Newer { found: LATER, known, .. } if known == last), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("start the newer version"), "{text}");
    assert!(text.contains(folder.copy().file_name().unwrap().to_str().unwrap()), "{text}");
    assert_eq!(fs::read(folder.database()).unwrap(), before);

    // It was let go, so the newer version can be started now.
    open(&folder.database(), &later()).await.unwrap();
}

#[tokio::test]
async fn a_migration_that_was_edited_is_noticed() {
    let folder = Folder::new();
    close(open(&folder.database(), &later()).await.unwrap()).await;

    let edited = with_one_more("ALTER TABLE tool_states ADD COLUMN remark TEXT");
    let error = open(&folder.database(), &edited).await.unwrap_err();
    assert!(matches!(error, OpenError::Migrate { .. }), "{error:?}");
}

#[tokio::test]
async fn one_database_has_one_server_by_whatever_name() {
    let folder = Folder::new();
    let opened = open(&folder.database(), &MIGRATOR).await.unwrap();
    let mut names = vec![
        folder.database(),
        folder.folder.path().join("..").join(folder.folder.path()).join("toolshelf.db"),
    ];
    #[cfg(unix)]
    {
        let link = folder.folder.path().join("link.db");
        std::os::unix::fs::symlink(folder.database(), &link).unwrap();
        names.push(link);
    }
    for name in names {
        let error = open(&name, &MIGRATOR).await.unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("toolshelf.db is already in use"), "{text}");
    }

    close(opened).await;
    open(&folder.database(), &MIGRATOR).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_opened_is_said_with_what_to_do() {
    let folder = Folder::new();

    let nowhere = folder.folder.path().join("missing").join("toolshelf.db");
    let error = open(&nowhere, &MIGRATOR).await.unwrap_err();
    assert!(matches!(error, OpenError::NoFolder { .. }), "{error:?}");
    assert!(error.to_string().contains("create it"), "{error}");
    assert!(!Path::new(&nowhere).exists());

    let error = open(folder.folder.path(), &MIGRATOR).await.unwrap_err();
    assert!(matches!(error, OpenError::File { .. }), "{error:?}");

    fs::write(folder.database(), "This is a letter and no database. ".repeat(100)).unwrap();
    let error = open(&folder.database(), &MIGRATOR).await.unwrap_err();
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
    assert!(error.to_string().contains("put a backup in its place"), "{error}");
}
