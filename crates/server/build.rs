//! Makes the folder of the UI, and builds again when the UI that release builds embed has changed.

use std::io;

/// Where `cargo xtask ui` writes, as `assets.rs` names it.
const UI: &str = "../../target/ui";

fn main() -> io::Result<()> {
    // `rust-embed` notes the real path of the folder while it compiles. Without a folder it would note a path with
    // `..` in it, and a debug build would then refuse every file of a UI that is built after the server.
    std::fs::create_dir_all(UI)?;
    println!("cargo:rerun-if-changed=build.rs");
    // A debug build reads the UI from disk at run time, so it need not be built again.
    if std::env::var_os("PROFILE").is_some_and(|profile| profile == "release") {
        println!("cargo:rerun-if-changed={UI}/manifest.json");
    }
    Ok(())
}
