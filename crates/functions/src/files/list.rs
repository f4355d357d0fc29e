//! `list`: what is in a folder.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, FileType};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use super::open;
use super::path::{on_a_line, quoted_path, relative};
use crate::Workspaces;
use crate::blocking::{blocking, go_on};
use crate::units::{bytes, counted, thousands};

/// The most entries of all folders together that one call looks at.
const MAX_ENTRIES: usize = 50_000;
/// The most characters of the list, below the limit of the result.
const MAX_CHARS: usize = 28_000;

const DESCRIPTION: &str = "Lists what is in a folder of the workspace: folders first, then files with their sizes, \
and links, which are not followed. Hidden and ignored entries are listed too. With a depth above 1, folders are \
listed with what is in them, indented. Use glob to find files by name.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The folder, as a path relative to the workspace; `.` is the workspace itself.
    #[serde(default = "here")]
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// How many levels of folders to list.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5))]
    depth: usize,
    /// The most entries to return.
    #[serde(default = "entries")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
}

pub(super) fn here() -> String {
    ".".to_owned()
}

fn one() -> usize {
    1
}

fn entries() -> usize {
    200
}

pub(super) fn register(builder: RegistryBuilder, workspaces: &Workspaces) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("List folder"),
        description: DESCRIPTION,
        ..super::spec("list", workspaces)
    };
    let workspaces = workspaces.clone();
    builder.function(spec, move |context, arguments: Arguments| {
        let workspaces = workspaces.clone();
        blocking(move || list(&super::workspace(&workspaces, &context)?, &arguments, &context.cancel))
    })
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Folder,
    File,
    Link,
    Other,
}

impl Kind {
    fn of(kind: FileType) -> Self {
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::File => "file",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

struct Listing<'a> {
    arguments: &'a Arguments,
    cancel: &'a CancellationToken,
    text: String,
    chars: usize,
    entries: Vec<Value>,
    /// How many of each kind were listed.
    counts: [u64; 4],
    looked_at: usize,
    more: bool,
    too_many: bool,
    unreadable: u64,
}

impl Listing<'_> {
    /// Lists a folder and, as far as the depth goes, those in it.
    fn folder(&mut self, folder: &Dir, path: &Path, level: usize) -> Result<(), FunctionError> {
        let Ok(entries) = folder.entries() else {
            self.unreadable += 1;
            return Ok(());
        };
        let mut found: Vec<(Kind, OsString, Option<u64>)> = Vec::new();
        for entry in entries {
            go_on(self.cancel)?;
            self.looked_at += 1;
            if self.looked_at > MAX_ENTRIES {
                self.too_many = true;
                break;
            }
            match entry.and_then(|entry| entry.file_type().map(|kind| (entry, Kind::of(kind)))) {
                Ok((entry, kind)) => {
                    let size = (kind == Kind::File).then(|| entry.metadata().ok()).flatten();
                    found.push((kind, entry.file_name(), size.map(|metadata| metadata.len())));
                }
                Err(_) => self.unreadable += 1,
            }
        }
        found.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (kind, name, size) in found {
            go_on(self.cancel)?;
            let below = path.join(&name);
            if !self.add(kind, &name, &below, size, level) {
                self.more = true;
                return Ok(());
            }
            if kind == Kind::Folder && level + 1 < self.arguments.depth {
                match folder.open_dir_nofollow(&name) {
                    Ok(inner) => self.folder(&inner, &below, level + 1)?,
                    Err(_) => self.unreadable += 1,
                }
                if self.more {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds an entry, if there is room for it.
    fn add(&mut self, kind: Kind, name: &OsString, path: &Path, size: Option<u64>, level: usize) -> bool {
        let mut row = "  ".repeat(level);
        row.push_str(&on_a_line(Path::new(name)));
        // Writing to a string cannot fail.
        let _ = match (kind, size) {
            (Kind::Folder, _) => writeln!(row, "/"),
            (Kind::File, Some(size)) => writeln!(row, "  ({})", bytes(size)),
            (Kind::File, None) => writeln!(row),
            (Kind::Link, _) => writeln!(row, "  (link)"),
            (Kind::Other, _) => writeln!(row, "  (not a regular file)"),
        };
        let chars = row.chars().count();
        if self.entries.len() >= self.arguments.limit || self.chars + chars > MAX_CHARS {
            return false;
        }
        self.chars += chars;
        self.text.push_str(&row);
        self.counts[kind as usize] += 1;
        self.entries.push(json!({"path": path.to_string_lossy(), "type": kind.name(), "size": size}));
        true
    }
}

fn list(
    workspace: &Dir,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolReturn, FunctionError> {
    let path = relative(&arguments.path)?;
    let folder = open::folder(workspace, &path)?;
    let mut listing = Listing {
        arguments,
        cancel,
        text: String::new(),
        chars: 0,
        entries: Vec::new(),
        counts: [0; 4],
        looked_at: 0,
        more: false,
        too_many: false,
        unreadable: 0,
    };
    let base = if path == Path::new(".") { PathBuf::new() } else { path.clone() };
    listing.folder(&folder, &base, 0)?;

    let [folders, files, links, others] = listing.counts;
    let mut parts = vec![counted(folders, "folder", "folders"), counted(files, "file", "files")];
    if links > 0 {
        parts.push(counted(links, "link", "links"));
    }
    if others > 0 {
        parts.push(counted(others, "other entry", "other entries"));
    }
    let mut notes = vec![format!("{}.", parts.join(", "))];
    if listing.more {
        notes.push("There is more; choose a folder, a smaller depth or a higher limit.".to_owned());
    }
    if listing.too_many {
        notes.push(format!("Only the first {} entries were looked at.", thousands(MAX_ENTRIES as u64)));
    }
    if listing.unreadable > 0 {
        notes.push(format!("{} could not be read.", counted(listing.unreadable, "entry", "entries")));
    }
    let shown = if path == Path::new(".") { "The workspace".to_owned() } else { quoted_path(&path) };
    let text = if listing.entries.is_empty() && !listing.more && !listing.too_many && listing.unreadable == 0
    {
        format!("{shown} is empty.")
    } else {
        format!("{}\n[{}]", listing.text, notes.join(" "))
    };
    let data = json!({
        "path": arguments.path,
        "entries": listing.entries,
        "folders": folders,
        "files": files,
        "links": links,
        "others": others,
        "complete": !listing.more && !listing.too_many && listing.unreadable == 0,
    });
    Ok(ToolReturn { text, data: Some(data), is_error: false, ..ToolReturn::default() })
}
