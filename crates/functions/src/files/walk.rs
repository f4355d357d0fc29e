//! Walking through folders.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use cap_std::time::SystemTime;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::FunctionError;

use super::ignored::Ignored;
use super::open;
use crate::blocking::go_on;
use crate::units::thousands;

/// The most entries that one call looks at.
const MAX_ENTRIES: u64 = 100_000;
/// How deep folders may be nested. Each level holds a handle.
const MAX_DEPTH: usize = 64;

/// A regular file.
pub(super) struct Found {
    /// Relative to the workspace.
    pub(super) path: PathBuf,
    modified: Option<SystemTime>,
}

/// What a walk found, the newest first.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) files: Vec<Found>,
    entries: u64,
    unreadable: u64,
    too_deep: bool,
}

impl Walked {
    /// What the walk left out, as sentences for the end of a result.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.entries >= MAX_ENTRIES {
            notes.push(format!(
                "Stopped after {} files and folders, so others were not looked at; choose a folder.",
                thousands(MAX_ENTRIES)
            ));
        }
        if self.too_deep {
            notes.push(format!("Folders nested deeper than {MAX_DEPTH} were not looked at."));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} could not be read.", thousands(self.unreadable)));
        }
        notes
    }
}

/// The folder of the workspace that a path names, without links and `..`, empty for the workspace itself.
pub(super) fn canonical(workspace: &Dir, path: &Path) -> Result<PathBuf, FunctionError> {
    let path = workspace.canonicalize(path).map_err(|error| open::failed(path, &error))?;
    Ok(if path == Path::new(".") { PathBuf::new() } else { path })
}

/// A folder during a walk.
struct Place {
    folder: Arc<Dir>,
    /// Relative to the workspace.
    path: PathBuf,
    ignored: Ignored,
    depth: usize,
}

/// Opens the next pending folder that can be opened.
fn open_next(pending: &mut Vec<(Arc<Dir>, PathBuf, Ignored, usize)>, walked: &mut Walked) -> Option<Place> {
    while let Some((parent, path, above, depth)) = pending.pop() {
        // A folder that became a link meanwhile is not followed, like every link.
        match path.file_name().and_then(|name| parent.open_dir_nofollow(name).ok()) {
            Some(folder) => {
                let ignored = above.with(&folder, &path);
                return Some(Place { folder: Arc::new(folder), path, ignored, depth });
            }
            None => walked.unreadable += 1,
        }
    }
    None
}

/// Finds the regular files below a folder that `wanted` accepts by their path relative to that folder.
///
/// Links are not followed, `.git` is left out, and so is what `.gitignore` files name, except for the folder itself:
/// who names an ignored folder means it.
pub(super) fn walk(
    workspace: &Dir,
    start: &Path,
    cancel: &CancellationToken,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Walked, FunctionError> {
    let top = if start.as_os_str().is_empty() { Path::new(".") } else { start };
    let first = Place {
        folder: Arc::new(open::folder(workspace, top)?),
        path: start.to_owned(),
        ignored: Ignored::to(workspace, start),
        depth: 0,
    };
    let mut walked = Walked::default();
    let mut current = Some(first);
    // Folders that are still to be opened in their parents. Depth first, so that few handles are open at once.
    let mut pending: Vec<(Arc<Dir>, PathBuf, Ignored, usize)> = Vec::new();
    while let Some(Place { folder, path, ignored, depth }) =
        current.take().or_else(|| open_next(&mut pending, &mut walked))
    {
        let Ok(entries) = folder.entries() else {
            walked.unreadable += 1;
            continue;
        };
        for entry in entries {
            go_on(cancel)?;
            if walked.entries >= MAX_ENTRIES {
                pending.clear();
                break;
            }
            walked.entries += 1;
            let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))
            else {
                walked.unreadable += 1;
                continue;
            };
            let name = entry.file_name();
            let below = path.join(&name);
            if name == OsStr::new(".git") || ignored.contains(&below, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                if depth + 1 >= MAX_DEPTH {
                    walked.too_deep = true;
                } else {
                    pending.push((Arc::clone(&folder), below, ignored.clone(), depth + 1));
                }
            } else if kind.is_file() && wanted(below.strip_prefix(start).unwrap_or(&below)) {
                let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                walked.files.push(Found { path: below, modified });
            }
        }
    }
    walked.files.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    Ok(walked)
}
