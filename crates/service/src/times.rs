//! Times as the API writes them.

use chrono::{DateTime, SecondsFormat, Utc};

/// A time as RFC 3339 in UTC with microseconds.
pub fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}
