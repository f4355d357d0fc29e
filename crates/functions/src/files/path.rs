//! Paths as callers write them.

use std::path::{Path, PathBuf};

use toolshelf_runtime::FunctionError;

/// The most bytes of a path, as in Linux.
const MAX_PATH: usize = 4096;
/// The most bytes of one name in a path, as in Linux.
const MAX_NAME: usize = 255;
/// The most characters of a path that an error repeats.
const MAX_SHOWN: usize = 120;

/// Reads a path relative to the workspace. The empty path is not one, and `.` is the workspace itself.
///
/// This makes mistakes understandable; what keeps a path inside is the handle that it is opened with, because only
/// the file system knows where links lead. A backslash is a character like any other.
pub(super) fn relative(text: &str) -> Result<PathBuf, FunctionError> {
    let refuse = |reason: &str| Err(FunctionError::new(format!("{} {reason}", quoted(text))));
    if text.is_empty() {
        return Err(FunctionError::new("The path is empty. Use . for the workspace itself."));
    }
    if text.contains('\0') {
        return refuse("contains a NUL character, which no path may have.");
    }
    if text.len() > MAX_PATH {
        return refuse(&format!("is too long: a path has at most {MAX_PATH} bytes."));
    }
    if text.starts_with('/') {
        return refuse("is an absolute path. Use a path relative to the workspace, such as notes/today.md.");
    }
    let mut path = PathBuf::new();
    let mut depth = 0_usize;
    for name in text.split('/') {
        match name {
            "" | "." => continue,
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return refuse(OUTSIDE),
            },
            name if name.len() > MAX_NAME => {
                return refuse(&format!("has a name that is too long: a name has at most {MAX_NAME} bytes."));
            }
            _ => depth += 1,
        }
        path.push(name);
    }
    Ok(if path.as_os_str().is_empty() { PathBuf::from(".") } else { path })
}

/// What is said of a path that leaves the workspace, whatever may be there.
pub(super) const OUTSIDE: &str = "leads outside of the workspace.";

/// A path or pattern inside a sentence: in quotes, on one line, and not endless.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// A path inside a sentence.
pub(super) fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// A path on a line of a result. A name may contain line breaks and other controls; unescaped, it could forge lines or
/// turn around what is shown. The backslash is escaped as well, so that no two names look the same.
pub(super) fn on_a_line(path: &Path) -> String {
    let text = path.to_string_lossy();
    if !text.chars().any(must_be_escaped) {
        return text.into_owned();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if must_be_escaped(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Whether a character would break a line, change the direction of what follows, or look like an escape.
fn must_be_escaped(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\\' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{on_a_line, relative};

    #[test]
    fn paths_inside_are_cleaned() {
        for (text, path) in [
            (".", "."),
            ("./", "."),
            ("a", "a"),
            ("./a//b/", "a/b"),
            ("a/../b", "a/../b"),
            ("a\\b", "a\\b"),
            ("C:\\x", "C:\\x"),
            ("..a", "..a"),
            ("~", "~"),
        ] {
            assert_eq!(relative(text).unwrap(), Path::new(path), "{text:?}");
        }
    }

    #[test]
    fn paths_that_cannot_be_inside_are_refused() {
        let long_path = "a/".repeat(2049);
        let long_name = "a".repeat(256);
        for (text, reason) in [
            ("", "empty"),
            ("/etc/passwd", "absolute"),
            ("..", "outside"),
            ("../x", "outside"),
            ("a/../../x", "outside"),
            ("./..", "outside"),
            ("a\0b", "NUL"),
            (&long_path, "too long"),
            (&long_name, "too long"),
        ] {
            let error = relative(text).unwrap_err().to_string();
            assert!(error.contains(reason) && error.ends_with('.') && error.len() < 700, "{text:?}: {error}");
        }
    }

    #[test]
    fn a_name_cannot_forge_a_line() {
        assert_eq!(on_a_line(Path::new("a\nb.rs:1:x")), "a\\nb.rs:1:x");
        assert_eq!(on_a_line(Path::new("读/ä b")), "读/ä b");
        // What only looks like an escape is shown differently from what is one.
        assert_eq!(on_a_line(Path::new(r"a\nb")), r"a\\nb");
        for character in
            ['\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{1b}', '\u{85}']
        {
            let shown = on_a_line(Path::new(&format!("a{character}b")));
            assert_eq!(shown, format!("a\\u{{{:x}}}b", u32::from(character)));
        }
    }
}
