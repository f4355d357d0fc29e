//! What `.gitignore` files leave out.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::open;

/// The most bytes of a `.gitignore`. A longer one is not a list of patterns that somebody wrote.
const MAX_BYTES: u64 = 64 * 1024;

/// The rules that hold in a folder: its own and those of the folders above, up to the workspace.
#[derive(Clone, Default)]
pub(super) struct Ignored(Option<Arc<Rules>>);

struct Rules {
    /// The folder whose rules these are, relative to the workspace.
    base: PathBuf,
    own: Gitignore,
    above: Ignored,
}

impl Ignored {
    /// The rules of every folder from the workspace to this one. The path has neither links nor `..`.
    pub(super) fn to(workspace: &Dir, path: &Path) -> Self {
        let mut rules = Self::default().with(workspace, Path::new(""));
        let mut base = PathBuf::new();
        for name in path.components() {
            base.push(name);
            if let Ok(folder) = workspace.open_dir(&base) {
                rules = rules.with(&folder, &base);
            }
        }
        rules
    }

    /// The rules that hold in a folder below. A `.gitignore` that cannot be read or understood ignores nothing, as
    /// in git.
    pub(super) fn with(&self, folder: &Dir, base: &Path) -> Self {
        let read = || {
            let (file, _) = open::regular_file(folder, Path::new(".gitignore")).ok()?;
            let mut text = Vec::new();
            file.take(MAX_BYTES + 1).read_to_end(&mut text).ok()?;
            if text.len() as u64 > MAX_BYTES {
                return None;
            }
            let mut builder = GitignoreBuilder::new(".");
            for line in String::from_utf8_lossy(&text).lines() {
                // A line that is no pattern does not spoil the others.
                let _ = builder.add_line(None, line);
            }
            builder.build().ok().filter(|rules| !rules.is_empty())
        };
        match read() {
            Some(own) => Self(Some(Arc::new(Rules { base: base.to_owned(), own, above: self.clone() }))),
            None => self.clone(),
        }
    }

    /// Whether the path, relative to the workspace, is left out. The nearest rule decides.
    pub(super) fn contains(&self, path: &Path, is_folder: bool) -> bool {
        let mut at = self;
        while let Some(rules) = &at.0 {
            if let Ok(below) = path.strip_prefix(&rules.base) {
                match rules.own.matched(below, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            at = &rules.above;
        }
        false
    }
}
