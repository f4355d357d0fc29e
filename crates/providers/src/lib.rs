//! Models that answer.
//!
//! [`Console`] works without any key and makes no claim to be a language model.

mod console;

pub use console::Console;
