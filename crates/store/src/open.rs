//! Opening a database: the file, the lock, the copy and the migrations.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{Connection, Sqlite};

use crate::files::{folder_of, lock, open_private, put_in_place, with_suffix};

/// What this version knows how to bring a database to.
pub(crate) static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// How long a statement waits for another process, such as an admin's `sqlite3` or a backup.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a unit of work waits for its turn. A request that waited this long is better refused.
const TURN_TIMEOUT: Duration = Duration::from_secs(30);

/// How many units of work may read at once.
const READERS: u32 = 4;

/// Says why a database could not be opened, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder does not exist.
    #[error("the data folder {} does not exist: create it, and let the user that runs the server write to it", .folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A file cannot be made or opened.
    #[error("cannot open {}: let the user that runs the server read and write it and its folder", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another server has the database open.
    #[error("{} is already in use by another server: stop that one, or give this one another data folder", .path.display())]
    InUse {
        /// The database file.
        path: PathBuf,
    },
    /// The file system cannot lock.
    #[error("cannot lock {}: put the data folder on a local disk", .path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// `SQLite` cannot use the file.
    #[error(
        "cannot use {} as a database: see that the disk is neither full nor read-only; \
         if the file is damaged or is no database, put a backup in its place",
        .path.display()
    )]
    Database {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A newer version has changed the database.
    #[error(
        "{} belongs to a newer version (it has migration {found}, this version knows migrations up to {known}): \
         start the newer version; or, to go back and lose what was written since, put {} in its place and remove \
         {} and {}",
        .path.display(), with_suffix(.path, &format!(".before-{found}")).display(),
        with_suffix(.path, "-wal").display(), with_suffix(.path, "-shm").display()
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The first migration that this version does not know.
        found: i64,
        /// The last migration that it knows.
        known: i64,
    },
    /// The copy before a migration failed. The database is as it was.
    #[error(
        "cannot copy the database to {} before migrating it: free as much space as the database takes, \
         and start again; nothing was changed",
        .path.display()
    )]
    Copy {
        /// Where the copy was to be.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A migration failed. Of that migration nothing was kept.
    #[error(
        "cannot migrate {}: see that the disk is not full, and start again; if that does not help, report it, \
         and start the version that you had (copies named {}* hold the states before migrations)",
        .path.display(), with_suffix(.path, ".before-").display()
    )]
    Migrate {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// An open database.
#[derive(Debug)]
pub(crate) struct Opened {
    /// One connection that writes.
    pub(crate) writer: SqlitePool,
    /// Connections that only read.
    pub(crate) readers: SqlitePool,
    /// Keeps other servers away while it is open.
    pub(crate) lock: File,
}

/// Opens the database and brings it to what the migrator knows.
pub(crate) async fn open(path: &Path, migrator: &Migrator) -> Result<Opened, OpenError> {
    let path = create(path)?;
    let lock = lock_database(&path)?;
    let writer = writer_options()
        .connect_with(connect_options(&path).journal_mode(SqliteJournalMode::Wal))
        .await
        .map_err(|source| OpenError::Database { path: path.clone(), source: source.into() })?;
    if let Err(error) = bring_up_to_date(&path, &writer, migrator).await {
        // The lock must not be given back before the connection is closed.
        writer.close().await;
        return Err(error);
    }
    let readers = reader_options().connect_lazy_with(connect_options(&path).pragma("query_only", "ON"));
    Ok(Opened { writer, readers, lock })
}

/// Creates the file if there is none. Returns the path without links, so that each way to name a database leads to
/// the same lock.
fn create(path: &Path) -> Result<PathBuf, OpenError> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(OpenError::NoFolder { folder: folder.to_owned() });
    }
    open_private(path)
        .and_then(|_| fs::canonicalize(path))
        .map_err(|source| OpenError::File { path: path.to_owned(), source })
}

