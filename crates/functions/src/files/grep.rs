//! `grep`: lines that match a regular expression.

mod pattern;
mod search;

use std::io::Read as _;
use std::path::Path;

use cap_std::fs::Dir;
use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use self::search::{MAX_LINE, Output, search};
use super::glob::{Matcher, hundred, matcher};
use super::list::here;
use super::path::{quoted, quoted_path, relative};
use super::walk::{canonical, walk};
use super::{open, sniff};
use crate::Workspaces;
use crate::blocking::{UntilCancelled, blocking, go_on};
use crate::units::{bytes, counted};

/// The largest file that is searched. Larger ones are data and not text that somebody wrote.
const MAX_FILE: u64 = 10_000_000;
/// The most bytes that one call searches.
const MAX_TOTAL: u64 = 500_000_000;

const DESCRIPTION: &str = "Searches the files of the workspace for lines that match a regular expression (Rust \
syntax: no look-around and no back-references). Returns path:line:text for each match, the most recently changed \
files first; lines around a match are path-line-text. Long lines are cut, and only their first 64 KiB are searched. \
Hidden files are searched; links, binary files, files above 10 MB, .git and what .gitignore files name are not, \
unless path names them.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The regular expression, such as `fn \w+_test`. It is applied to each line alone.
    #[schemars(length(min = 1, max = 1_000))]
    pattern: String,
    /// The folder or file to search, as a path relative to the workspace; `.` is the workspace itself.
    #[serde(default = "here")]
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Search only files whose path matches this pattern, such as `*.rs` (in every folder) or `src/**/*.rs`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 500))]
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    context: usize,
    /// Whether to return only the paths of files with a match.
    #[serde(default)]
    files_only: bool,
    /// The most matches, or paths, to return.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
}

pub(super) fn register(builder: RegistryBuilder, workspaces: &Workspaces) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("Search in files"),
        description: DESCRIPTION,
        max_result_chars: 20_000,
        ..super::spec("grep", workspaces)
    };
    let workspaces = workspaces.clone();
    builder.function(spec, move |context, arguments: Arguments| {
        let workspaces = workspaces.clone();
        blocking(move || grep(&super::workspace(&workspaces, &context)?, &arguments, &context.cancel))
    })
}

/// What was searched, and what was not.
#[derive(Default)]
struct Tally {
    searched: u64,
    bytes: u64,
    binary: u64,
    large: u64,
    unreadable: u64,
    too_many_bytes: bool,
}

