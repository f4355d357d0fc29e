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

/// The first sentence of a description, on one line.
pub fn summary(description: &str) -> String {
    let mut line = String::new();
    for word in description.split_whitespace() {
        // A sentence begins with a capital or with a script that has none; `e.g. files` goes on.
        let begins = word.chars().next().is_some_and(|first| first.is_uppercase() || !first.is_ascii());
        if begins && line.ends_with(['.', '!', '?']) {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        match word.find('。') {
            Some(end) => {
                line.push_str(&word[..end + '。'.len_utf8()]);
                break;
            }
            None => line.push_str(word),
        }
    }
    line
}

/// A text cut at its backticks: parts to show as they are, and parts to show as code.
pub fn code_spans(text: &str) -> Vec<(bool, &str)> {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd backtick opens nothing.
    if parts.len().is_multiple_of(2) {
        return vec![(false, text)];
    }
    let spans = parts.into_iter().enumerate().map(|(index, part)| (!index.is_multiple_of(2), part));
    spans.filter(|(_, part)| !part.is_empty()).collect()
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
    use super::{capitalized, code_spans, count, duration, summary, thousands};

    #[test]
    fn figures_are_easy_to_read() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (22_410, "22,410"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(count(1, "tool", "tools"), "1 tool");
        assert_eq!(count(5_000, "tool", "tools"), "5,000 tools");
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (milliseconds, text) in
            [(0, "0 ms"), (999, "999 ms"), (1_250, "1.2 s"), (59_999, "59.9 s"), (125_000, "2 min 5 s")]
        {
            assert_eq!(duration(milliseconds), text);
        }
    }

    #[test]
    fn a_description_is_summed_up_by_its_first_sentence() {
        for (description, expected) in [
            ("  Reads\n a file. Folders are refused.\n\nMore.", "Reads a file."),
            ("Finds names, e.g. files, in src/*.rs. Then more.", "Finds names, e.g. files, in src/*.rs."),
            ("检索文章，返回标题。支持筛选。", "检索文章，返回标题。"),
            ("No end", "No end"),
            ("", ""),
        ] {
            assert_eq!(summary(description), expected);
        }
    }

    #[test]
    fn code_is_between_backticks() {
        assert_eq!(
            code_spans("such as `*.rs`, or `.`"),
            [(false, "such as "), (true, "*.rs"), (false, ", or "), (true, ".")]
        );
        assert_eq!(code_spans("one ` alone"), [(false, "one ` alone")]);
        assert_eq!(code_spans("plain"), [(false, "plain")]);
    }

    #[test]
    fn names_begin_with_a_capital() {
        assert_eq!(capitalized("files"), "Files");
        assert_eq!(capitalized("客户"), "客户");
        assert_eq!(capitalized(""), "");
    }
}
