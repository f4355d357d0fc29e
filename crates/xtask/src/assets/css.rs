//! References from style sheets to other files, which must follow those files to their hashed names.

use anyhow::{Result, bail};

use super::Manifest;

/// A reference inside a style sheet: where its address is in the text, and the plain name it means.
struct Reference {
    start: usize,
    end: usize,
    name: String,
}

/// Whether a file is a style sheet.
pub(super) fn is_sheet(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == "css")
}

/// The plain names of all files that a style sheet refers to.
pub(super) fn references(text: &str, sheet: &str) -> Result<Vec<String>> {
    Ok(find(text, sheet)?.into_iter().map(|reference| reference.name).collect())
}

/// Replaces each reference's file name by its hashed name.
///
/// A hashed file stays in its folder, so only the last part of an address changes; a fragment such as the `#id` of a
/// sprite is kept.
pub(super) fn rewrite(text: &str, sheet: &str, manifest: &Manifest) -> Result<String> {
    let mut rewritten = String::with_capacity(text.len());
    let mut copied = 0;
    for reference in find(text, sheet)? {
        let Some(hashed) = manifest.get(&reference.name) else {
            bail!(
                "static/{sheet} refers to `{}`, and there is no static/{}: correct the address or add the file",
                &text[reference.start..reference.end],
                reference.name
            );
        };
        let address = &text[reference.start..reference.end];
        let (path, rest) = split_suffix(address);
        let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
        let file = hashed.rsplit('/').next().unwrap_or(hashed);
        rewritten.push_str(&text[copied..reference.start]);
        rewritten.push_str(folder);
        rewritten.push_str(file);
        rewritten.push_str(rest);
        copied = reference.end;
    }
    rewritten.push_str(&text[copied..]);
    Ok(rewritten)
}

fn find(text: &str, sheet: &str) -> Result<Vec<Reference>> {
    let mut found = Vec::new();
    let mut position = 0;
    while position < text.len() {
        let rest = &text[position..];
        if rest.starts_with("/*") {
            position += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some((start, end, after)) = address_at(rest) {
            let (start, end) = (position + start, position + end);
            if let Some(name) = resolve(&text[start..end], sheet)? {
                found.push(Reference { start, end, name });
            }
            position += after;
        } else if let Some(quoted) = quoted_at(rest) {
            // A string may contain anything, also what looks like a reference or a comment.
            position += quoted.len();
        } else {
            position += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    Ok(found)
}

/// The address in `url(…)` or `@import "…"` at the beginning of a text: its start, its end, and where to go on.
fn address_at(text: &str) -> Option<(usize, usize, usize)> {
    if let Some(inside) = strip_prefix_ignoring_case(text, "url(") {
        let inside = inside.trim_start();
        let start = text.len() - inside.len();
        if let Some(quoted) = quoted_at(inside) {
            return Some((start + 1, start + quoted.len() - 1, start + quoted.len()));
        }
        let end = start + inside.find(')')?;
        return Some((start, start + text[start..end].trim_end().len(), end + 1));
    }
    let after = strip_prefix_ignoring_case(text, "@import")?.trim_start();
    let start = text.len() - after.len();
    let quoted = quoted_at(after)?;
    Some((start + 1, start + quoted.len() - 1, start + quoted.len()))
}

fn strip_prefix_ignoring_case<'text>(text: &'text str, prefix: &str) -> Option<&'text str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The string in quotes at the beginning of a text, with its quotes.
fn quoted_at(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut escaped = false;
    for (position, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(&text[..=position]),
            _ => {}
        }
    }
    None
}

/// The plain name that an address means, or nothing when it stays inside the sheet or the document.
fn resolve(address: &str, sheet: &str) -> Result<Option<String>> {
    if address.starts_with('#') || address.starts_with("data:") {
        return Ok(None);
    }
    let (path, _) = split_suffix(address);
    if path.starts_with('/') || path.contains(':') {
        bail!(
            "static/{sheet} refers to `{address}`: the server hands out only its own files under hashed names, so \
             use an address relative to the style sheet"
        );
    }
    let mut parts: Vec<&str> = sheet.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                if parts.pop().is_none() {
                    bail!("static/{sheet} refers to `{address}`, which is outside the static folder");
                }
            }
            name => parts.push(name),
        }
    }
    Ok(Some(parts.join("/")))
}

/// Splits an address before its `?query` or `#fragment`.
fn split_suffix(address: &str) -> (&str, &str) {
    address.split_at(address.find(['?', '#']).unwrap_or(address.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        [("fonts/a.woff2", "fonts/a.11.woff2"), ("css/b.css", "css/b.22.css"), ("icons.svg", "icons.33.svg")]
            .map(|(name, hashed)| (name.to_owned(), hashed.to_owned()))
            .into()
    }

    #[test]
    fn addresses_follow_the_files() {
        let cases = [
            ("src: url(../fonts/a.woff2)", "src: url(../fonts/a.11.woff2)"),
            (
                "src: url( '../fonts/a.woff2' ) format('woff2')",
                "src: url( '../fonts/a.11.woff2' ) format('woff2')",
            ),
            ("a { b: URL(\"../icons.svg#x\") }", "a { b: URL(\"../icons.33.svg#x\") }"),
            ("@import 'b.css';", "@import 'b.22.css';"),
            ("@import url(./b.css) screen;", "@import url(./b.22.css) screen;"),
        ];
        for (text, expected) in cases {
            assert_eq!(rewrite(text, "css/app.css", &manifest()).expect(text), expected);
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "/* url(missing.png) */ a { color: red }",
            "a { b: url(data:image/svg+xml;base64,AAAA) }",
            "a { filter: url(#blur) }",
            "a::before { content: 'url(missing.png) /*' }",
            "a::before { content: \"\\\"url(x)\" } /* é → */",
        ] {
            assert_eq!(rewrite(text, "css/app.css", &manifest()).expect(text), text);
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused() {
        for (text, part) in [
            ("a { b: url(missing.png) }", "no static/css/missing.png"),
            ("a { b: url(/fonts/a.woff2) }", "relative to the style sheet"),
            ("@import 'https://example.org/a.css';", "relative to the style sheet"),
            ("a { b: url(../../x.png) }", "outside the static folder"),
        ] {
            let error = rewrite(text, "css/app.css", &manifest()).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
