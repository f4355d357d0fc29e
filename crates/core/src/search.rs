//! Searching the tools that a request could call.
//!
//! A search ranks what the request could call and nothing else, so a tool that cannot be called takes no place from one that
//! can. An exact name always wins; the rest is BM25 over name, title, description, names of parameters and service.

use std::collections::HashMap;

use crate::compiled::Compiled;
use crate::evaluate::evaluate;
use crate::request::{Request, RequestError};
use crate::snapshot::{Snapshot, ToolIndex};
use crate::tool::Tool;
use crate::verdict::Outcome;

/// The most queries of one search.
pub const QUERIES_MAX: usize = 10;
/// The most tools that a search finds.
pub const FOUND_MAX: usize = 20;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Texts, each ranked by itself; the best of each come in turns.
    pub queries: Vec<String>,
    /// Exact names.
    pub select: Vec<String>,
    /// The most tools that the queries find; exact names come beside them.
    pub limit: usize,
}

/// A tool that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundTool {
    /// Its position in the snapshot.
    pub index: ToolIndex,
    /// How well it fits; larger is better. An exact name has the largest.
    pub score: f64,
    /// Whether its schema is sent anyway.
    pub already_available: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Tools, best first.
    pub tools: Vec<FoundTool>,
    /// Names that were asked for and are no tools that could be called.
    pub unknown: Vec<String>,
}

impl Search {
    /// Reads what a model writes into queries: `select:a,b` and a bare list of names with commas ask for exact names.
    #[must_use]
    pub fn read(queries: Vec<String>, select: Vec<String>, limit: usize) -> Self {
        let mut search = Self { queries: Vec::new(), select, limit: limit.clamp(1, FOUND_MAX) };
        for query in queries.into_iter().take(QUERIES_MAX) {
            let list = query.trim().strip_prefix("select:");
            let names: Vec<String> =
                list.unwrap_or(&query).split(',').map(|name| name.trim().to_owned()).collect();
            let is_list =
                names.len() > 1 && names.iter().all(|name| crate::names::validate_tool_name(name).is_ok());
            if list.is_some() || is_list {
                search.select.extend(names.into_iter().filter(|name| !name.is_empty()));
            } else {
                search.queries.push(query);
            }
        }
        search
    }
}

/// Finds tools that the request could call.
pub fn search(snapshot: &Snapshot, request: &Request, search: &Search) -> Result<Found, RequestError> {
    let compiled = Compiled::new(snapshot, request)?;
    let callable: Vec<(ToolIndex, bool)> = snapshot
        .indexes()
        .filter(|index| !snapshot.tool(*index).is_loader())
        .filter_map(|index| {
            let outcome = evaluate(snapshot, &compiled, index).outcome;
            outcome.is_callable().then_some((index, outcome == Outcome::Offered))
        })
        .collect();
    let mut found = Found::default();
    let add = |index: ToolIndex, already_available: bool, score: f64, found: &mut Found| {
        if found.tools.iter().all(|known| known.index != index) {
            found.tools.push(FoundTool { index, score, already_available });
        }
    };
    let exact = |name: &str| {
        let index = snapshot.find(name)?;
        let position = callable.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        callable.get(position).copied()
    };
    for name in &search.select {
        match exact(name) {
            Some((index, already)) => add(index, already, f64::MAX, &mut found),
            None if found.unknown.contains(name) => {}
            None => found.unknown.push(name.clone()),
        }
    }
    let index = Index::new(snapshot, &callable);
    let ranked: Vec<Vec<(usize, f64)>> = search
        .queries
        .iter()
        .map(|query| {
            if let Some((index, already)) = exact(query.trim()) {
                add(index, already, f64::MAX, &mut found);
            }
            index.rank(query)
        })
        .collect();
    let most = found.tools.len() + search.limit;
    let longest = ranked.iter().map(Vec::len).max().unwrap_or(0);
    'all: for place in 0..longest {
        for list in &ranked {
            if found.tools.len() >= most {
                break 'all;
            }
            if let Some((position, score)) = list.get(place) {
                let (index, already) = callable[*position];
                add(index, already, *score, &mut found);
            }
        }
    }
    Ok(found)
}

/// The words that a search finds a tool by, each with its weight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    weights: HashMap<Box<str>, f32>,
    length: f32,
}

impl Terms {
    pub(crate) fn of(tool: &Tool) -> Self {
        let mut terms = Self::default();
        terms.add(tool.name(), 3.0);
        terms.add(tool.method(), 1.0);
        terms.add(tool.title().unwrap_or_default(), 2.0);
        terms.add(tool.service(), 1.0);
        terms.add(tool.description(), 1.0);
        if let Some(properties) = tool.parameters().get("properties").and_then(|value| value.as_object()) {
            for (name, schema) in properties {
                terms.add(name, 0.7);
                terms.add(schema.get("description").and_then(|text| text.as_str()).unwrap_or_default(), 0.3);
            }
        }
        terms
    }

