//! Lines of a file that may be of any length.

use std::io::{self, BufRead};

use memchr::memchr;

/// One line. Its storage is used again for the next.
#[derive(Default)]
pub(super) struct Line {
    /// The beginning of the line, without its line break.
    pub(super) kept: Vec<u8>,
    /// How many characters the whole line has, without its line break. Not counted for a line that is only passed.
    pub(super) chars: u64,
    /// Whether the line ends in a carriage return and a line feed.
    pub(super) crlf: bool,
}

/// Reads the next line, of which at most `keep` bytes are stored; with 0 it is only passed. Returns whether there was
/// one.
///
/// A file may be one line of many megabytes, so a line never becomes larger than what is shown of it.
pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Line, keep: usize) -> io::Result<bool> {
    line.kept.clear();
    line.chars = 0;
    line.crlf = false;
    let mut any = false;
    let mut bytes = 0_usize;
    let mut last_is_return = false;
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        if keep > 0 {
            // Bytes that continue a character are not counted; for what is not UTF-8 this is near enough.
            line.chars += part.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        }
        bytes += part.len();
        let room = keep.saturating_sub(line.kept.len()).min(part.len());
        line.kept.extend_from_slice(&part[..room]);
        last_is_return = part.last().map_or(last_is_return, |byte| *byte == b'\r');
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            if last_is_return {
                line.crlf = true;
                line.chars = line.chars.saturating_sub(1);
                line.kept.truncate(bytes - 1);
            }
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{Line, next_line};

    fn lines(text: &[u8], keep: usize, buffer: usize) -> Vec<(Vec<u8>, u64, bool)> {
        let mut reader = BufReader::with_capacity(buffer, text);
        let mut line = Line::default();
        let mut lines = Vec::new();
        while next_line(&mut reader, &mut line, keep).unwrap() {
            lines.push((line.kept.clone(), line.chars, line.crlf));
        }
        lines
    }

    #[test]
    fn lines_are_the_same_whatever_the_buffer() {
        let text = "a\r\n\n读读\nb\rc\r\nlast".as_bytes();
        let expected = vec![
            (b"a".to_vec(), 1, true),
            (b"".to_vec(), 0, false),
            ("读读".as_bytes().to_vec(), 2, false),
            (b"b\rc".to_vec(), 3, true),
            (b"last".to_vec(), 4, false),
        ];
        for buffer in [1, 2, 3, 64] {
            assert_eq!(lines(text, 100, buffer), expected, "buffer of {buffer}");
        }
    }

    #[test]
    fn a_long_line_is_counted_and_not_kept() {
        let text = [b"x".repeat(100_000), b"\r\nend\r".to_vec()].concat();
        assert_eq!(lines(&text, 3, 512), vec![(b"xxx".to_vec(), 100_000, true), (b"end".to_vec(), 4, false)]);
        assert_eq!(lines(b"\r\n", 0, 1), vec![(Vec::new(), 0, true)]);
    }

    #[test]
    fn nothing_has_no_lines() {
        assert!(lines(b"", 10, 8).is_empty());
        assert_eq!(lines(b"\n", 10, 8).len(), 1);
    }
}