fn lock_database(path: &Path) -> Result<File, OpenError> {
    let lock_path = with_suffix(path, ".lock");
    lock(&lock_path).map_err(|error| match error {
        TryLockError::WouldBlock => OpenError::InUse { path: path.to_owned() },
        TryLockError::Error(source) => OpenError::Lock { path: lock_path, source },
    })
}

fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        // With less, a commit in WAL mode is answered before the disk has it.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(64)
        // 1 MiB for each connection is plenty for a database that holds accounts and lists.
        .pragma("cache_size", "-1024")
        // Gives the space back after a large transaction made the log grow.
        .pragma("journal_size_limit", "8388608")
}

fn pool_options() -> PoolOptions<Sqlite> {
    // A connection to a local file does not go stale: none is tested or replaced for its age.
    SqlitePoolOptions::new()
        .acquire_timeout(TURN_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(|connection, _| {
            Box::pin(async move {
                // The answer comes after the rollback of a dropped unit of work.
                connection.ping().await?;
                // SQLite ends a transaction by itself on errors such as a full disk. The driver does not notice, its
                // own rollback fails, and it would refuse every later BEGIN on this connection: close it.
                Ok(!connection.is_in_transaction())
            })
        })
}

fn writer_options() -> PoolOptions<Sqlite> {
    pool_options().max_connections(1)
}

fn reader_options() -> PoolOptions<Sqlite> {
    pool_options().max_connections(READERS)
}

/// Applies the migrations that are missing, after making a copy.
async fn bring_up_to_date(path: &Path, writer: &SqlitePool, migrator: &Migrator) -> Result<(), OpenError> {
    let migrate_error =
        |source: MigrateError| OpenError::Migrate { path: path.to_owned(), source: source.into() };
    let mut connection = writer
        .acquire()
        .await
        .map_err(|source| OpenError::Database { path: path.to_owned(), source: source.into() })?;

    let applied = applied_migrations(&mut connection, migrator)
        .await
        .map_err(|source| OpenError::Database { path: path.to_owned(), source: source.into() })?;
    let known: BTreeSet<i64> = migrator.iter().map(|migration| migration.version).collect();
    if let Some(&found) = applied.difference(&known).next() {
        let known = known.last().copied().unwrap_or_default();
        return Err(OpenError::Newer { path: path.to_owned(), found, known });
    }
    if let Some(next) = known.difference(&applied).next()
        && !applied.is_empty()
    {
        let target = with_suffix(path, &format!(".before-{next}"));
        copy(&mut connection, &target)
            .await
            .map_err(|source| OpenError::Copy { path: target.clone(), source })?;
        tracing::info!(copy = %target.display(), "copied the database before migrating it");
    }
    migrator.run_direct(None, &mut *connection, false).await.map_err(migrate_error)
}

async fn applied_migrations(
    connection: &mut SqliteConnection,
    migrator: &Migrator,
) -> Result<BTreeSet<i64>, MigrateError> {
    connection.ensure_migrations_table(&migrator.table_name).await?;
    let applied = connection.list_applied_migrations(&migrator.table_name).await?;
    Ok(applied.into_iter().map(|migration| migration.version).collect())
}

/// Makes a consistent copy with all that is committed. An older copy under this name gives way: it was made before
/// the same migration, so a user who went back has worked on since.
async fn copy(connection: &mut SqliteConnection, target: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let partial = with_suffix(target, ".partial");
    if partial.exists() {
        fs::remove_file(&partial)?;
    }
    // SQLite fills an empty file and keeps its mode; a file that it makes itself could be read by everybody.
    drop(open_private(&partial)?);
    let name = partial.to_str().ok_or("the path is not UTF-8")?;
    let filled = sqlx::query("VACUUM INTO $1").bind(name).execute(&mut *connection).await;
    if let Err(error) = filled {
        // It may have filled the disk.
        fs::remove_file(&partial)?;
        return Err(error.into());
    }
    put_in_place(&partial, target)?;
    Ok(())
}

#[cfg(test)]
mod tests;
