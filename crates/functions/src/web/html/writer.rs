//! Writing the parts of a page down as text.

use url::Url;

/// Links longer than this carry data or tracking and no address that is worth reading.
const MAX_LINK: usize = 500;
/// The most characters of a title.
const MAX_TITLE: usize = 300;
/// How deep lists are indented at most.
const MAX_INDENT: usize = 6;

/// Text that grows.
pub(super) struct Writer {
    text: String,
    title: String,
    in_title: bool,
    /// Where the page is.
    page: Url,
    /// What its links are relative to, if it says so.
    base: Option<Url>,
    /// Line breaks to write before the next text: 0, 1, or 2 for an empty line.
    breaks: usize,
    /// Whether to write a space before the next text.
    space: bool,
    /// How many `pre` are open.
    preformatted: usize,
    /// For each open list, the next number, if it is numbered.
    lists: Vec<Option<u64>>,
    /// Whether the row of a table has a cell already.
    in_row: bool,
    /// The open link.
    link: Option<Link>,
}

struct Link {
    address: String,
    /// Where its text begins, once it has.
    start: Option<usize>,
}

impl Writer {
    pub(super) fn new(url: Url) -> Self {
        Self {
            text: String::new(),
            title: String::new(),
            in_title: false,
            page: url,
            base: None,
            breaks: 0,
            space: false,
            preformatted: 0,
            lists: Vec::new(),
            in_row: false,
            link: None,
        }
    }

    /// How many bytes were written.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The title and the text.
    pub(super) fn finish(mut self) -> (Option<String>, String) {
        self.end_link();
        let title: String = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = title.chars().take(MAX_TITLE).collect::<String>();
        (Some(title).filter(|title| !title.is_empty()), self.text.trim_end().to_owned())
    }

