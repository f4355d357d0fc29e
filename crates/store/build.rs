//! Makes Cargo build this crate again when a migration is added: the compiler sees only those that exist.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations/sqlite");
}
