//! Upstream MCP servers, as the page shows them.

use std::fmt::Write as _;

use toolshelf_api::{RejectedTool, ServerDetails, ServerSettings, ServerState, ServerStatus, is_invisible};

/// A [`toolshelf_api::McpServer`].
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its name, with which its tools' names begin.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How to reach it, for admins.
    pub connection: Option<Connection>,
    /// Whether it is connected at all.
    pub enabled: bool,
    /// What admins say about it and its tools, without what differs for single tools.
    pub settings: ServerSettings,
    /// Whether it answers.
    pub status: ServerStatus,
    /// How many tools it has in the registry.
    pub tool_count: u64,
    /// Tools of its list that did not enter the registry, and why.
    pub rejected: Vec<RejectedTool>,
    /// How many of its tools wait for a decision.
    pub change_count: u64,
    /// What it says of itself, for admins.
    pub info: Option<ServerDetails>,
    /// The last lines of its standard error, for admins.
    pub log: Vec<String>,
    /// Grows with each change that an admin makes.
    pub revision: u64,
}

/// A [`toolshelf_api::ShownConnection`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// `stdio` or `http`.
    pub transport: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables by name: whether the value can be opened.
    pub env: Vec<(String, bool)>,
    /// The address of the endpoint.
    pub url: String,
    /// Its headers by name: whether the value can be opened.
    pub headers: Vec<(String, bool)>,
}

impl Connection {
    /// Whether it is an address, and not a program.
    pub fn is_http(&self) -> bool {
        self.transport == "http"
    }

    /// The whole command, or the address.
    pub fn line(&self) -> String {
        match (self.is_http(), self.command.as_str()) {
            (true, _) => self.url.clone(),
            (false, "") => String::new(),
            (false, command) => command_line(command, &self.args),
        }
    }

    /// The names of the variables or headers.
    pub fn secret_names(&self) -> Vec<String> {
        self.secrets().iter().map(|(name, _)| name.clone()).collect()
    }

    /// The names of the variables or headers, and whether each value can be opened.
    pub fn secrets(&self) -> &[(String, bool)] {
        if self.is_http() { &self.headers } else { &self.env }
    }
}

/// A [`toolshelf_api::ImportedMcpServer`].
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedServer {
    /// What the document calls it.
    pub key: String,
    /// The name that it gets or has.
    pub name: String,
    /// How it would be reached.
    pub connection: Option<Connection>,
    /// Whether it would be connected at once.
    pub enabled: bool,
    /// Placeholders that need a value first.
    pub needs: Vec<String>,
    /// Fields that mean nothing here.
    pub ignored: Vec<String>,
    /// Why it cannot be added.
    pub problem: Option<String>,
}

/// The state in one word, which is the dot's class too.
pub fn state_class(state: ServerState) -> &'static str {
    match state {
        ServerState::Ready => "ready",
        ServerState::Connecting => "connecting",
        ServerState::Down => "down",
        ServerState::Disabled => "disabled",
    }
}

/// The state for people.
pub fn state_words(state: ServerState) -> &'static str {
    match state {
        ServerState::Ready => "Connected",
        ServerState::Connecting => "Connecting…",
        ServerState::Down => "Down",
        ServerState::Disabled => "Disabled",
    }
}

/// When it is tried again, in so many milliseconds.
pub fn tries_again(milliseconds: f64) -> String {
    // Casts of floating-point numbers saturate, and what is not a number becomes zero.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let seconds = (milliseconds / 1_000.0).ceil() as u64;
    match seconds {
        0 => "tries again now".to_owned(),
        1..=99 => format!("tries again in {seconds} s"),
        _ => format!("tries again in {} min", seconds.div_ceil(60)),
    }
}

/// A command as a shell would take it: what holds spaces or quotes is in quotes.
pub fn command_line(command: &str, args: &[String]) -> String {
    let mut line = String::new();
    for part in std::iter::once(command).chain(args.iter().map(String::as_str)) {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c));
        if plain {
            line.push_str(part);
        } else {
            line.push('\'');
            line.push_str(&part.replace('\'', "'\\''"));
            line.push('\'');
        }
    }
    line
}

/// The parts of a command line with quotes and backslashes; none if a quote is not closed. Nothing is expanded.
pub fn split_command(line: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut part: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                part.get_or_insert_default();
            }
            (None | Some('"'), '\\') => part.get_or_insert_default().push(characters.next()?),
            (None, space) if space.is_whitespace() => parts.extend(part.take()),
            (_, other) => part.get_or_insert_default().push(other),
        }
    }
    if quote.is_some() {
        return None;
    }
    parts.extend(part);
    Some(parts)
}

/// A text in which what cannot be seen is written out, so that nobody accepts what they were not shown.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        // Emoji and several scripts need these, and only there do they follow what is no ASCII.
        let joins = matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}')
            && !before.is_ascii()
            && !is_invisible(before);
        let hidden = is_invisible(character) || (character.is_control() && !matches!(character, '\n' | '\t'));
        if hidden && !joins {
            // Writing to a string cannot fail.
            let _ = write!(shown, "[U+{:04X}]", u32::from(character));
        } else {
            shown.push(character);
        }
        before = character;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{command_line, split_command, tries_again, visible};

    #[test]
    fn command_lines_are_split_as_they_are_written() {
        for (line, parts) in [
            ("npx -y @x/server", Some(vec!["npx", "-y", "@x/server"])),
            ("  a\t'b c'  \"d \\\" e\" f\\ g ''", Some(vec!["a", "b c", "d \" e", "f g", ""])),
            ("say 'it'\\''s'", Some(vec!["say", "it's"])),
            ("$HOME/x *", Some(vec!["$HOME/x", "*"])),
            ("open 'quote", None),
            ("end\\", None),
            ("", Some(vec![])),
        ] {
            let parts = parts.map(|parts| parts.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(split_command(line), parts, "{line}");
            if let Some([command, args @ ..]) = parts.as_deref() {
                assert_eq!(split_command(&command_line(command, args)), parts, "{line}");
            }
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("客户 ✅\u{FE0F} 👩\u{200D}💻", "客户 ✅\u{FE0F} 👩\u{200D}💻"),
            ("a\u{202E}b\u{200B}\u{FE0F}", "a[U+202E]b[U+200B][U+FE0F]"),
            ("x\u{E0041}\u{1b}[0m", "x[U+E0041][U+001B][0m"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn the_next_attempt_is_told_in_round_figures() {
        for (milliseconds, text) in [
            (-5_000.0, "tries again now"),
            (f64::NAN, "tries again now"),
            (7_400.0, "tries again in 8 s"),
            (99_000.0, "tries again in 99 s"),
            (100_000.0, "tries again in 2 min"),
        ] {
            assert_eq!(tries_again(milliseconds), text);
        }
    }
}
