//! Tables and properties of the resolver.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod deferral;
mod layers;
mod profiles;
mod properties;
mod servers;
mod support;
mod tokens;
mod turn;
mod world;
