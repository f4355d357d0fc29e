//! Token estimates for what a tool costs in a request.

use serde_json::Value;

/// Names the way in which token figures are made, for the API's `tokens.method`.
pub const METHOD: &str = "estimate";

/// Estimated tokens of one tool as sent to a model: name, description and parameter schema.
///
/// Words of Latin script cost about one token for each four letters, punctuation of JSON about one for each two
/// characters, and a character of Chinese, Japanese or Korean about one. The test suite compares this with a real
/// tokenizer, whose vocabulary is too large to hold in the server.
pub fn estimate(name: &str, description: &str, parameters: &Value) -> u32 {
    /// What the provider adds around each tool.
    const ENVELOPE: f32 = 8.0;
    let mut cost = ENVELOPE + text_cost(name) + text_cost(description);
    cost += text_cost(&parameters.to_string());
    // The figure is positive and far below 2^24, where f32 counts whole numbers exactly.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let tokens = cost.round() as u32;
    tokens
}

/// Estimated tokens of a text.
pub(crate) fn estimate_text(text: &str) -> u32 {
    // The figure is positive and far below 2^24, where f32 counts whole numbers exactly.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let tokens = text_cost(text).round() as u32;
    tokens
}

fn text_cost(text: &str) -> f32 {
    let mut cost = 0.0;
    let mut word = 0_u16;
    let flush = |word: &mut u16| {
        let tokens = match *word {
            0 => 0.0,
            // Short and common words are one token whole; longer ones split.
            letters @ 1..=7 => 0.9 + f32::from(letters) * 0.02,
            letters => f32::from(letters) / 5.0,
        };
        *word = 0;
        tokens
    };
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word = word.saturating_add(1);
            continue;
        }
        cost += flush(&mut word);
        cost += match character {
            ' ' => 0.0,
            _ if character.is_ascii() => 0.45,
            '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' => 0.85,
            _ => 0.7,
        };
    }
    cost + flush(&mut word)
}

#[cfg(test)]
mod tests {
    use super::estimate;
    use serde_json::json;

    #[test]
    fn grows_with_the_text() {
        let small = estimate("read", "Read a file.", &json!({"type": "object"}));
        let large = estimate(
            "read",
            "Read a file, with line numbers, from the workspace.",
            &json!({"type": "object"}),
        );
        assert!(small > 8 && large > small);
    }
}
