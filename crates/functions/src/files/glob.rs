//! `glob`: files by name.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cap_std::fs::Dir;
use globset::GlobBuilder;
use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use super::list::here;
use super::path::{on_a_line, quoted, relative};
use super::walk::{canonical, walk};
use crate::Workspaces;
use crate::blocking::blocking;
use crate::units::counted;

/// The most characters of the list, below the limit of the result.
const MAX_CHARS: usize = 28_000;

const DESCRIPTION: &str = "Finds files of the workspace by name. Returns their paths relative to the workspace, the \
most recently changed first. In a pattern, * is any part of one name, ** any number of folders, ? one character, \
[abc] one of these, and {a,b} either: **/*.rs finds Rust files in all folders, *.rs only in the folder itself. \
Hidden files are found; links, .git and what .gitignore files name are not, unless path names an ignored folder.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The pattern, relative to `path`, such as `**/*.rs`.
    #[schemars(length(min = 1, max = 500))]
    pattern: String,
    /// The folder to look in, as a path relative to the workspace; `.` is the workspace itself.
    #[serde(default = "here")]
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The most paths to return.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
}

pub(super) fn hundred() -> usize {
    100
}

pub(super) fn register(builder: RegistryBuilder, workspaces: &Workspaces) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("Find files"),
        description: DESCRIPTION,
        ..super::spec("glob", workspaces)
    };
    let workspaces = workspaces.clone();
    builder.function(spec, move |context, arguments: Arguments| {
        let workspaces = workspaces.clone();
        blocking(move || glob(&super::workspace(&workspaces, &context)?, &arguments, &context.cancel))
    })
}

/// How the library writes one byte that is no slash.
const ANY_BYTE: &str = "[^/]";

/// Matches paths relative to a folder.
pub(super) struct Matcher(Regex);

impl Matcher {
    pub(super) fn is_match(&self, path: &Path) -> bool {
        self.0.is_match(path.as_os_str().as_bytes())
    }
}

/// Reads a pattern for paths relative to a folder.
pub(super) fn matcher(pattern: &str) -> Result<Matcher, FunctionError> {
    let refuse = |reason: &str| FunctionError::new(format!("The pattern {} {reason}", quoted(pattern)));
    if pattern.starts_with('/') {
        return Err(refuse(
            "is absolute. Patterns are relative to the folder that is searched, such as **/*.rs.",
        ));
    }
    if pattern.split('/').any(|name| name == "..") {
        return Err(refuse("contains .., which matches nothing. Name the folder in path instead."));
    }
    let glob = GlobBuilder::new(pattern.trim_start_matches("./"))
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| refuse(&format!("is not valid: {}.", error.kind())))?;
    // The library's own matcher takes ? for one byte, and here it is one character.
    let mut parts = glob.regex().split(ANY_BYTE);
    let mut expression = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        expression.push_str(if part.starts_with('*') { ANY_BYTE } else { "(?u:[^/])" });
        expression.push_str(part);
    }
    Regex::new(&expression).map(Matcher).map_err(|_| refuse("is too large."))
}

fn glob(
    workspace: &Dir,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolReturn, FunctionError> {
    let matcher = matcher(&arguments.pattern)?;
    let start = canonical(workspace, &relative(&arguments.path)?)?;
    let walked = walk(workspace, &start, cancel, |path| matcher.is_match(path))?;

    let mut text = String::new();
    let mut chars = 0;
    let mut paths = Vec::new();
    for found in walked.files.iter().take(arguments.limit) {
        let row = on_a_line(&found.path);
        chars += row.chars().count() + 1;
        if chars > MAX_CHARS {
            break;
        }
        text.push_str(&row);
        text.push('\n');
        paths.push(found.path.to_string_lossy().into_owned());
    }
    let total = walked.files.len();
    let mut notes = match (total, paths.len()) {
        (0, _) => vec![format!("No files match {}.", quoted(&arguments.pattern))],
        (total, shown) if shown < total => vec![format!(
            "The newest {shown} of {}. Narrow the pattern or raise the limit to see the others.",
            counted(total as u64, "file", "files")
        )],
        _ => vec![format!("{}.", counted(total as u64, "file", "files"))],
    };
    let left_out = walked.notes();
    let complete = paths.len() == total && left_out.is_empty();
    notes.extend(left_out);
    let notes = notes.join(" ");
    let text = if total == 0 { notes } else { format!("{text}\n[{notes}]") };
    let data = json!({"paths": paths, "total": total, "complete": complete});
    Ok(ToolReturn { text, data: Some(data), is_error: false, ..ToolReturn::default() })
}
