//! Walking folders, and replacing one as a whole.

use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every file below a folder, relative to it, in a stable order.
///
/// Names that begin with a dot are left out, and so are `target` folders: editors and tools leave them behind. A
/// folder that does not exist has no files.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, Path::new(""), &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = below.join(&name);
        if !entry.path().is_dir() {
            files.push(path);
        } else if name != "target" {
            collect(root, &path, files)?;
        }
    }
    Ok(())
}

/// A folder in which the content of another one is prepared, so that nobody sees half of it.
pub(crate) struct WorkFolder(tempfile::TempDir);

impl WorkFolder {
    /// Makes an empty folder on the same file system as the folder that it will replace.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        let parent = target.parent().context("a folder to replace needs a parent")?;
        fs::create_dir_all(parent).with_context(|| format!("{} cannot be created", parent.display()))?;
        let folder = tempfile::Builder::new().prefix(".work-").tempdir_in(parent);
        folder.map(Self).with_context(|| format!("no folder can be made in {}", parent.display()))
    }

    /// Where to put the content.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes the place of `target`.
    ///
    /// A full folder cannot be renamed over another, so the old one is moved aside first and removed at the end.
    pub(crate) fn replace(self, target: &Path) -> Result<()> {
        let aside = Self::beside(target)?;
        if target.exists() {
            fs::rename(target, aside.path().join("old"))?;
        }
        make_readable(self.path())?;
        let prepared = self.0.keep();
        fs::rename(&prepared, target).with_context(|| format!("{} cannot be replaced", target.display()))
    }
}

/// Temporary folders are private to their owner; a folder that is published is not.
#[cfg(unix)]
fn make_readable(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn make_readable(_: &Path) -> Result<()> {
    Ok(())
}