    /// Reads a start tag.
    pub(super) fn open(&mut self, name: &[u8], attribute: impl Fn(&str) -> Option<String>) {
        match name {
            b"title" => self.in_title = true,
            // The first one counts, as in browsers.
            b"base" if self.base.is_none() => {
                self.base = attribute("href").and_then(|href| self.page.join(&href).ok());
            }
            b"a" => {
                // Links cannot be nested; a second one ends the first.
                self.end_link();
                self.link = attribute("href")
                    .and_then(|href| self.address(&href))
                    .map(|address| Link { address, start: None });
            }
            b"img" => {
                let alt = attribute("alt").unwrap_or_default();
                if !alt.trim().is_empty() {
                    self.text(&format!("[image: {}]", alt.trim()));
                }
            }
            b"br" => self.line_break(),
            b"hr" => {
                self.block(2);
                self.mark("---");
                self.block(2);
            }
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.block(2);
                self.mark(&"#".repeat(usize::from(name[1] - b'0')));
                self.space = true;
            }
            b"ul" | b"ol" | b"menu" => {
                self.block(if self.lists.is_empty() { 2 } else { 1 });
                let first = attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1);
                self.lists.push((name == b"ol").then_some(first));
            }
            b"li" => self.list_item(),
            b"tr" => {
                self.block(1);
                self.in_row = false;
            }
            b"td" | b"th" => {
                if self.in_row && self.breaks == 0 {
                    self.text.push_str(" |");
                    self.space = true;
                }
                self.in_row = true;
            }
            b"pre" => {
                self.block(2);
                self.preformatted += 1;
            }
            _ => self.block(breaks_around(name)),
        }
    }

    /// Reads an end tag.
    pub(super) fn close(&mut self, name: &[u8]) {
        match name {
            b"title" => self.in_title = false,
            b"a" => self.end_link(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.block(2),
            b"ul" | b"ol" | b"menu" => {
                self.lists.pop();
                self.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            b"li" => self.block(1),
            b"tr" => {
                self.block(1);
                self.in_row = false;
            }
            b"pre" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.block(2);
            }
            // Cells are separated where they begin.
            b"td" | b"th" => {}
            _ => self.block(breaks_around(name)),
        }
    }

    /// Reads text.
    pub(super) fn text(&mut self, text: &str) {
        if self.in_title {
            if self.title.len() < MAX_TITLE * 8 {
                self.title.push_str(text);
            }
            return;
        }
        for character in text.chars() {
            match character {
                '\n' if self.preformatted > 0 => self.preformatted_break(),
                '\t' | ' ' if self.preformatted > 0 => {
                    self.start();
                    self.text.push(character);
                }
                character if character.is_whitespace() => self.space = true,
                // Controls and invisible marks are no text, and could hide what is.
                character if is_invisible(character) => {}
                character => {
                    self.start();
                    self.text.push(character);
                }
            }
        }
    }

    /// Writes the breaks or the space that are due, and begins the link if one is open.
    fn start(&mut self) {
        if !self.text.is_empty() {
            if self.breaks > 0 {
                self.text.extend(std::iter::repeat_n('\n', self.breaks));
            } else if self.space && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
        self.breaks = 0;
        self.space = false;
        if let Some(link) = &mut self.link
            && link.start.is_none()
        {
            link.start = Some(self.text.len());
        }
    }

    /// Writes something that is not the page's own text and no part of a link.
    fn mark(&mut self, mark: &str) {
        let link = self.link.take();
        self.start();
        self.text.push_str(mark);
        self.link = link;
    }

    /// Wants at least so many line breaks before the next text.
    fn block(&mut self, breaks: usize) {
        if breaks > 0 {
            self.breaks = self.breaks.max(breaks);
            self.space = false;
        }
    }

    /// A line break of its own, of which two make an empty line.
    fn line_break(&mut self) {
        self.breaks = (self.breaks + 1).min(2);
        self.space = false;
    }

    fn preformatted_break(&mut self) {
        // A page may consist of line breaks.
        if !self.text.ends_with("\n\n\n") {
            self.start();
            self.text.push('\n');
        }
    }

    fn list_item(&mut self) {
        self.block(1);
        let depth = self.lists.len().clamp(1, MAX_INDENT);
        let indent = "  ".repeat(depth - 1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{indent}{number}.");
                *number = number.saturating_add(1);
                mark
            }
            _ => format!("{indent}-"),
        };
        self.mark(&mark);
        self.space = true;
    }

    /// Where a link leads, if that is worth writing down.
    fn address(&self, href: &str) -> Option<String> {
        let href = href.trim();
        // A place on the same page says nothing that the text does not.
        if href.is_empty() || href.starts_with('#') || href.len() > MAX_LINK {
            return None;
        }
        let url = self.base.as_ref().unwrap_or(&self.page).join(href).ok()?;
        let is_useful = matches!(url.scheme(), "http" | "https" | "mailto") && url.as_str().len() <= MAX_LINK;
        is_useful.then(|| url.into())
    }

    /// Turns the text since the beginning of the link into `[text](address)`.
    fn end_link(&mut self) {
        let Some(Link { address, start: Some(start) }) = self.link.take() else { return };
        if self.text[start..] == address {
            return;
        }
        self.text.insert(start, '[');
        self.text.push_str("](");
        self.text.push_str(&address);
        self.text.push(')');
    }
}

/// How many line breaks are around an element.
fn breaks_around(name: &[u8]) -> usize {
    match name {
        b"p" | b"blockquote" | b"table" | b"dl" | b"figure" | b"form" | b"fieldset" | b"section"
        | b"article" | b"main" | b"header" | b"footer" | b"nav" | b"aside" | b"details" => 2,
        b"div" | b"dt" | b"dd" | b"option" | b"caption" | b"figcaption" | b"address" | b"summary"
        | b"legend" | b"body" | b"thead" | b"tbody" | b"tfoot" => 1,
        _ => 0,
    }
}

/// Controls, marks of direction and characters without width.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
