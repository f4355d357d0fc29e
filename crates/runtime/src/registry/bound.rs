//! Results within the limits of their function.

use std::io::{self, Write};

use serde_json::Value;

use crate::output::{ToolReturn, cap};

/// The most bytes of the structured data of a result as JSON. A client reads all of it, whatever the text shows.
const MAX_DATA: usize = 1_000_000;

const LEFT_OUT: &str = "[The structured data was left out, because it is larger than 1 MB.]";

/// Cuts the text, and leaves out data that is too large.
pub(super) fn bounded(output: ToolReturn, most: usize, ratio: f64) -> ToolReturn {
    let ToolReturn { text, data, is_error, loads } = output;
    if data.as_ref().is_none_or(fits) {
        return ToolReturn { text: cap(text, most, ratio), data, is_error, loads };
    }
    let end = format!("\n\n{LEFT_OUT}");
    let text = match most.checked_sub(end.chars().count()) {
        _ if text.is_empty() => cap(LEFT_OUT.to_owned(), most, ratio),
        // The text is cut first, so that what is said about the data is never what is cut.
        Some(room) => cap(text, room, ratio) + &end,
        None => cap(text + &end, most, ratio),
    };
    ToolReturn { text, data: None, is_error, loads }
}

/// Whether data is within the limit. It is written to nowhere, and only as far as the limit.
fn fits(data: &Value) -> bool {
    serde_json::to_writer(Room(MAX_DATA), data).is_ok()
}

/// Takes so many bytes and then fails.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("the data is too large"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
