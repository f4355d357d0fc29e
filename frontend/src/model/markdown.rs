//! The part of Markdown that answers use: paragraphs, lists, code, emphasis. Everything is text; nothing is markup.

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// As it is.
    Plain(String),
    /// Between backticks.
    Code(String),
    /// Between two asterisks.
    Strong(String),
}

/// A block of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Lines that belong together.
    Text(Vec<Span>),
    /// The items of a list.
    List(Vec<Vec<Span>>),
    /// Lines between fences.
    Code(String),
}

/// Reads an answer. Whatever is no Markdown of this kind stays as it was written.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut items: Vec<Vec<Span>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let fence = line.chars().take_while(|c| *c == '`').count();
        let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        if fence < 3 && item.is_none() && !line.trim().is_empty() {
            end_list(&mut items, &mut blocks);
            paragraph.push(line);
            continue;
        }
        end_paragraph(&mut paragraph, &mut blocks);
        match item {
            Some(item) => items.push(spans(item)),
            None => end_list(&mut items, &mut blocks),
        }
        if fence >= 3 {
            let close = "`".repeat(fence);
            // A fence that nothing closes, as while the answer is being written, goes to the end.
            let code: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != close).collect();
            blocks.push(Block::Code(code.join("\n")));
        }
    }
    end_paragraph(&mut paragraph, &mut blocks);
    end_list(&mut items, &mut blocks);
    blocks
}

fn end_paragraph(lines: &mut Vec<&str>, blocks: &mut Vec<Block>) {
    if !lines.is_empty() {
        blocks.push(Block::Text(spans(&std::mem::take(lines).join("\n"))));
    }
}

fn end_list(items: &mut Vec<Vec<Span>>, blocks: &mut Vec<Block>) {
    if !items.is_empty() {
        blocks.push(Block::List(std::mem::take(items)));
    }
}

fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '\\']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        if let Some(escaped) = from.strip_prefix('\\') {
            // Before punctuation a backslash takes its meaning away; before anything else it is one itself.
            let next = escaped.chars().next().filter(char::is_ascii_punctuation);
            plain.push(next.unwrap_or('\\'));
            rest = &escaped[next.map_or(0, char::len_utf8)..];
            continue;
        }
        let mark = if from.starts_with('`') { "`" } else { "**" };
        let inside = from.strip_prefix(mark).and_then(|inside| inside.split_once(mark));
        if let Some((inside, after)) = inside.filter(|(inside, _)| !inside.is_empty()) {
            if !plain.is_empty() {
                spans.push(Span::Plain(std::mem::take(&mut plain)));
            }
            let inside = inside.to_owned();
            spans.push(if mark == "`" { Span::Code(inside) } else { Span::Strong(inside) });
            rest = after;
        } else {
            let mut characters = from.chars();
            plain.extend(characters.next());
            rest = characters.as_str();
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        spans.push(Span::Plain(plain));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Span {
        Span::Plain(text.to_owned())
    }

    fn code(text: &str) -> Span {
        Span::Code(text.to_owned())
    }

    #[test]
    fn blocks_are_told_apart() {
        let text =
            "One\ntwo **2 tools**:\n\n- a: `x`\n- b\n\nEnd\n```\ncode `\n\n- no list\n```\n````\n```\n````";
        assert_eq!(
            blocks(text),
            [
                Block::Text(vec![plain("One\ntwo "), Span::Strong("2 tools".to_owned()), plain(":")]),
                Block::List(vec![vec![plain("a: "), code("x")], vec![plain("b")]]),
                Block::Text(vec![plain("End")]),
                Block::Code("code `\n\n- no list".to_owned()),
                Block::Code("```".to_owned()),
            ]
        );
        assert_eq!(blocks("```\nnot yet"), [Block::Code("not yet".to_owned())]);
        assert_eq!(blocks(""), []);
    }

    #[test]
    fn a_backslash_takes_the_meaning_of_a_mark_away() {
        for (text, shown) in
            [("\\`no code\\`", "`no code`"), ("\\<b\\>", "<b>"), ("C:\\dir", "C:\\dir"), ("end\\", "end\\")]
        {
            assert_eq!(blocks(text), [Block::Text(vec![plain(shown)])], "{text}");
        }
    }

    #[test]
    fn what_is_no_markup_stays() {
        for text in ["a * b", "`open", "**open", "``", "****", "<b>&amp;</b>", "2*3*4"] {
            assert_eq!(blocks(text), [Block::Text(vec![plain(text)])], "{text}");
        }
    }
}
