//! The difference of two definitions, line by line.

use std::fmt::Write as _;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use toolshelf_api::{DiffChange, DiffLine};

/// The most lines of a difference. What is longer is read at the server.
const LINES_MAX: usize = 2_000;
/// The longest line, in characters.
const LINE_MAX: usize = 2_000;
/// How many lines that stay are shown around what changes.
const AROUND: usize = 3;

/// What would change. Without a definition before, everything comes.
pub(super) fn diff(before: Option<&str>, after: &str) -> Vec<DiffLine> {
    let (before, after) = (before.map(lines).unwrap_or_default(), lines(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut shown = Vec::new();
    let mut last = 0;
    for group in diff.grouped_ops(AROUND) {
        if let Some(first) = group.first()
            && first.old_range().start > last
        {
            shown.push(DiffLine { change: DiffChange::Skipped, text: String::new() });
        }
        for op in &group {
            last = op.old_range().end;
            for change in diff.iter_changes(op) {
                let kind = match change.tag() {
                    ChangeTag::Equal => DiffChange::Same,
                    ChangeTag::Delete => DiffChange::Removed,
                    ChangeTag::Insert => DiffChange::Added,
                };
                let text: String = change.value().trim_end_matches('\n').chars().take(LINE_MAX).collect();
                shown.push(DiffLine { change: kind, text });
            }
        }
    }
    if shown.len() > LINES_MAX {
        shown.truncate(LINES_MAX);
        shown.push(DiffLine { change: DiffChange::Skipped, text: String::new() });
    }
    shown
}

/// A definition as people read it: a member a line, in the order of names, with what cannot be seen spelled out.
fn lines(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return String::new() };
    value.sort_all_objects();
    let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
    let mut lines = String::with_capacity(pretty.len() + 1);
    for character in pretty.chars() {
        if toolshelf_core::is_invisible(character) || (character.is_control() && character != '\n') {
            let _ = write!(lines, "\\u{{{:04X}}}", u32::from(character));
        } else {
            lines.push(character);
        }
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use toolshelf_api::DiffChange;

    use super::diff;

    fn shown(before: Option<&str>, after: &str) -> Vec<String> {
        let mark = |change| match change {
            DiffChange::Same => ' ',
            DiffChange::Added => '+',
            DiffChange::Removed => '-',
            DiffChange::Skipped => '~',
        };
        diff(before, after).into_iter().map(|line| format!("{}{}", mark(line.change), line.text)).collect()
    }

    #[test]
    fn shows_what_comes_and_goes_with_what_stays_around_it() {
        let before = r#"{"name": "x", "description": "Reads."}"#;
        let after = r#"{"description": "Reads.\u202e", "name": "x"}"#;
        assert_eq!(
            shown(Some(before), after),
            [
                " {",
                "-  \"description\": \"Reads.\",",
                "+  \"description\": \"Reads.\\u{202E}\",",
                "   \"name\": \"x\"",
                " }"
            ]
        );
        assert_eq!(shown(None, r#"{"name": "x"}"#), ["+{", "+  \"name\": \"x\"", "+}"]);
        assert!(shown(Some(before), before).is_empty());
    }
}
