//! Looks into HTML pages, as far as tests need it.

use std::collections::BTreeMap;

/// The opening tags of an element, each with its attributes as they are written.
pub fn tags(html: &str, element: &str) -> Vec<BTreeMap<String, String>> {
    let opening = format!("<{element}");
    html.match_indices(&opening)
        .filter_map(|(at, _)| {
            let rest = &html[at + opening.len()..];
            let is_whole = rest.starts_with([' ', '>', '\n', '/']);
            is_whole.then(|| attributes(rest))
        })
        .collect()
}

fn attributes(mut rest: &str) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([' ', '\n', '/']);
        let end = rest.find(['=', ' ', '>', '\n']).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() {
            return attributes;
        }
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (inside, after) = quoted.split_once('"').expect("an attribute's closing quote");
            value = unescape(inside);
            rest = after;
        }
        attributes.insert(name.to_owned(), value);
    }
}

fn unescape(text: &str) -> String {
    text.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}

/// The values of a page's input elements by their names. Of several with one name, the first counts.
pub fn inputs(html: &str) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    for tag in tags(html, "input") {
        if let Some(name) = tag.get("name") {
            inputs.entry(name.clone()).or_insert_with(|| tag.get("value").cloned().unwrap_or_default());
        }
    }
    inputs
}

/// The texts of all script elements, as a browser delimits them.
pub fn script_texts(html: &str) -> Vec<String> {
    let lower = html.to_ascii_lowercase();
    let mut texts = Vec::new();
    let mut from = 0;
    while let Some(at) = lower[from..].find("<script") {
        let start = from + at + lower[from + at..].find('>').expect("the end of a tag") + 1;
        let end = start + lower[start..].find("</script").expect("the end of a script");
        texts.push(html[start..end].to_owned());
        from = end;
    }
    texts
}

/// The API keys' tokens that stand in a text, each once.
pub fn tokens_in(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for part in
        text.split(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '_' | '-')))
    {
        if part.starts_with("ts_") && part.len() == 46 && !tokens.iter().any(|token| token == part) {
            tokens.push(part.to_owned());
        }
    }
    tokens
}
