//! What the console says. Names, descriptions, reasons and results are data: bounded, without characters that hide or turn
//! what stands around them, and without marks that Markdown reads as links, pictures or code.

use std::fmt::Write as _;

use toolshelf_core::{
    ByKind, Cause, Code, LOADER, Layer, Outcome, Resolution, Verdict, closest, explain, is_invisible,
};
use toolshelf_runtime::{ToolResult, cap, thousands};

/// The most tools that a list names.
const LISTED_MAX: usize = 200;
/// The most hits of a search.
const FOUND_MAX: usize = 10;
/// The longest line of a description, in characters.
const LINE_MAX: usize = 120;
/// The longest sentence with a reason that somebody gave, in characters.
const SENTENCE_MAX: usize = 700;
/// The longest result that is shown in the answer, in characters; the card has all of it.
const RESULT_MAX: usize = 4_000;

const COMMANDS: &str = "- `/tools` lists what a message would send now\n\
                        - `/search words` finds tools among them\n\
                        - `/why name` says what was decided about a tool, and how to change it\n\
                        - `/call name {\"argument\": \"value\"}` runs a tool through every gate\n\
                        - `/help` shows this list\n";

/// One line of at most so many characters.
fn line(text: &str, most: usize) -> String {
    let text: String = text.chars().take(4 * most).filter(|c| !is_invisible(*c)).collect();
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let joined = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if joined.chars().count() <= most {
        return joined;
    }
    let cut: String = joined.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}

/// The same as a part of a sentence: nothing in it makes a link, a picture, code or an element.
fn prose(text: &str, most: usize) -> String {
    let mut prose = String::with_capacity(text.len());
    for character in line(text, most).chars() {
        if matches!(character, '\\' | '`' | '[' | ']' | '<' | '>' | '&') {
            prose.push('\\');
        }
        prose.push(character);
    }
    prose
}

/// A name as code.
fn code(name: &str) -> String {
    format!("`{}`", line(name, LINE_MAX).replace('`', "'"))
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
    let offered = resolution.offered.iter().filter(|tool| !tool.is_loader()).count();
    let deferred = resolution.deferred.len();
    let all = shown(resolution).filter(|name| *name != LOADER).count();
    let later = if deferred == 0 { String::new() } else { format!(", {deferred} of them by name only") };
    format!(
        "{} of {all} tools{later}, about {} tokens",
        offered + deferred,
        thousands(resolution.tokens.total.into())
    )
}

fn is_empty(resolution: &Resolution) -> bool {
    resolution.offered.is_empty() && resolution.deferred.is_empty()
}

/// The answer to a text.
pub(super) fn plain(resolution: &Resolution) -> String {
    let mut text = "I am the tool console, not a language model: I cannot answer questions. ".to_owned();
    if is_empty(resolution) {
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
    if is_empty(resolution) {
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
        let mut names = vec![code(tool.name())];
        while let Some(next) = tools.next_if(|next| next.service() == tool.service()) {
            names.push(code(next.name()));
        }
        let _ = writeln!(text, "- {}: {}", prose(tool.service(), LINE_MAX), names.join(", "));
    }
    if resolution.offered.len() > LISTED_MAX {
        let _ = writeln!(text, "- and {} more", resolution.offered.len() - LISTED_MAX);
    }
    if !resolution.deferred.is_empty() {
        let names: Vec<String> =
            resolution.deferred.iter().take(LISTED_MAX).map(|entry| code(&entry.name)).collect();
        let more = resolution.deferred.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(text, "- by name only: {}{more}", names.join(", "));
    }
    text
}

/// A tool that the caller could call.
struct Callable<'a> {
    name: &'a str,
    /// Title and service.
    head: String,
    description: &'a str,
}

