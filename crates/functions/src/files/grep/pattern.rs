//! Regular expressions as callers write them.

use regex::bytes::{Regex, RegexBuilder};
use toolshelf_runtime::FunctionError;

use crate::units::bytes;

/// The most bytes of a compiled expression. The time of a search grows with this and the length of the text, and
/// with nothing else: at this size the worst expressions take a few seconds for the longest line that is searched.
const MAX_SIZE: usize = 500_000;
/// How deep groups may be nested.
const MAX_NESTING: u32 = 50;

/// Compiles an expression, or says what is wrong with it and where.
pub(super) fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, FunctionError> {
    // The syntax is read on its own first, because its error knows the place.
    let mut parser = regex_syntax::ParserBuilder::new();
    // Lines need not be UTF-8.
    parser.utf8(false).case_insensitive(ignore_case).nest_limit(MAX_NESTING);
    if let Err(error) = parser.build().parse(pattern) {
        let (kind, span) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
            other => (other.to_string(), None),
        };
        // Counted in characters, because that is what a person counts.
        let at = span
            .and_then(|span| pattern.get(..span.start.offset))
            .map(|before| format!(" at character {}", before.chars().count() + 1))
            .unwrap_or_default();
        return Err(FunctionError::new(format!(
            "The pattern is not a valid regular expression: {kind}{at}."
        )));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_SIZE)
        .dfa_size_limit(MAX_SIZE)
        .nest_limit(MAX_NESTING)
        .build()
        .map_err(|error| {
            FunctionError::new(match error {
                regex::Error::CompiledTooBig(_) => {
                    format!(
                        "The pattern is too large: it takes more than {} once it is compiled. Use smaller \
                         repetitions, or ASCII classes such as [0-9A-Za-z_] instead of \\w.",
                        bytes(MAX_SIZE as u64)
                    )
                }
                _ => "The pattern is not a valid regular expression.".to_owned(),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn an_error_says_what_and_where() {
        for (pattern, what, place) in [
            ("读(", "unclosed group", "character 2"),
            ("a**)", "unopened group", "character 4"),
            ("[z-a]", "invalid character class range", "character 2"),
            (r"(?=x)", "look-around", "character 1"),
            (r"(a)\1", "backreferences are not supported", "character 4"),
            (r"\p{Nonsense}", "Unicode property not found", "character 1"),
        ] {
            let error = compile(pattern, false).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(place), "{pattern}: {error}");
            assert!(!error.contains('\n') && error.ends_with('.'), "{error}");
        }
    }

    #[test]
    fn an_expression_that_explodes_is_refused() {
        for pattern in
            [r"(\w{100}){100}", "(((a{100}){100}){100})", &format!("{}a{}", "(".repeat(60), ")".repeat(60))]
        {
            assert!(compile(pattern, false).is_err(), "{pattern}");
        }
        // It once searched lines for more than a minute.
        let error = compile("(?:a.{0,800}){1,4}b", false).unwrap_err().to_string();
        assert!(error.contains("more than 500.0 KB") && error.contains(r"instead of \w."), "{error}");
        // What people write is below the limit.
        compile(r"(?i)\b\w+\s+=\s+(foo|bar)[^;]{0,40};$", true).unwrap();
        compile(r"\b[0-9A-Za-z_]{1,40}\(", true).unwrap();
    }
}
