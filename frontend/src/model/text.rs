//! Figures and names as people read them.

/// A whole number with separators between thousands: `1,420`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 tool`, `7 tools`.
pub fn count(number: usize, singular: &str, plural: &str) -> String {
    let word = if number == 1 { singular } else { plural };
    format!("{} {word}", thousands(number as u64))
}

/// A span of milliseconds: `18 ms`, `1.2 s`, `2 min 5 s`.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// The first paragraph of a description, on one line.
pub fn one_line(description: &str) -> String {
    let paragraph = description.trim_start().split("\n\n").next().unwrap_or_default();
    let mut line = String::with_capacity(paragraph.len());
    for word in paragraph.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{capitalized, count, duration, one_line, thousands};

    #[test]
    fn figures_are_easy_to_read() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (22_410, "22,410"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(count(1, "tool", "tools"), "1 tool");
        assert_eq!(count(5_000, "tool", "tools"), "5,000 tools");
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (milliseconds, text) in [(0, "0 ms"), (999, "999 ms"), (1_250, "1.2 s"), (59_999, "59.9 s"), (125_000, "2 min 5 s")] {
            assert_eq!(duration(milliseconds), text);
        }
    }

    #[test]
    fn a_description_becomes_one_line() {
        assert_eq!(one_line("  Reads\n a file.\n\nMore."), "Reads a file.");
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn names_begin_with_a_capital() {
        assert_eq!(capitalized("files"), "Files");
        assert_eq!(capitalized("客户"), "客户");
        assert_eq!(capitalized(""), "");
    }
}
