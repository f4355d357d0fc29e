//! What user names, passwords and other short texts must be.

use toolshelf_api::FieldError;
use toolshelf_core::is_invisible;

use crate::error::ServiceError;

/// Collects what is wrong with the fields of a request, so that all of it is reported at once.
#[derive(Default)]
pub(crate) struct Fields {
    errors: Vec<FieldError>,
}

impl Fields {
    pub(crate) fn refuse(&mut self, pointer: &str, message: impl Into<String>) {
        self.errors.push(FieldError { pointer: pointer.to_owned(), message: message.into() });
    }

    pub(crate) fn username(&mut self, pointer: &str, username: &str) {
        let length = username.chars().count();
        let allowed = |character: char| {
            character.is_alphanumeric() && !is_invisible(character) || matches!(character, '.' | '_' | '-')
        };
        if !(1..=64).contains(&length) || !username.chars().all(allowed) || username.starts_with('.') {
            self.refuse(pointer, "Use 1 to 64 letters, digits, '.', '_' or '-', and do not start with '.'.");
        }
    }

    pub(crate) fn password(&mut self, pointer: &str, password: &str) {
        if password.chars().count() < 12 || password.len() > 1024 {
            self.refuse(pointer, "Use at least 12 characters, and at most 1,024 bytes.");
        }
    }

    /// A text of one line for people to read.
    pub(crate) fn line(&mut self, pointer: &str, text: &str, max: usize) {
        let length = text.chars().count();
        if !(1..=max).contains(&length) {
            self.refuse(pointer, format!("Use 1 to {max} characters."));
        } else if text.chars().any(|character| character.is_control() || is_invisible(character)) {
            self.refuse(pointer, "Use one line without control characters.");
        }
    }

    /// What is wrong so far.
    pub(crate) fn take(self) -> Vec<FieldError> {
        self.errors
    }

    pub(crate) fn finish(self) -> Result<(), ServiceError> {
        if self.errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(self.errors)) }
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;
    use crate::error::ServiceError;

    fn refused(check: impl FnOnce(&mut Fields)) -> bool {
        let mut fields = Fields::default();
        check(&mut fields);
        matches!(fields.finish(), Err(ServiceError::Invalid(_)))
    }

    #[test]
    fn user_names() {
        for name in ["ada", "Ada.Lovelace", "李雷", "a", "a_b-c9", &"x".repeat(64)] {
            assert!(!refused(|fields| fields.username("/username", name)), "{name}");
        }
        for name in ["", "a b", ".a", "a/b", "a\u{202E}b", "\u{3164}", "\u{1160}x", "<b>", &"x".repeat(65)] {
            assert!(refused(|fields| fields.username("/username", name)), "{name:?}");
        }
    }

    #[test]
    fn passwords_have_12_characters_and_at_most_1024_bytes() {
        assert!(refused(|fields| fields.password("/password", "读读读读读读读读读读读")));
        assert!(!refused(|fields| fields.password("/password", "读读读读读读读读读读读读")));
        for (length, ok) in [(0, false), (11, false), (12, true), (1024, true), (1025, false)] {
            assert_eq!(!refused(|fields| fields.password("/password", &"x".repeat(length))), ok, "{length}");
        }
    }

    #[test]
    fn lines_hold_nothing_invisible() {
        for text in ["broken", "看不到", "a b"] {
            assert!(!refused(|fields| fields.line("/reason", text, 500)), "{text}");
        }
        for text in ["", "a\nb", "a\u{0007}", "a\u{202E}b", "\u{200B}", "\u{3164}", "\u{2800}", "\u{E0100}x"]
        {
            assert!(refused(|fields| fields.line("/reason", text, 500)), "{text:?}");
        }
    }
}
