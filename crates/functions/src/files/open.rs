//! Opening files and folders of a workspace.

use std::io;
use std::path::Path;

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::{Dir, File, FileType, FileTypeExt as _, Metadata, OpenOptions};
use toolshelf_runtime::FunctionError;

use super::path::{OUTSIDE, quoted_path};

/// Opens a regular file for reading.
///
/// What it is is asked of the opened handle: between a question to the path and the opening, the path may become
/// something else. Without waiting, because opening a pipe would wait for a writer that never comes.
pub(super) fn regular_file(folder: &Dir, path: &Path) -> Result<(File, Metadata), FunctionError> {
    let file = match folder.open_with(path, OpenOptions::new().read(true).nonblock(true)) {
        Ok(file) => file,
        Err(error) => {
            // A socket cannot even be opened. This question only words the error.
            let kind = folder.metadata(path).map(|metadata| metadata.file_type());
            return Err(match kind {
                Ok(kind) if !kind.is_file() => not_regular(path, kind),
                _ => failed(path, &error),
            });
        }
    };
    let metadata = file.metadata().map_err(|error| failed(path, &error))?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular(path, metadata.file_type())) }
}

/// Opens a folder.
pub(super) fn folder(parent: &Dir, path: &Path) -> Result<Dir, FunctionError> {
    parent.open_dir(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => FunctionError::new(format!("{} is not a folder.", quoted_path(path))),
        _ => failed(path, &error),
    })
}

/// The sentence for an error of the file system. It never says what is outside of the workspace, not even whether
/// something is there.
pub(super) fn failed(path: &Path, error: &io::Error) -> FunctionError {
    let shown = quoted_path(path);
    FunctionError::new(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{shown} does not exist in the workspace. Use list or glob to see what does.")
        }
        // The handle's own refusal is no error of the operating system and has no number.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => format!("{shown} {OUTSIDE}"),
        io::ErrorKind::PermissionDenied => format!("{shown} may not be read by the server."),
        io::ErrorKind::NotADirectory => format!("{shown} goes through something that is not a folder."),
        kind => format!("{shown} cannot be read: {kind}."),
    })
}

fn not_regular(path: &Path, kind: FileType) -> FunctionError {
    let shown = quoted_path(path);
    if kind.is_dir() {
        return FunctionError::new(format!(
            "{shown} is a folder, not a file. Use list to see what is in it."
        ));
    }
    let what = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    };
    FunctionError::new(format!("{shown} is {what}, not a regular file."))
}
