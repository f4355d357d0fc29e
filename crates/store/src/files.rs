//! The files around a database: what only their owner may read, and the lock.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file for writing without changing what is in it. A new one can be read by its owner only: it holds
/// hashes of passwords. `SQLite` gives the files that it puts beside a database the mode of the database.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Takes the lock on a file, without waiting. It is held until the returned file is closed, also by the end of the
/// process, however that comes.
pub(crate) fn lock(path: &Path) -> Result<File, TryLockError> {
    let file = open_private(path).map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Puts a finished file in its place, so that a loss of power leaves either all of it or nothing.
pub(crate) fn put_in_place(partial: &Path, path: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    fs::rename(partial, path)?;
    // The folder holds the name.
    #[cfg(unix)]
    File::open(folder_of(path))?.sync_all()?;
    Ok(())
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The path with more at the end of the file's name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
