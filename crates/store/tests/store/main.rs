//! What every store does, and what the store on `SQLite` does besides.
#![expect(clippy::unwrap_used, reason = "clippy takes helpers outside of test functions for code that ships")]

mod conformance;
mod damage;
mod sqlite;