    fn add(&mut self, text: &str, weight: f32) {
        for word in words(text) {
            self.length += weight;
            *self.weights.entry(word.into_boxed_str()).or_default() += weight;
        }
    }
}

/// The words of a text: runs of letters and digits, split where a new word begins inside of a name, in small letters and
/// without the commonest English endings; of Chinese, Japanese and Korean text each pair of neighbours.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let end = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(stem(word));
            word.clear();
        }
    };
    for character in text.chars() {
        if is_cjk(character) {
            end(&mut word, &mut words);
            match before.filter(|before| is_cjk(*before)) {
                Some(before) => words.push([before, character].iter().collect()),
                None => words.push(character.to_string()),
            }
        } else if character.is_alphanumeric() {
            if character.is_uppercase() && before.is_some_and(char::is_lowercase) {
                end(&mut word, &mut words);
            }
            word.extend(character.to_lowercase());
        } else {
            end(&mut word, &mut words);
        }
        before = Some(character);
    }
    end(&mut word, &mut words);
    words
}

fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}')
}

/// A word without a plural or participle ending, so that `files` finds `file`.
fn stem(word: &str) -> String {
    let cut = |ending: &str, least: usize| {
        word.strip_suffix(ending).filter(|rest| rest.chars().count() >= least).map(str::to_owned)
    };
    if let Some(rest) = cut("ies", 2) {
        return format!("{rest}y");
    }
    for (ending, least) in [("sses", 2), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3), ("e", 4)] {
        if ending == "s" && word.ends_with("ss") {
            continue;
        }
        if let Some(rest) = cut(ending, least) {
            return if ending == "sses" { format!("{rest}ss") } else { rest };
        }
    }
    word.to_owned()
}

/// BM25 over the tools that could be called.
struct Index<'a> {
    names: Vec<&'a str>,
    terms: Vec<&'a Terms>,
    average: f32,
}

impl<'a> Index<'a> {
    fn new(snapshot: &'a Snapshot, callable: &[(ToolIndex, bool)]) -> Self {
        let names = callable.iter().map(|(index, _)| snapshot.tool(*index).name().as_ref()).collect();
        let terms: Vec<&Terms> = callable.iter().map(|(index, _)| snapshot.tool(*index).terms()).collect();
        #[expect(clippy::cast_precision_loss, reason = "a count of tools")]
        let average = terms.iter().map(|terms| terms.length).sum::<f32>() / terms.len().max(1) as f32;
        Self { names, terms, average: average.max(1.0) }
    }

    /// Positions with scores, best first. `+word` must be in the name.
    fn rank(&self, query: &str) -> Vec<(usize, f64)> {
        const K: f32 = 1.2;
        const B: f32 = 0.75;
        let required: Vec<String> =
            query.split_whitespace().filter_map(|word| word.strip_prefix('+')).flat_map(words).collect();
        let mut wanted = words(query);
        wanted.sort();
        wanted.dedup();
        #[expect(clippy::cast_precision_loss, reason = "counts of tools")]
        let rarity: Vec<f32> = wanted
            .iter()
            .map(|word| {
                let holding =
                    self.terms.iter().filter(|terms| terms.weights.contains_key(word.as_str())).count();
                let (holding, all) = (holding as f32, self.terms.len() as f32);
                ((all - holding + 0.5) / (holding + 0.5)).ln_1p()
            })
            .collect();
        let mut scored: Vec<(usize, f64)> = self
            .terms
            .iter()
            .enumerate()
            .filter(|(position, _)| {
                required.is_empty() || {
                    let name = words(self.names[*position]);
                    required.iter().all(|word| name.contains(word))
                }
            })
            .filter_map(|(position, terms)| {
                let score: f32 = wanted
                    .iter()
                    .zip(&rarity)
                    .filter_map(|(word, rarity)| {
                        let weight = terms.weights.get(word.as_str())?;
                        let length = 1.0 - B + B * terms.length / self.average;
                        Some(rarity * weight * (K + 1.0) / (weight + K * length))
                    })
                    .sum();
                (score > 0.0).then_some((position, f64::from(score)))
            })
            .collect();
        // Tools stand in the order of lists, which decides among equals.
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        scored.truncate(FOUND_MAX);
        scored
    }
}

#[cfg(test)]
mod tests {
    use super::{Search, words};

    #[test]
    fn words_of_names_and_of_chinese() {
        for (text, expected) in [
            ("searchRepositories", vec!["search", "repository"]),
            ("git_diff-staged", vec!["git", "diff", "stag"]),
            ("Lists files", vec!["list", "file"]),
            ("class pass", vec!["class", "pass"]),
            ("天气查询", vec!["天", "天气", "气查", "查询"]),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn lists_of_names_inside_of_queries() {
        let read = |query: &str| {
            let search = Search::read(vec![query.to_owned()], Vec::new(), 5);
            (search.queries, search.select)
        };
        assert_eq!(read("select:a, b"), (vec![], vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(read("a__x,b__y").1.len(), 2);
        assert_eq!(read("read a file, then write").0.len(), 1);
        assert_eq!(read("weather").0, ["weather"]);
    }
}
