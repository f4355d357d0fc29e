//! What the console says. Names and descriptions of tools are data: bounded, and without characters that could hide or
//! turn what stands around them.

use std::fmt::Write as _;

use toolshelf_core::{Code, Outcome, Resolution, Tool, closest, explain, is_invisible};
use toolshelf_runtime::{ToolResult, cap, thousands};

/// The most tools that a list names.
const LISTED_MAX: usize = 200;
/// The most hits of a search.
const FOUND_MAX: usize = 10;
/// The longest line of a description, in characters.
const LINE_MAX: usize = 120;
/// The longest result that is shown in the answer, in characters; the card has all of it.
const RESULT_MAX: usize = 4_000;

const COMMANDS: &str = "- `/tools` lists what a message would send now\n\
                        - `/search words` finds tools among them\n\
                        - `/why name` says what was decided about a tool, and how to change it\n\
                        - `/call name {\"argument\": \"value\"}` runs a tool through every gate\n\
                        - `/help` shows this list\n";

/// One line of at most [`LINE_MAX`] characters.
fn line(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_invisible(*c)).collect();
    let first: Vec<&str> = text.split_whitespace().collect();
    let joined = first.join(" ");
    if joined.chars().count() <= LINE_MAX {
        return joined;
    }
    let cut: String = joined.chars().take(LINE_MAX - 1).collect();
    format!("{}…", cut.trim_end())
}

/// The names that are anybody's business: an author's helpers are not.
fn shown(resolution: &Resolution) -> impl Iterator<Item = &str> {
    resolution
        .verdicts
        .iter()
        .filter(|verdict| verdict.code != Code::NotExposed)
        .map(|verdict| verdict.tool.as_ref())
}

fn summary(resolution: &Resolution) -> String {
    let offered = resolution.offered.len();
    let all = shown(resolution).count();
    format!("{offered} of {all} tools, about {} tokens", thousands(resolution.tokens.total.into()))
}

/// The answer to a text.
pub(super) fn plain(resolution: &Resolution) -> String {
    let mut text = "I am the tool console, not a language model: I cannot answer questions. ".to_owned();
    if resolution.offered.is_empty() {
        text.push_str("A message sent now would carry **no tools**.\n\n");
    } else {
        let _ = write!(text, "A message sent now would carry **{}**:\n\n", summary(resolution));
        text.push_str(&grouped(resolution));
        text.push('\n');
    }
    text.push_str("What I can do:\n\n");
    text.push_str(COMMANDS);
    text.push_str("\nThis version has no language model of its own: every message goes to the console.\n");
    text
}

/// The answer to `/tools`.
pub(super) fn tools(resolution: &Resolution) -> String {
    if resolution.offered.is_empty() {
        return "A message sent now would carry **no tools**. Ask `/why name` for the reason of one.\n"
            .to_owned();
    }
    format!("A message sent now would carry **{}**:\n\n{}", summary(resolution), grouped(resolution))
}

/// Names by service, a line each.
fn grouped(resolution: &Resolution) -> String {
    let mut text = String::new();
    let mut tools = resolution.offered.iter().take(LISTED_MAX).peekable();
    while let Some(tool) = tools.next() {
        let mut names = vec![format!("`{}`", tool.name())];
        while let Some(next) = tools.next_if(|next| next.service() == tool.service()) {
            names.push(format!("`{}`", next.name()));
        }
        let _ = writeln!(text, "- {}: {}", line(tool.service()), names.join(", "));
    }
    if resolution.offered.len() > LISTED_MAX {
        let _ = writeln!(text, "- and {} more", resolution.offered.len() - LISTED_MAX);
    }
    text
}

/// The answer to `/search`. It ranks what the caller could call and nothing else.
pub(super) fn found(resolution: &Resolution, query: &str) -> String {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut hits: Vec<(usize, &Tool)> = resolution
        .offered
        .iter()
        .map(|tool| (score(tool, &words), tool.as_ref()))
        .filter(|(score, _)| *score > 0)
        .collect();
    // A stable sort: equal ones stay in the order of lists.
    hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    if hits.is_empty() {
        return format!("None of the {} tools matches {:?}.\n", resolution.offered.len(), line(query));
    }
    let mut text = String::new();
    for (_, tool) in hits.iter().take(FOUND_MAX) {
        let _ = writeln!(text, "- `{}`: {}", tool.name(), line(tool.description()));
    }
    if hits.len() > FOUND_MAX {
        let _ = writeln!(text, "- and {} more; use more words", hits.len() - FOUND_MAX);
    }
    text
}

/// An exact name counts most, then words in the name, the title and service, the description.
fn score(tool: &Tool, words: &[String]) -> usize {
    let name = tool.name().to_lowercase();
    if words.len() == 1 && name == words[0] {
        return 1_000;
    }
    let head = format!("{} {}", tool.title().unwrap_or_default(), tool.service()).to_lowercase();
    let description = tool.description().to_lowercase();
    words
        .iter()
        .map(|word| {
            let word = word.as_str();
            10 * usize::from(name.contains(word))
                + 4 * usize::from(head.contains(word))
                + usize::from(description.contains(word))
        })
        .sum()
}

/// The answer to `/why`.
pub(super) fn why(resolution: &Resolution, name: &str) -> String {
    let Some(verdict) = resolution.verdicts.iter().find(|verdict| verdict.tool.as_ref() == name) else {
        let close = closest(name, shown(resolution));
        let close: Vec<String> = close.iter().map(|name| format!("`{name}`")).collect();
        let hint =
            if close.is_empty() { String::new() } else { format!(" Did you mean {}?", close.join(", ")) };
        return format!("There is no tool named {:?}.{hint}\n", line(name));
    };
    let outcome = match verdict.outcome {
        Outcome::Offered => "offered",
        Outcome::Deferred => "deferred",
        Outcome::Removed => "not offered",
    };
    let mut text = format!("`{}` is **{outcome}**. {}\n", verdict.tool, explain::sentence(verdict));
    if let Some(fix) = &verdict.fix {
        let _ = write!(text, "\n{}\n", explain::fix_sentence(fix));
    }
    for cause in &verdict.also {
        let _ = write!(
            text,
            "\n- Also: {} {}",
            explain::cause_sentence(cause.code, Some(&cause.by), cause.reason.as_deref()),
            explain::fix_sentence(&cause.fix)
        );
    }
    text
}

/// The answer after a call.
pub(super) fn called(result: &ToolResult) -> String {
    let name = &result.call.name;
    let text = cap(result.text.clone(), RESULT_MAX, 0.7);
    match &result.code {
        None if text.is_empty() => format!("`{name}` returned nothing.\n"),
        None => format!("`{name}` returned:\n\n{}", block(&text)),
        Some(code) => format!("`{name}` did not work ({code}).\n\n{}", block(&text)),
    }
}

/// A text as a block that nothing in it can close.
fn block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// The answer to a call whose arguments cannot be read.
pub(super) fn bad_arguments(name: &str, error: &str) -> String {
    format!(
        "The arguments of `{}` cannot be read. {error}\n\nWrite them as a JSON object, such as `/call list {{}}`.\n",
        line(name)
    )
}

/// The answer to `/help`.
pub(super) fn help() -> String {
    format!("I am the tool console, not a language model. I understand:\n\n{COMMANDS}")
}

/// The answer to a command that there is not.
pub(super) fn unknown(command: &str) -> String {
    format!(
        "`/{}` is no command of mine as it stands. I understand:\n\n{COMMANDS}",
        line(command).replace('`', "")
    )
}
