//! Workspaces: the folders in which users' files are.

use std::fmt;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _};

/// The most characters of a user id. Ids are UUIDs; this leaves room and stays below what a file name may have.
const MAX_ID: usize = 128;

const WELCOME_FILE: &str = "welcome.md";
const WELCOME: &str = "# Your workspace\n\n\
    The file functions `read`, `list`, `glob` and `grep` see this folder and nothing else.\n\
    Put files here to work on them, and delete this one when you like.\n";

/// The folder of all workspaces, one for each user.
///
/// Everything below is reached through handles of folders, never through paths of the whole machine, so a path
/// cannot lead out of the workspace that it is opened in.
#[derive(Clone)]
pub struct Workspaces {
    inner: Arc<Inner>,
}

struct Inner {
    /// Only to see whether the folder is still the one that is held.
    path: PathBuf,
    folder: Dir,
}

/// Says why a workspace is not there. The text names no path of the machine, because models and users read it.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The folder of all workspaces cannot be made or opened.
    #[error("the workspaces folder cannot be opened: {}", .0.kind())]
    Root(#[source] io::Error),
    /// The id is not a plain file name.
    #[error("the user id is not made of 1 to {MAX_ID} letters, digits, hyphens and underscores")]
    Id,
    /// The user's folder cannot be made or opened.
    #[error("the workspace cannot be opened: {}", .0.kind())]
    Workspace(#[source] io::Error),
}

impl Workspaces {
    /// Opens the folder of all workspaces, and makes it when it is absent, for nobody but the server.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(WorkspaceError::Root)?;
        let folder = Dir::open_ambient_dir(root, ambient_authority()).map_err(WorkspaceError::Root)?;
        Ok(Self { inner: Arc::new(Inner { path: root.to_owned(), folder }) })
    }

    /// Makes a user's workspace with a first file in it, unless there is one; returns where it is.
    ///
    /// A new workspace is not empty, so that the first search finds something and says where to put files.
    pub fn prepare(&self, user_id: &str) -> Result<PathBuf, WorkspaceError> {
        let is_new = self.inner.folder.symlink_metadata(user_id).is_err();
        let workspace = self.of(user_id)?;
        if is_new {
            workspace.write(WELCOME_FILE, WELCOME).map_err(WorkspaceError::Workspace)?;
        }
        Ok(self.inner.path.join(user_id))
    }

    /// Opens a user's workspace, and makes it when it is absent.
    pub fn of(&self, user_id: &str) -> Result<Dir, WorkspaceError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if user_id.is_empty() || user_id.len() > MAX_ID || !user_id.bytes().all(plain) {
            return Err(WorkspaceError::Id);
        }
        let folder = &self.inner.folder;
        let mut private = DirBuilder::new();
        private.mode(0o700);
        match folder.create_dir_with(user_id, &private) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(WorkspaceError::Workspace(error));
            }
            _ => {}
        }
        // A link in place of a workspace would make one user's workspace another's.
        folder.open_dir_nofollow(user_id).map_err(WorkspaceError::Workspace)
    }

    /// Says why the workspaces cannot be used now.
    pub(crate) fn check(&self) -> Result<(), String> {
        let unusable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "the workspaces folder is missing".to_owned(),
            io::ErrorKind::NotADirectory => "the workspaces folder is not a folder".to_owned(),
            kind => format!("the workspaces folder cannot be opened: {kind}"),
        };
        let named = Dir::open_ambient_dir(&self.inner.path, ambient_authority())
            .and_then(|folder| folder.dir_metadata())
            .map_err(unusable)?;
        let held = self.inner.folder.dir_metadata().map_err(unusable)?;
        if (named.dev(), named.ino()) == (held.dev(), held.ino()) {
            Ok(())
        } else {
            // Files written now would go to a folder that nobody finds again.
            Err("the workspaces folder was replaced; restart the server".to_owned())
        }
    }
}

impl fmt::Debug for Workspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspaces").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::{WorkspaceError, Workspaces};

    #[test]
    fn folders_are_made_for_nobody_else() {
        let data = tempfile::tempdir().unwrap();
        let root = data.path().join("workspaces");
        let workspaces = Workspaces::open(&root).unwrap();
        workspaces.of("0190-a_B").unwrap();
        for folder in [root.clone(), root.join("0190-a_B")] {
            assert_eq!(
                folder.metadata().unwrap().permissions().mode() & 0o777,
                0o700,
                "{}",
                folder.display()
            );
        }
        // A second time finds what is there.
        Workspaces::open(&root).unwrap().of("0190-a_B").unwrap();
    }

    #[test]
    fn only_plain_names_are_ids() {
        let data = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::open(data.path()).unwrap();
        for id in ["", ".", "..", "a/b", "/etc", "a\0b", "a.b", "ä", "a b", &"a".repeat(129)] {
            assert!(matches!(workspaces.of(id), Err(WorkspaceError::Id)), "{id:?}");
        }
    }

    #[test]
    fn a_link_or_a_file_is_no_workspace() {
        let data = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::open(data.path()).unwrap();
        workspaces.of("alice").unwrap();
        symlink("alice", data.path().join("bob")).unwrap();
        std::fs::write(data.path().join("carol"), "").unwrap();
        for id in ["bob", "carol"] {
            assert!(matches!(workspaces.of(id), Err(WorkspaceError::Workspace(_))), "{id}");
        }
    }

    #[test]
    fn the_root_must_be_a_folder() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Workspaces::open(&file).unwrap_err().to_string();
        assert!(!error.contains(data.path().to_str().unwrap()), "{error}");
    }

    #[test]
    fn the_check_notices_what_happens_to_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let root = data.path().join("workspaces");
        let workspaces = Workspaces::open(&root).unwrap();
        assert_eq!(workspaces.check(), Ok(()));
        std::fs::rename(&root, data.path().join("elsewhere")).unwrap();
        assert_eq!(workspaces.check(), Err("the workspaces folder is missing".to_owned()));
        std::fs::write(&root, "").unwrap();
        assert_eq!(workspaces.check(), Err("the workspaces folder is not a folder".to_owned()));
        std::fs::remove_file(&root).unwrap();
        std::fs::create_dir(&root).unwrap();
        assert!(workspaces.check().unwrap_err().contains("replaced"));
    }
}