/// The answer to `/search`. It ranks what the caller could call and nothing else.
pub(super) fn found(resolution: &Resolution, query: &str) -> String {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let offered = resolution.offered.iter().map(|tool| Callable {
        name: tool.name(),
        head: format!("{} {}", tool.title().unwrap_or_default(), tool.service()),
        description: tool.description(),
    });
    let deferred = resolution.deferred.iter().map(|entry| Callable {
        name: &entry.name,
        head: String::new(),
        description: &entry.description,
    });
    let callable: Vec<Callable<'_>> = offered.chain(deferred).collect();
    let scored = callable.iter().map(|tool| (score(tool, &words), tool));
    let mut hits: Vec<(usize, &Callable<'_>)> = scored.filter(|(score, _)| *score > 0).collect();
    // A stable sort: equal ones stay in the order of lists.
    hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    if hits.is_empty() {
        return format!("None of the {} tools matches {}.\n", callable.len(), code(query));
    }
    let mut text = String::new();
    for (_, tool) in hits.iter().take(FOUND_MAX) {
        let _ = writeln!(text, "- {}: {}", code(tool.name), prose(tool.description, LINE_MAX));
    }
    if hits.len() > FOUND_MAX {
        let _ = writeln!(text, "- and {} more; use more words", hits.len() - FOUND_MAX);
    }
    text
}

/// An exact name counts most, then words in the name, the title and service, the description.
fn score(tool: &Callable<'_>, words: &[String]) -> usize {
    let (name, head) = (tool.name.to_lowercase(), tool.head.to_lowercase());
    if words.len() == 1 && name == words[0] {
        return usize::MAX;
    }
    let description = tool.description.to_lowercase();
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

/// The answer to `/why`: the outcome, then each layer that stops the tool, with who decided and how to change it.
pub(super) fn why(resolution: &Resolution, name: &str) -> String {
    let Some(verdict) = resolution.verdicts.iter().find(|verdict| verdict.tool.as_ref() == name) else {
        let close: Vec<String> = closest(name, shown(resolution)).iter().map(|name| code(name)).collect();
        let hint =
            if close.is_empty() { String::new() } else { format!(" Did you mean {}?", close.join(", ")) };
        return format!("There is no tool named {}.{hint}\n", code(name));
    };
    let outcome = match verdict.outcome {
        Outcome::Offered => "offered",
        Outcome::Deferred => "deferred",
        Outcome::Removed => "not offered",
    };
    let mut text = format!("{} is **{outcome}**.", code(&verdict.tool));
    let Some(layer) = verdict.layer else {
        let _ = writeln!(text, " {}", prose(&explain::sentence(verdict), SENTENCE_MAX));
        return text;
    };
    let _ = write!(text, "\n\n- {}", stopped(verdict, layer));
    for cause in &verdict.also {
        let _ = write!(text, "\n- Also {}", also(cause));
    }
    text.push('\n');
    text
}

/// The layer that owns a verdict, and what it says.
fn stopped(verdict: &Verdict, layer: Layer) -> String {
    let by = verdict.by.as_ref().map(|by| (by.kind, by.name.as_ref()));
    let fix = verdict.fix.as_ref().map(explain::fix_sentence);
    at_layer(layer, by, &explain::sentence(verdict), fix.as_deref())
}

/// A further layer that would stop the tool.
fn also(cause: &Cause) -> String {
    let sentence = explain::cause_sentence(cause.code, Some(&cause.by), cause.reason.as_deref());
    let by = Some((cause.by.kind, cause.by.name.as_ref()));
    at_layer(cause.layer, by, &sentence, Some(&explain::fix_sentence(&cause.fix)))
}

fn at_layer(layer: Layer, by: Option<(ByKind, &str)>, sentence: &str, fix: Option<&str>) -> String {
    let by = by.map_or(String::new(), |(kind, name)| {
        format!(
            ", by {}{}",
            decider(kind),
            if name.is_empty() { String::new() } else { format!(" {}", code(name)) }
        )
    });
    let mut text =
        format!("**{}** ({layer:?}{by}): {}", explain::layer_title(layer), prose(sentence, SENTENCE_MAX));
    if let Some(fix) = fix {
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        let _ = write!(text, " {}", prose(fix, SENTENCE_MAX));
    }
    text
}

/// The kind of thing that decided, for people.
fn decider(kind: ByKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("somebody").replace('_', " ")
}

/// The answer after a call.
pub(super) fn called(result: &ToolResult) -> String {
    let name = code(&result.call.name);
    let text = cap(plain_text(&result.text), RESULT_MAX, 0.7);
    match &result.code {
        None if text.trim().is_empty() => format!("{name} returned nothing.\n"),
        None => format!("{name} returned:\n\n{}", block(&text)),
        Some(code) => format!("{name} did not work ({code}).\n\n{}", block(&text)),
    }
}

/// A text of several lines without characters that hide or turn others. What was really returned is in the run.
fn plain_text(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c))).collect()
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
        "The arguments of {} cannot be read. {}\n\nWrite them as a JSON object, such as `/call list {{}}`.\n",
        code(name),
        prose(error, SENTENCE_MAX)
    )
}

/// The answer to `/help`.
pub(super) fn help() -> String {
    format!("I am the tool console, not a language model. I understand:\n\n{COMMANDS}")
}

/// The answer to a command that there is not.
pub(super) fn unknown(command: &str) -> String {
    format!(
        "{} is no command of mine as it stands. I understand:\n\n{COMMANDS}",
        code(&format!("/{command}"))
    )
}
