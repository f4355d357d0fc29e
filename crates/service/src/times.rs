//! Times as the API writes them.

use chrono::{DateTime, SecondsFormat, Utc};

/// A time as RFC 3339 in UTC with microseconds.
pub fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Reads a time that [`rfc3339`] wrote.
pub(crate) fn from_rfc3339(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
}
