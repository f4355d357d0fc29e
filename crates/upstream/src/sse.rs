//! Messages in a stream of events.

use std::io;

use futures_util::stream::{BoxStream, StreamExt as _};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use crate::fault::Fault;
use crate::raw::{Results, enveloped};
use crate::words::{MAX_MESSAGE, TOO_LARGE};

/// The events of an answer, their results as `results` says. An event that is too large ends the connection.
pub(crate) fn events(
    response: Response,
    results: Results,
    fault: Fault,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut size = EventSize::default();
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        if size.after(&chunk) > MAX_MESSAGE {
            fault.set(TOO_LARGE);
            return Err(io::Error::other(TOO_LARGE));
        }
        Ok(chunk)
    });
    SseStream::from_bytes_stream(bytes)
        .map(move |event| {
            event.map(|mut event| {
                if results == Results::Plain {
                    event.data = event.data.map(enveloped);
                }
                event
            })
        })
        .boxed()
}

/// Counts the bytes of the event that is being read. The parser itself keeps as much as comes.
#[derive(Debug, Default)]
struct EventSize {
    /// Whole lines, but for comments, which keep a connection open and are not kept.
    lines: usize,
    /// The line that is being read.
    line: usize,
    is_comment: bool,
    /// Whether the last byte was a carriage return, which a line feed may belong to.
    after_return: bool,
}

impl EventSize {
    /// The size of the largest event that is open at any time in the chunk.
    fn after(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        for byte in chunk {
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' => self.end_line(),
                _ => {
                    self.is_comment = if self.line == 0 { *byte == b':' } else { self.is_comment };
                    self.line += 1;
                    largest = largest.max(self.lines + self.line);
                }
            }
            self.after_return = *byte == b'\r';
        }
        largest
    }

    fn end_line(&mut self) {
        if self.line == 0 {
            self.lines = 0;
        } else if !self.is_comment {
            self.lines += self.line;
        }
        self.line = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_counted_from_blank_line_to_blank_line() {
        let mut size = EventSize::default();
        assert_eq!(size.after(b"data: 12"), 8);
        assert_eq!(size.after(b"34\r\ndata: 5"), 17);
        assert_eq!(size.after(b"\r"), 0);
        assert_eq!(size.after(b"\n\r\nid: 1"), 5);
        assert_eq!(size.after(b"\n:a comment\n"), 15);
        assert_eq!(size.after(b"id: 2\n"), 10);
    }
}
