//! Searching one text line by line, and writing down what is found.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use regex::bytes::Regex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::FunctionError;

use super::Arguments;
use crate::blocking::go_on;
use crate::files::path::on_a_line;

/// The most characters of the matches, below the limit of the result, so that the counts at the end always fit.
const MAX_CHARS: usize = 18_500;
/// The most characters of a line.
const LINE_CHARS: usize = 400;
/// How many characters of a long line are shown before its match.
const BEFORE_MATCH: usize = 100;
/// The most bytes of a line that are searched. One line cannot be cancelled, so it has to end soon.
pub(super) const MAX_LINE: usize = 64 * 1024;
/// How many bytes are searched between two questions whether anybody still waits. Bytes and not lines,
/// because the time that a line takes grows with its length.
const BYTES_PER_QUESTION: usize = 64 * 1024;

/// What was found.
pub(super) struct Output<'a> {
    arguments: &'a Arguments,
    pub(super) text: String,
    chars: usize,
    /// Paths and numbers of what `text` shows.
    pub(super) found: Vec<Value>,
    /// How many lines match.
    pub(super) matches: u64,
    /// How many files have such a line.
    pub(super) files: u64,
    pub(super) long_lines: bool,
    full: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(arguments: &'a Arguments) -> Self {
        Self {
            arguments,
            text: String::new(),
            chars: 0,
            found: Vec::new(),
            matches: 0,
            files: 0,
            long_lines: false,
            full: false,
        }
    }

    /// Whether the limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Adds rows if there is room for all of them.
    fn add(&mut self, rows: &str) -> bool {
        let chars = rows.chars().count();
        // The first match is shown even if the lines around it are many.
        if self.chars > 0 && self.chars + chars > MAX_CHARS {
            self.full = true;
            return false;
        }
        self.chars += chars;
        self.text.push_str(rows);
        true
    }

    fn count(&mut self, entry: Value) {
        self.matches += 1;
        self.found.push(entry);
        if self.found.len() >= self.arguments.limit {
            self.full = true;
        }
    }
}

/// Searches a text, and stops when the output is full.
pub(super) fn search(
    regex: &Regex,
    path: &Path,
    text: &[u8],
    output: &mut Output<'_>,
    cancel: &CancellationToken,
) -> Result<(), FunctionError> {
    let name = on_a_line(path);
    let context = output.arguments.context;
    let mut before: VecDeque<(u64, &[u8])> = VecDeque::with_capacity(context);
    // How many lines after the last match are still to be shown.
    let mut after = 0;
    let mut last_shown = 0_u64;
    let mut any = false;
    let mut unasked = 0;
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n');
    for (number, line) in (1_u64..).zip(lines) {
        if text.is_empty() {
            break;
        }
        // An empty line is not free either.
        unasked += line.len() + 1;
        if unasked >= BYTES_PER_QUESTION {
            unasked = 0;
            go_on(cancel)?;
        }
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > MAX_LINE {
            output.long_lines = true;
            line = &line[..MAX_LINE];
        }
        let Some(found) = regex.find(line) else {
            if after > 0 {
                after -= 1;
                last_shown = number;
                if !output.add(&row(&name, number, '-', line, 0)) || (output.full && after == 0) {
                    return Ok(());
                }
            } else if context > 0 {
                if before.len() == context {
                    before.pop_front();
                }
                before.push_back((number, line));
            }
            continue;
        };
        // The limit was reached before this line; what remained were the lines after the last match.
        if output.full {
            return Ok(());
        }
        if output.arguments.files_only {
            if output.add(&format!("{name}\n")) {
                output.files += 1;
                output.count(json!({"path": path.to_string_lossy()}));
            }
            return Ok(());
        }
        let mut rows = String::new();
        let first = before.front().map_or(number, |(number, _)| *number);
        if context > 0 && output.chars > 0 && (!any || first > last_shown + 1) {
            rows.push_str("--\n");
        }
        for (number, line) in before.drain(..) {
            rows.push_str(&row(&name, number, '-', line, 0));
        }
        rows.push_str(&row(&name, number, ':', line, found.start()));
        if !output.add(&rows) {
            return Ok(());
        }
        output.files += u64::from(!any);
        any = true;
        last_shown = number;
        after = context;
        output.count(json!({"path": path.to_string_lossy(), "line": number}));
        if output.full && after == 0 {
            return Ok(());
        }
    }
    Ok(())
}

/// One row. Of a long line the part around the match is shown.
fn row(name: &str, number: u64, mark: char, line: &[u8], match_start: usize) -> String {
    let mut row = format!("{name}{mark}{number}{mark}");
    // Bytes far from the match are not even decoded. A character has at most four.
    let from = match_start.saturating_sub(BEFORE_MATCH * 4);
    let to = line.len().min(match_start + LINE_CHARS * 4);
    let text = String::from_utf8_lossy(&line[from..to]);
    let before = String::from_utf8_lossy(&line[from..match_start]).chars().count();
    let total = String::from_utf8_lossy(&line[match_start..to]).chars().count() + before;
    // A line that fits is shown whole; else it begins shortly before the match.
    let skipped = if from == 0 && total <= LINE_CHARS && to == line.len() {
        0
    } else {
        before.saturating_sub(BEFORE_MATCH)
    };
    let shown: String = text.chars().skip(skipped).take(LINE_CHARS).collect();
    let cut_before = from > 0 || skipped > 0;
    let cut_after = to < line.len() || total - skipped > LINE_CHARS;
    if cut_before {
        row.push('…');
    }
    row.push_str(&shown);
    if cut_after {
        row.push('…');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(row);
    row
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::super::{Arguments, pattern::compile};
    use super::{Output, search};

    /// The numbers of the lines that were found before a search that nobody waits for ended, and whether it ended
    /// early.
    fn abandoned(text: &str) -> (Vec<u64>, bool) {
        let arguments: Arguments = serde_json::from_value(json!({"pattern": "hit", "limit": 1_000})).unwrap();
        let regex = compile("hit", false).unwrap();
        let mut output = Output::new(&arguments);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let result = search(&regex, Path::new("a"), text.as_bytes(), &mut output, &cancel);
        let lines = output.found.iter().map(|found| found["line"].as_u64().unwrap()).collect();
        (lines, result.is_err())
    }

    #[test]
    fn a_search_ends_after_few_bytes_when_nobody_waits() {
        // Long lines are few, and each takes long.
        assert_eq!(abandoned(&format!("hit\n{}\nhit", "x".repeat(70_000))), (vec![1], true));
        // Short and empty lines count by their bytes too.
        assert_eq!(abandoned(&format!("hit{}hit", "\n".repeat(70_000))), (vec![1], true));
        // A text below the step is searched whole.
        assert_eq!(abandoned("hit\nhit\n"), (vec![1, 2], false));
    }
}
