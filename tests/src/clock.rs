//! A clock that stands still until a test moves it.

use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use toolshelf_runtime::Clock;

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct TestClock {
    now: Mutex<DateTime<Utc>>,
}

impl TestClock {
    /// A clock that shows noon of the first of March 2026.
    pub fn new() -> Self {
        let now = DateTime::from_timestamp(1_772_366_400, 0).expect("a time that exists");
        Self { now: Mutex::new(now) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: TimeDelta) {
        *self.now.lock().expect("no holder of this lock panics") += by;
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        *self.now.lock().expect("no holder of this lock panics")
    }
}
