//! The functions on files against real folders.

mod escapes;
mod glob;
mod grep;
mod list;
mod read;
