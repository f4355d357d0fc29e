//! HTML to readable text.
//!
//! The page is read as a stream of tags and text, without building a tree: nesting costs nothing, the time grows
//! only with the length of the page, and a page that is made to exhaust a tree builder is read like any other.

mod writer;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{HtmlString, Token, Tokenizer};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::FunctionError;
use url::Url;

use self::writer::Writer;
use crate::blocking::go_on;

/// The most bytes of text that are made. Links are written out whole, so a page of links becomes longer than it was.
const MAX_TEXT: usize = 2_000_000;
/// How many parts of a page are read between two questions whether anybody still waits.
const PARTS_PER_QUESTION: usize = 1_000;

/// A page as text.
pub(super) struct Readable {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Whether the end of the page is missing.
    pub(super) cut: bool,
}

/// Elements whose content is no text of the page.
const SKIPPED: [&[u8]; 9] =
    [b"script", b"style", b"noscript", b"template", b"svg", b"iframe", b"canvas", b"audio", b"video"];

/// Makes text of a page that was fetched from this address.
pub(super) fn readable(html: &str, url: &Url, cancel: &CancellationToken) -> Result<Readable, FunctionError> {
    let mut emitter = DefaultEmitter::default();
    // The content of scripts is not markup.
    emitter.naively_switch_states(true);
    let mut writer = Writer::new(url.clone());
    // The skipped element that is open, and how many of its kind.
    let mut skipping: Option<(HtmlString, usize)> = None;
    let mut cut = false;
    // Reading from memory cannot fail, which the type of the error says.
    for (position, token) in Tokenizer::new_with_emitter(html, emitter).flatten().enumerate() {
        if position % PARTS_PER_QUESTION == 0 {
            go_on(cancel)?;
        }
        if writer.len() > MAX_TEXT {
            cut = true;
            break;
        }
        match (&mut skipping, token) {
            (Some((name, open)), Token::StartTag(tag)) => {
                *open += usize::from(tag.name == *name && !tag.self_closing);
            }
            (Some((name, open)), Token::EndTag(tag)) if tag.name == *name => {
                *open -= 1;
                if *open == 0 {
                    skipping = None;
                }
            }
            (None, Token::StartTag(tag)) => {
                if SKIPPED.contains(&tag.name.as_slice()) {
                    // Only drawings can be closed at once; for all others the slash means nothing.
                    if !(tag.self_closing && tag.name.as_slice() == b"svg") {
                        skipping = Some((tag.name, 1));
                    }
                } else {
                    let attribute = |name: &str| {
                        let value = tag.attributes.get(name.as_bytes())?;
                        Some(String::from_utf8_lossy(value).into_owned())
                    };
                    writer.open(&tag.name, attribute);
                }
            }
            (None, Token::EndTag(tag)) => writer.close(&tag.name),
            (None, Token::String(text)) => writer.text(&String::from_utf8_lossy(&text)),
            (Some(_), _) | (None, Token::Comment(_) | Token::Doctype(_) | Token::Error(_)) => {}
        }
    }
    let (title, text) = writer.finish();
    Ok(Readable { title, text, cut })
}

#[cfg(test)]
mod tests;
