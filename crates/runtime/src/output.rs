//! What a tool returns, and how it is cut to size.

use std::sync::Arc;

use serde_json::Value;

/// The most characters of a result, unless its author says otherwise.
pub const DEFAULT_MAX_CHARS: usize = 30_000;

/// What a tool returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolReturn {
    /// The text for the model.
    pub text: String,
    /// Structured data beside the text.
    pub data: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Tools that it loads for the conversation. Only the loader's count.
    pub loads: Vec<Arc<str>>,
}

impl From<String> for ToolReturn {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for ToolReturn {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Cuts a text to at most `max_chars` characters, the marker included.
///
/// What is kept is the beginning and the end: `head_ratio` (0.0 to 1.0) of it is beginning. The marker says how many
/// of how many characters were left out. A text at or under the limit is untouched; a limit too small for the
/// marker keeps only the beginning.
pub fn cap(text: String, max_chars: usize, head_ratio: f64) -> String {
    // A text has at most as many characters as bytes, so most texts need no counting.
    if text.len() <= max_chars {
        return text;
    }
    let total = text.chars().count();
    if total <= max_chars {
        return text;
    }
    // The marker's own length depends on the figure in it, so it is first made for the longest figure.
    let marker_room = marker(total, total).chars().count();
    let Some(kept) = max_chars.checked_sub(marker_room).filter(|kept| *kept > 0) else {
        return text.chars().take(max_chars).collect();
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a count of characters times a ratio between 0 and 1"
    )]
    let head = ((kept as f64 * head_ratio.clamp(0.0, 1.0)).round() as usize).min(kept);
    let tail = kept - head;
    let mut output: String = text.chars().take(head).collect();
    output.push_str(&marker(total - kept, total));
    output.extend(text.chars().skip(total - tail));
    output
}

fn marker(left_out: usize, total: usize) -> String {
    format!(
        "\n\n[… {} of {} characters left out; narrow the request to see them …]\n\n",
        thousands(left_out as u64),
        thousands(total as u64)
    )
}

/// A number with commas between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::cap;

    #[test]
    fn a_text_at_or_under_the_limit_is_untouched() {
        for text in ["", "abc", "读读读"] {
            assert_eq!(cap(text.to_owned(), 3, 0.7), text);
        }
    }

    #[test]
    fn output_never_exceeds_the_limit_and_says_what_is_missing() {
        let text: String = ('a'..='z').cycle().take(50_000).collect();
        for (max, ratio) in
            [(30_000, 0.7), (2_000, 0.0), (2_000, 1.0), (500, 0.5), (90, 0.5), (10, 0.7), (0, 0.7)]
        {
            let output = cap(text.clone(), max, ratio);
            assert!(output.chars().count() <= max, "limit {max}, ratio {ratio}");
            if max >= 90 {
                assert!(output.contains("of 50,000 characters left out"), "limit {max}");
            }
        }
        assert!(cap(text.clone(), 2_000, 1.0).starts_with("abc"));
        assert!(cap(text.clone(), 2_000, 0.0).ends_with(&text[text.len() - 100..]));
        let kept: usize = cap(text.clone(), 1_000, 0.5).chars().filter(char::is_ascii_alphabetic).count();
        assert!(kept > 900);
    }

    #[test]
    fn cuts_between_characters() {
        let output = cap("读".repeat(10_000), 1_000, 0.7);
        assert!(output.chars().count() <= 1_000 && output.starts_with('读') && output.ends_with('读'));
    }
}
