//! Everything this program prints, so that progress looks the same in every command.
//!
//! Progress goes to standard error, where cargo's own progress goes, so that both stay in order; results that
//! someone may want to keep go to standard output.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "talking to the person at the terminal")]

use std::time::Duration;

/// Announces a step before it starts, with a hint about its length, because silence looks like a hang.
pub(crate) fn step(what: &str) {
    eprintln!("==> {what}");
}

/// Says something about the step in progress.
pub(crate) fn note(what: &str) {
    eprintln!("    {what}");
}

/// Says that something is not as it should be, though the work goes on.
pub(crate) fn warning(what: &str) {
    eprintln!("warning: {what}");
}

/// Prints why the command failed: the outermost reason first, each cause under it.
pub(crate) fn failure(error: &anyhow::Error) {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
}

/// Prints a result on standard output.
pub(crate) fn result(text: &str) {
    println!("{text}");
}

/// Lays out rows under a header, each column as wide as its widest cell.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> =
            cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  ");
    let mut lines = vec![line(&mut header.iter().copied()), rule];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// A duration as people say it: `0.4 s`, `12.3 s`, `4 min 05 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

/// A size in kilobytes of 1000 bytes, the unit in which transfer sizes are usually given.
pub(crate) fn kilobytes(bytes: u64) -> String {
    format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = vec![
            vec!["format".to_owned(), "passed".to_owned(), "0.9 s".to_owned()],
            vec!["frontend-lint".to_owned(), "skipped".to_owned(), String::new()],
        ];
        let expected = "\
stage          result   time
-------------  -------  -----
format         passed   0.9 s
frontend-lint  skipped";
        assert_eq!(table(&["stage", "result", "time"], &rows), expected);
    }

    #[test]
    fn durations_and_sizes_read_naturally() {
        assert_eq!(seconds(Duration::from_millis(420)), "0.4 s");
        assert_eq!(seconds(Duration::from_secs(245)), "4 min 05 s");
        assert_eq!(kilobytes(249_960), "249.9 kB");
    }
}
