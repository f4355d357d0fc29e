//! The `toolshelf` program.
fn main() {}
