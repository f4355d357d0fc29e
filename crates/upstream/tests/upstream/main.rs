//! The adapter against servers in real processes and on real sockets, most of which misbehave.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod calls;
mod http;
mod life;
mod lists;
mod support;
