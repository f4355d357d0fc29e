//! Tool names, what no name may hold, and suggestions for names that do not exist.

use sha2::{Digest as _, Sha256};

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

/// The longest name of an upstream MCP server, in characters.
pub const SERVER_NAME_MAX: usize = 31;

/// Whether a text can be the name of an upstream MCP server: `[a-z][a-z0-9-]{0,30}`.
pub fn is_server_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    matches!(bytes.first(), Some(first) if first.is_ascii_lowercase())
        && bytes.len() <= SERVER_NAME_MAX
        && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// The name on the wire of a server's tool: `server__tool`, where what no tool name can hold becomes `_`.
///
/// A name that had to be altered or cut ends in `_` and 8 hex digits of a hash over the whole original, and so does one that
/// looks as if it had been: two originals never share a name by chance or by intent, short of breaking the hash.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    const SUFFIX: usize = 9;
    let plain = format!("{server}__{tool}");
    let looks_altered = plain.len() > SUFFIX
        && plain.is_char_boundary(plain.len() - SUFFIX)
        && plain[plain.len() - SUFFIX..].starts_with('_')
        && plain[plain.len() - SUFFIX + 1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if !looks_altered && !tool.is_empty() && validate_tool_name(&plain).is_ok() {
        return plain;
    }
    let mut name: String = plain
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') { character } else { '_' }
        })
        .take(TOOL_NAME_MAX - SUFFIX)
        .collect();
    name.push('_');
    name.push_str(&short_hash(&plain)[..8]);
    name
}

/// SHA-256 of a text in hex digits.
pub(crate) fn short_hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// A text of somebody who is not trusted, for people and models to read: without control characters and without those
/// that change how others are shown or show nothing. Joiners stay, which some scripts and emoji need.
pub fn visible_text(text: &str) -> String {
    let joins = |character| matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}');
    let kept = |character: &char| match character {
        '\n' | '\t' => true,
        _ => !character.is_control() && (joins(*character) || !is_invisible(*character)),
    };
    text.chars().filter(kept).collect()
}

/// Such a text in one line of at most so many characters.
pub fn visible_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in visible_text(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // What is longer by far need not be read to its end.
        if line.len() > most * 8 {
            break;
        }
    }
    if line.char_indices().nth(most).is_none() {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
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
    use super::{closest, is_server_name, mcp_tool_name, validate_tool_name, visible_line, visible_text};

    #[test]
    fn a_name_of_a_tool_of_a_server_depends_on_its_original_only() {
        for (server, tool, name) in [
            ("github", "search_code", "github__search_code"),
            ("time", "get-current-time", "time__get-current-time"),
            ("a", "_x", "a___x"),
        ] {
            assert_eq!(mcp_tool_name(server, tool), name);
        }
        let long = "x".repeat(80);
        for tool in ["search.code", "search code", "搜索", "", "a\u{202E}b", "get_deadbeef", &long, "é"] {
            let name = mcp_tool_name("github", tool);
            assert!(validate_tool_name(&name).is_ok(), "{name}");
            let (_, suffix) = name.rsplit_once('_').unwrap();
            assert!(suffix.len() == 8 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        }
    }

    #[test]
    fn two_originals_share_no_name_even_on_purpose() {
        let altered = mcp_tool_name("s", "a.b");
        let imitates = altered.strip_prefix("s__").unwrap();
        let originals = ["a.b", "a_b", "a b", "a/b", imitates, "A.b"];
        let names: std::collections::HashSet<String> =
            originals.iter().map(|tool| mcp_tool_name("s", tool)).collect();
        assert_eq!(names.len(), originals.len(), "{names:?}");
    }

    #[test]
    fn names_of_servers() {
        for name in ["github", "a", "mcp-1", &"a".repeat(31)] {
            assert!(is_server_name(name), "{name}");
        }
        for name in ["", "1a", "-a", "A", "a_b", "a__b", "a b", "é", "a.b", &"a".repeat(32)] {
            assert!(!is_server_name(name), "{name}");
        }
    }

    #[test]
    fn texts_of_strangers_lose_what_cannot_be_seen() {
        assert_eq!(visible_text("a\u{202E}b\u{7}c\u{E0041}\n\td\u{200B}\r"), "abc\n\td");
        assert_eq!(visible_text("👩\u{200D}💻"), "👩\u{200D}💻");
        assert_eq!(visible_line("  a\n\nb\tc  ", 10), "a b c");
        assert_eq!(visible_line("读读读读", 3), "读读…");
        assert_eq!(visible_line(&"ab ".repeat(100_000), 120).chars().count(), 120);
    }

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
