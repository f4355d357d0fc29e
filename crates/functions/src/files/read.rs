//! `read`: the lines of a file.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};

use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{FunctionError, FunctionSpec, RegistryBuilder, ToolReturn};

use super::lines::{Line, next_line};
use super::path::{quoted_path, relative};
use super::{open, sniff};
use crate::Workspaces;
use crate::blocking::{UntilCancelled, blocking, go_on};
use crate::units::{bytes, counted, thousands};

/// How much of a file is read at all: a page far inside is found by reading to it, and that has to end.
const MAX_BYTES: u64 = 50_000_000;
/// The most characters of one page, below the limit of the result, so that the pipeline never cuts a page in two.
const PAGE_CHARS: usize = 25_000;
/// The most characters of a line.
const LINE_CHARS: usize = 2_000;

const DESCRIPTION: &str = "Reads a text file of the workspace. Returns its lines with their numbers, at most about \
25,000 characters at once, and says how many lines there are and at which offset to go on. Lines are cut after \
2,000 characters. Folders, binary files and what is beyond the first 50 MB of a file cannot be read.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file, as a path relative to the workspace, such as `notes/today.md`.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The number of the first line to return, counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    offset: u64,
    /// The most lines to return.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u64,
}

fn first() -> u64 {
    1
}

fn page() -> u64 {
    2_000
}

pub(super) fn register(builder: RegistryBuilder, workspaces: &Workspaces) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("Read file"),
        description: DESCRIPTION,
        ..super::spec("read", workspaces)
    };
    let workspaces = workspaces.clone();
    builder.function(spec, move |context, arguments: Arguments| {
        let workspaces = workspaces.clone();
        blocking(move || read(&super::workspace(&workspaces, &context)?, &arguments, &context.cancel))
    })
}

/// The page that is being filled.
#[derive(Default)]
struct Page {
    text: String,
    chars: usize,
    last_line: u64,
    cut_lines: bool,
    lossy: bool,
    /// The line at which to go on.
    next: Option<u64>,
}

impl Page {
    /// Adds a line if it fits; the first always does.
    fn add(&mut self, number: u64, line: &Line) {
        let mut kept = line.kept.as_slice();
        if number == 1 {
            kept = kept.strip_prefix(b"\xef\xbb\xbf").unwrap_or(kept);
        }
        // Where the bytes were cut inside of a character, the half of it is beyond the characters that are shown.
        let decoded = String::from_utf8_lossy(kept);
        let mut shown: String = decoded.chars().take(LINE_CHARS).collect();
        let lossy = shown.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(kept).is_err();
        let cut = line.chars.saturating_sub(LINE_CHARS as u64);
        if cut > 0 {
            // Writing to a string cannot fail.
            let _ = write!(shown, " [… {} more]", counted(cut, "character", "characters"));
        }
        let row = format!("{number}\t{shown}\n");
        let chars = row.chars().count();
        if self.chars > 0 && self.chars + chars > PAGE_CHARS {
            self.next = Some(number);
            return;
        }
        self.cut_lines |= cut > 0;
        self.lossy |= lossy;
        self.chars += chars;
        self.last_line = number;
        self.text.push_str(&row);
    }
}

fn read(
    workspace: &Dir,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolReturn, FunctionError> {
    let path = relative(&arguments.path)?;
    let shown = quoted_path(&path);
    let (file, metadata) = open::regular_file(workspace, &path)?;
    let failed = |error| go_on(cancel).err().unwrap_or_else(|| open::failed(&path, &error));
    // The file may grow while it is read, so what is read is limited and not what its size says.
    let limited = UntilCancelled { inner: file, cancel }.take(MAX_BYTES);
    let mut reader = BufReader::with_capacity(64 * 1024, limited);

    let prefix = reader.fill_buf().map_err(failed)?;
    if let Some(kind) = sniff::binary(prefix) {
        let size = bytes(metadata.len());
        return Err(FunctionError::new(format!("{shown} is not a text file: it is {kind} ({size}).")));
    }

    let mut page = Page::default();
    let mut line = Line::default();
    let mut number = 0_u64;
    let mut crlf = 0_u64;
    loop {
        let wanted = page.next.is_none() && number + 1 >= arguments.offset;
        // The most bytes of a character are four, and a byte order mark takes three.
        let keep = if wanted { LINE_CHARS * 4 + 3 } else { 0 };
        if !next_line(&mut reader, &mut line, keep).map_err(failed)? {
            break;
        }
        number += 1;
        crlf += u64::from(line.crlf);
        if !wanted {
            continue;
        }
        if number - arguments.offset >= arguments.limit {
            page.next = Some(number);
        } else {
            page.add(number, &line);
        }
    }
    // Whether there is more is asked of the file itself and not of the size that it had at the beginning.
    let limited = reader.get_ref();
    let beyond =
        limited.limit() == 0 && limited.get_ref().inner.metadata().map_err(failed)?.len() > MAX_BYTES;
    let lines = counted(number, "line", "lines");
    if number == 0 {
        let data = json!({"path": arguments.path, "lines": 0});
        return Ok(ToolReturn {
            text: format!("{shown} is empty."),
            data: Some(data),
            is_error: false,
            ..ToolReturn::default()
        });
    }
    if page.last_line == 0 {
        let reach = if beyond {
            format!("only the first {} of it can be read", bytes(MAX_BYTES))
        } else {
            "its last line is before that".to_owned()
        };
        return Err(FunctionError::new(format!(
            "{shown} has {lines}, so nothing can be read at offset {}: {reach}.",
            arguments.offset
        )));
    }

    let mut notes = Vec::new();
    if arguments.offset == 1 && page.next.is_none() {
        notes.push(format!("{lines} in all."));
    } else {
        notes.push(format!(
            "Lines {} to {} of {}.",
            thousands(arguments.offset),
            thousands(page.last_line),
            thousands(number)
        ));
    }
    if let Some(next) = page.next {
        notes.push(format!("Go on with offset {next}."));
    }
    if beyond {
        notes.push(format!("The file is larger; only its first {} can be read.", bytes(MAX_BYTES)));
    }
    if page.cut_lines {
        notes.push(format!("Lines longer than {} characters are cut.", thousands(LINE_CHARS as u64)));
    }
    if page.lossy {
        notes.push("The file is not all UTF-8; what is not is shown as \u{fffd}.".to_owned());
    }
    if crlf > 0 {
        let which = if crlf == number { "Lines end" } else { "Some lines end" };
        notes.push(format!("{which} in CRLF."));
    }
    let text = format!("{}\n[{}]", page.text, notes.join(" "));
    let data = json!({
        "path": arguments.path,
        "first_line": arguments.offset,
        "last_line": page.last_line,
        "lines": number,
        "next_offset": page.next,
        "complete": page.next.is_none() && !beyond,
    });
    Ok(ToolReturn { text, data: Some(data), is_error: false, ..ToolReturn::default() })
}
