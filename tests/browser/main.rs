//! The browser app in a real Chromium, against a real server.
//!
//! A test acts as a person does: it opens addresses, types, clicks and reads what is shown.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chat;
mod chromium;
mod journeys;
mod keyboard;
mod looks;
mod profiles;
mod servers;
