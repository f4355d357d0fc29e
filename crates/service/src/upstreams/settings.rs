//! What admins say about a server and its tools.

use toolshelf_api::{Change, FieldError, ServerSettings, ToolMarks, UpdateServerSettings};

use super::connection::escaped;

/// The most tools that marks are kept for.
const MARKED_MAX: usize = 5_000;

/// The settings after a change, or every field of the change that is wrong.
pub(super) fn merged(
    before: ServerSettings,
    change: UpdateServerSettings,
    pointer: &str,
) -> Result<ServerSettings, Vec<FieldError>> {
    let mut errors = Vec::new();
    let mut after = before;
    after.defer = change.defer.unwrap_or(after.defer);
    after.expose = change.expose.unwrap_or(after.expose);
    after.hold = change.hold.unwrap_or(after.hold);
    after.trust_annotations = change.trust_annotations.unwrap_or(after.trust_annotations);
    if let Some(channels) = change.unsafe_in {
        words(&channels, &format!("{pointer}/unsafe_in"), &mut errors);
        after.unsafe_in = channels;
    }
    if let Some(limits) = change.limits {
        for (member, value, least, most, message) in [
            ("call_timeout_seconds", limits.call_timeout_seconds, 1, 3_600, "Use 1 to 3,600 seconds."),
            (
                "max_result_chars",
                limits.max_result_chars,
                1_000,
                1_000_000,
                "Use 1,000 to 1,000,000 characters.",
            ),
        ] {
            if !(least..=most).contains(&value) {
                let pointer = format!("{pointer}/limits/{member}");
                errors.push(FieldError { pointer, message: message.to_owned() });
            }
        }
        after.limits = limits;
    }
    for (tool, change) in change.tools {
        let place = format!("{pointer}/tools/{}", escaped(&tool));
        match change {
            Change::Keep => {}
            Change::Clear => {
                after.tools.remove(&tool);
            }
            Change::Set(marks) => {
                if tool.is_empty() || tool.chars().count() > 256 {
                    let message = "This is no name of a tool at the server.".to_owned();
                    errors.push(FieldError { pointer: place.clone(), message });
                }
                if let Some(channels) = &marks.unsafe_in {
                    words(channels, &format!("{place}/unsafe_in"), &mut errors);
                }
                if let Some(presets) = &marks.toolsets {
                    words(presets, &format!("{place}/toolsets"), &mut errors);
                }
                if marks == ToolMarks::default() {
                    after.tools.remove(&tool);
                } else {
                    after.tools.insert(tool, marks);
                }
            }
        }
    }
    if after.tools.len() > MARKED_MAX {
        let message = format!("Marks are kept for at most {MARKED_MAX} tools.");
        errors.push(FieldError { pointer: format!("{pointer}/tools"), message });
    }
    if errors.is_empty() { Ok(after) } else { Err(errors) }
}

/// Names of channels or presets.
fn words(words: &[String], pointer: &str, errors: &mut Vec<FieldError>) {
    if words.len() > 50 {
        errors.push(FieldError { pointer: pointer.to_owned(), message: "Use at most 50.".to_owned() });
    }
    for (position, word) in words.iter().enumerate() {
        let valid = (1..=32).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !valid {
            let message = "Use 1 to 32 small letters, digits or '-', such as web or telegram.".to_owned();
            errors.push(FieldError { pointer: format!("{pointer}/{position}"), message });
        }
    }
}
