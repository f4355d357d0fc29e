//! Patterns over tools, as written in allow and deny lists.

use serde::{Deserialize, Serialize};

use crate::tool::Tool;

/// A pattern that names one tool or several.
///
/// A pattern is compared with each spelling of a tool (its name, `service:method`, `service/method`,
/// `service.method` and the canonical `service-method`) and never parsed into one of them, so boundaries count:
/// `system` does not match `systematic:x`. Letter case counts too.
///
/// | written | matches |
/// | --- | --- |
/// | `grep` | the tool with exactly this spelling |
/// | `*` | every tool |
/// | `files/*` | the service `files` and its sub-services |
/// | `files:*` | exactly the service `files` |
/// | `*_delete`, `github:get_*` | any spelling, with `*` for any text and `?` for one character |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
}

/// Says why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPattern {
    /// The text as given.
    pub text: String,
}

impl std::fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} is not a pattern: use a tool name, '*', 'service/*', 'service:*', or '*' and '?' inside a name \
             (letters, digits, '_', '-', '/', ':', '.', at most {MAX} characters)",
            self.text
        )
    }
}

impl std::error::Error for InvalidPattern {}

const MAX: usize = 200;

impl Pattern {
    /// Reads a pattern; surrounding white space is not part of it.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let trimmed = text.trim();
        let valid = !trimmed.is_empty()
            && trimmed.len() <= MAX
            && trimmed.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b':' | b'.' | b'*' | b'?')
            });
        if valid {
            Ok(Self { text: trimmed.to_owned() })
        } else {
            Err(InvalidPattern { text: text.to_owned() })
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern names this tool.
    pub fn matches(&self, tool: &Tool) -> bool {
        let text = self.text.as_str();
        if text == "*" {
            return true;
        }
        if let Some(service) = text.strip_suffix("/*").filter(|service| !has_wildcard(service)) {
            let own = tool.service();
            return own == service || own.strip_prefix(service).is_some_and(|rest| rest.starts_with('/'));
        }
        if let Some(service) = text.strip_suffix(":*").filter(|service| !has_wildcard(service)) {
            return tool.service() == service;
        }
        tool.spellings().any(|spelling| glob(text.as_bytes(), spelling.as_bytes()))
    }
}

impl TryFrom<String> for Pattern {
    type Error = InvalidPattern;
    fn try_from(text: String) -> Result<Self, InvalidPattern> {
        Self::parse(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Linear-time matching with `*` and `?`, remembering only the last star.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((star_p, star_t)) = star {
            p = star_p + 1;
            t = star_t + 1;
            star = Some((star_p, star_t + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::tool::tests::tool_of;

    #[test]
    fn matches_as_the_table_says() {
        let cases = [
            // pattern, service, method, matches
            ("*", "files", "read", true),
            ("read", "files", "read", true),
            ("read", "files", "read_image", false),
            ("files:read", "files", "read", true),
            ("files:read", "files", "read_image", false),
            ("files/read", "files", "read", true),
            ("files.read", "files", "read", true),
            ("files-read", "files", "read", true),
            ("system/exec:execute", "system/exec", "execute", true),
            ("system/exec-execute", "system/exec", "execute", true),
            ("system_exec-execute", "system/exec", "execute", true),
            ("system/exec.execute", "system/exec", "execute", true),
            ("system", "systematic", "x", false),
            ("system", "system", "x", false),
            ("system/*", "system/os", "getEnv", true),
            ("system/*", "system", "x", true),
            ("system/*", "systematic", "x", false),
            ("system:*", "system", "x", true),
            ("system:*", "system/os", "x", false),
            ("*_delete", "repo", "branch_delete", true),
            ("*_delete", "repo", "branch_deleted", false),
            ("github:get_*", "github", "get_issue", true),
            ("github:get_*", "gitlab", "get_issue", false),
            ("files:rea?", "files", "read", true),
            ("files:rea?", "files", "reads", false),
            ("Files:read", "files", "read", false),
            ("f*:r*d", "files", "read", true),
        ];
        for (pattern, service, method, expected) in cases {
            let tool = tool_of(service, method);
            assert_eq!(
                Pattern::parse(pattern).unwrap().matches(&tool),
                expected,
                "{pattern} on {service}:{method}"
            );
        }
    }

    #[test]
    fn refuses_what_cannot_be_a_pattern() {
        let long = "a".repeat(201);
        for text in ["", "  ", "a b", "[ab]", "a,b", "!x", "读", long.as_str()] {
            assert!(Pattern::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn many_stars_stay_linear_enough_to_answer() {
        let pattern = Pattern::parse(&"*a".repeat(99)).unwrap();
        assert!(!pattern.matches(&tool_of("files", &"a".repeat(57))));
    }
}
