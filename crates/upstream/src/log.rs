//! The last lines that a program wrote to its standard error.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

const MAX_LINES: usize = 200;
const MAX_CHARS: usize = 2_000;
/// The most bytes that `MAX_CHARS` characters can take.
const MAX_BYTES: usize = MAX_CHARS * 4;

/// The last lines, oldest first. It outlives the program, because what it wrote last says why it ended.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Mutex<VecDeque<String>>,
}

impl Log {
    /// Adds a line, cut to size and without control characters, which could rewrite a terminal or a page.
    pub(crate) fn push(&self, line: &[u8]) {
        let line = &line[..line.len().min(MAX_BYTES)];
        let text = String::from_utf8_lossy(line);
        let kept = text.chars().filter(|c| *c == '\t' || !c.is_control()).take(MAX_CHARS).collect();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(kept);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reads lines until the end. A flood is read as fast as it comes, so that the program is not held up, and forgotten.
pub(crate) async fn read_lines(mut stderr: impl AsyncRead + Unpin, log: &Log) {
    let mut chunk = vec![0; 8 * 1024];
    let mut line = Vec::new();
    while let Ok(read) = stderr.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        let mut rest = &chunk[..read];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            append(&mut line, &rest[..end]);
            log.push(&line);
            line.clear();
            rest = &rest[end + 1..];
        }
        append(&mut line, rest);
    }
    if !line.is_empty() {
        log.push(&line);
    }
}

/// Adds what still fits: a line that never ends must not fill the memory.
fn append(line: &mut Vec<u8>, part: &[u8]) {
    let room = MAX_BYTES.saturating_sub(line.len());
    line.extend_from_slice(&part[..part.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_cut_cleaned_and_only_the_last_are_kept() {
        let log = Log::default();
        let mut text = "old\n".repeat(250).into_bytes();
        text.extend_from_slice(b"a\tb\x1b[31mred\r\n\xff\n");
        text.extend_from_slice("é".repeat(3_000).as_bytes());
        text.extend_from_slice(b"\nno newline");
        read_lines(text.as_slice(), &log).await;
        let lines = log.lines();
        assert_eq!(lines.len(), 200);
        assert_eq!(lines[195], "old");
        assert_eq!(lines[196], "a\tb[31mred");
        assert_eq!(lines[197], "\u{fffd}");
        assert_eq!(lines[198].chars().count(), 2_000);
        assert_eq!(lines[199], "no newline");
    }
}