/// One file's text.
enum Text {
    Lines(Vec<u8>),
    Binary(&'static str),
    Large,
}

fn grep(
    workspace: &Dir,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolReturn, FunctionError> {
    let regex = pattern::compile(&arguments.pattern, arguments.ignore_case)?;
    let filter = arguments.glob.as_deref().map(file_filter).transpose()?;
    let path = relative(&arguments.path)?;
    let mut output = Output::new(arguments);
    let mut tally = Tally::default();
    let mut notes = Vec::new();

    let is_file = workspace.metadata(&path).map_err(|error| open::failed(&path, &error))?.is_file();
    if is_file {
        if filter.is_some() {
            return Err(FunctionError::new(
                "A glob chooses among the files of a folder, and the path names a file.",
            ));
        }
        one_file(workspace, &path, &regex, &mut output, &mut tally, cancel)?;
    } else {
        let start = canonical(workspace, &path)?;
        let walked =
            walk(workspace, &start, cancel, |path| filter.as_ref().is_none_or(|glob| glob.is_match(path)))?;
        notes = walked.notes();
        for found in &walked.files {
            go_on(cancel)?;
            if output.is_full() {
                break;
            }
            if tally.bytes >= MAX_TOTAL {
                tally.too_many_bytes = true;
                break;
            }
            match load(workspace, &found.path, cancel) {
                Ok(Text::Lines(text)) => {
                    tally.searched += 1;
                    tally.bytes += text.len() as u64;
                    search(&regex, &found.path, &text, &mut output, cancel)?;
                }
                Ok(Text::Binary(_)) => tally.binary += 1,
                Ok(Text::Large) => tally.large += 1,
                Err(_) => {
                    go_on(cancel)?;
                    tally.unreadable += 1;
                }
            }
        }
    }
    Ok(result(arguments, &output, &tally, notes))
}

/// A pattern without a slash is about the name alone, in every folder.
fn file_filter(glob: &str) -> Result<Matcher, FunctionError> {
    if glob.contains('/') { matcher(glob) } else { matcher(&format!("**/{glob}")) }
}

/// Searches the one file that the caller names. What would be skipped in a folder is an error here.
fn one_file(
    workspace: &Dir,
    path: &Path,
    regex: &Regex,
    output: &mut Output<'_>,
    tally: &mut Tally,
    cancel: &CancellationToken,
) -> Result<(), FunctionError> {
    let shown = quoted_path(path);
    match load(workspace, path, cancel)? {
        Text::Lines(text) => {
            tally.searched = 1;
            search(regex, path, &text, output, cancel)
        }
        Text::Binary(kind) => Err(FunctionError::new(format!("{shown} is not a text file: it is {kind}."))),
        Text::Large => {
            let most = bytes(MAX_FILE);
            Err(FunctionError::new(format!(
                "{shown} is larger than {most}, the most that is searched in one file."
            )))
        }
    }
}

/// Reads a file of a size that can be searched.
fn load(workspace: &Dir, path: &Path, cancel: &CancellationToken) -> Result<Text, FunctionError> {
    let (file, metadata) = open::regular_file(workspace, path)?;
    if metadata.len() > MAX_FILE {
        return Ok(Text::Large);
    }
    let mut reader = UntilCancelled { inner: file, cancel };
    let mut text = Vec::new();
    let mut read = |most: u64, text: &mut Vec<u8>| {
        let result = reader.by_ref().take(most).read_to_end(text);
        result.map_err(|error| go_on(cancel).err().unwrap_or_else(|| open::failed(path, &error)))
    };
    read(sniff::PREFIX as u64, &mut text)?;
    if let Some(kind) = sniff::binary(&text) {
        return Ok(Text::Binary(kind));
    }
    // The file may have grown since its size was asked.
    read(MAX_FILE, &mut text)?;
    Ok(Text::Lines(text))
}

fn result(arguments: &Arguments, output: &Output<'_>, tally: &Tally, left_out: Vec<String>) -> ToolReturn {
    let searched = counted(tally.searched, "file", "files");
    let mut notes = Vec::new();
    if output.matches == 0 {
        notes.push(format!("No matches for {} in {searched}.", quoted(&arguments.pattern)));
    } else if arguments.files_only {
        notes.push(format!("{} with matches; {searched} searched.", counted(output.files, "file", "files")));
    } else {
        let matches = counted(output.matches, "matching line", "matching lines");
        notes.push(format!("{matches} in {}; {searched} searched.", counted(output.files, "file", "files")));
    }
    if output.is_full() {
        notes.push(
            "Stopped there, so there may be more; narrow the pattern, path or glob to see them.".to_owned(),
        );
    }
    if tally.too_many_bytes {
        notes.push(format!("Stopped after {}; choose a folder.", bytes(MAX_TOTAL)));
    }
    for (count, what) in [(tally.binary, "binary"), (tally.large, "large"), (tally.unreadable, "unreadable")]
    {
        if count > 0 {
            notes.push(format!(
                "Skipped {}.",
                counted(count, &format!("{what} file"), &format!("{what} files"))
            ));
        }
    }
    if output.long_lines {
        notes.push(format!("Of very long lines only the first {} KiB were searched.", MAX_LINE / 1024));
    }
    let complete = !output.is_full() && !tally.too_many_bytes && !output.long_lines && left_out.is_empty();
    notes.extend(left_out);
    let notes = notes.join(" ");
    let text = if output.matches == 0 { notes } else { format!("{}\n[{notes}]", output.text) };
    let data = json!({
        "matches": output.found,
        "matching_lines": output.matches,
        "matching_files": output.files,
        "searched_files": tally.searched,
        "complete": complete,
    });
    ToolReturn { text, data: Some(data), is_error: false, ..ToolReturn::default() }
}
