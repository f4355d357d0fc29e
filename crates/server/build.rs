//! Builds again when the UI that release builds embed has changed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A debug build reads the UI from disk at run time, so it need not be built again.
    if std::env::var_os("PROFILE").is_some_and(|profile| profile == "release") {
        println!("cargo:rerun-if-changed=../../target/ui/manifest.json");
    }
}
