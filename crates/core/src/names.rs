//! Tool names, what no name may hold, and suggestions for names that do not exist.

/// The longest tool name that OpenAI, Anthropic and Gemini all accept, in characters.
pub const TOOL_NAME_MAX: usize = 64;

/// Says why a text is not a tool name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName {
    /// The text as given.
    pub name: String,
}

impl std::fmt::Display for InvalidName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} is not a tool name: use 1 to {TOOL_NAME_MAX} letters, digits, '_' or '-', starting with a letter or '_'",
            self.name
        )
    }
}

impl std::error::Error for InvalidName {}

/// Checks a tool name against `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`.
pub fn validate_tool_name(name: &str) -> Result<(), InvalidName> {
    let bytes = name.as_bytes();
    let valid = matches!(bytes.first(), Some(first) if first.is_ascii_alphabetic() || *first == b'_')
        && bytes.len() <= TOOL_NAME_MAX
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if valid { Ok(()) } else { Err(InvalidName { name: name.to_owned() }) }
}

/// Up to three of `names` that are close to `wanted`, best first.
///
/// Close means an edit distance of at most a third of the longer name, in any letter case, or that one holds the
/// other. It serves the answer to an unknown name; an unknown name is never replaced by a close one.
pub fn closest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // A hostile name must not make the comparison expensive.
    let wanted: Vec<char> = wanted.chars().take(2 * TOOL_NAME_MAX).flat_map(char::to_lowercase).collect();
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
            let distance = edit_distance(&wanted, &lower);
            let longer = wanted.len().max(lower.len());
            let within = wanted.len() >= 3 && contains(&lower, &wanted)
                || lower.len() >= 3 && contains(&wanted, &lower);
            (distance * 3 <= longer || within).then_some((distance, name))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len().max(1)).any(|window| window == part)
}

/// Levenshtein distance in characters.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Whether a character of format or direction changes how others are shown, or shows nothing itself. No name that people
/// choose by looking may hold one.
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::{closest, validate_tool_name};

    #[test]
    fn accepts_what_every_provider_accepts() {
        let longest = "a".repeat(64);
        for name in ["read", "_x", "a-b_c9", longest.as_str()] {
            assert!(validate_tool_name(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        let too_long = "a".repeat(65);
        for name in ["", "9a", "-a", "a b", "a.b", "a/b", "读", "a\n", too_long.as_str()] {
            assert!(validate_tool_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn suggests_close_names_only() {
        let names = ["read", "grep", "glob", "todo_create", "todo_list"];
        assert_eq!(closest("raed", names), Vec::<String>::new(), "two edits in four letters are not close");
        assert_eq!(closest("grpe", ["grep", "gripe"]), ["gripe"]);
        assert_eq!(closest("Grep", names), ["grep"]);
        assert_eq!(closest("todo", names), ["todo_list", "todo_create"]);
        assert_eq!(closest("web_search", names), Vec::<String>::new());
    }
}
