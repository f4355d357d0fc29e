//! The programs that the tests need beside cargo.

use anyhow::{Result, bail};
use std::{path::Path, process::Command};

use super::Outcome;
use crate::{command, debian, report};

/// Whether cargo-nextest is installed; without it the tests run with `cargo test`.
pub(super) fn has_nextest() -> bool {
    command::succeeds(command::cargo().args(["nextest", "--version"]))
}

/// The accessibility checker that the browser tests run in each page.
const AXE: &str = "axe-core@4.10.3";

/// Installs what is missing: clippy and rustfmt, Chromium and its driver, a font with CJK characters, and axe.
pub(super) fn install(root: &Path, nextest: bool) -> Result<Outcome> {
    for (subcommand, component) in [("clippy", "clippy"), ("fmt", "rustfmt")] {
        if !command::succeeds(command::cargo().args([subcommand, "--version"])) {
            add_component(component)?;
        }
    }
    if command::find_program("chromium").is_none() || command::find_program("chromedriver").is_none() {
        debian::install(
            &["chromium", "chromium-driver"],
            "Chromium with its driver (for the browser tests)",
        )?;
    }
    let font = "a font with Chinese, Japanese and Korean characters";
    if !has_cjk_font()
        && let Err(error) = debian::install(&["fonts-noto-cjk"], font)
    {
        report::warning(&format!("such characters will be drawn as boxes: {error:#}"));
    }
    install_axe(&root.join("target/tools"))?;
    let runner =
        if nextest { "cargo-nextest" } else { "`cargo test` (cargo-nextest, if installed, is faster)" };
    report::note(&format!("tests run with {runner}"));
    Ok(Outcome::Passed)
}

/// Installs axe into a folder of ours, unless this version is there.
fn install_axe(folder: &Path) -> Result<()> {
    let version = AXE.rsplit('@').next().unwrap_or_default();
    let installed =
        std::fs::read_to_string(folder.join("node_modules/axe-core/package.json")).unwrap_or_default();
    if installed.contains(&format!("\"version\": \"{version}\"")) {
        return Ok(());
    }
    if command::find_program("npm").is_none() {
        debian::install(
            &["nodejs", "npm"],
            "npm (for axe, which checks accessibility in the browser tests)",
        )?;
    }
    report::step(&format!("Installing {AXE} with npm (some seconds)"));
    std::fs::create_dir_all(folder)?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args([
        "install",
        "--prefix",
        ".",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        AXE,
    ]);
    command::run(&mut npm, "Check that npm's registry can be reached.")
}

fn add_component(component: &str) -> Result<()> {
    let advice =
        format!("With rustup: `rustup component add {component}`. On Debian's Rust: install its package.");
    if command::find_program("rustup").is_none() {
        bail!("cargo has no `{component}` here, and there is no rustup to add it. {advice}");
    }
    report::step(&format!("Adding {component} with rustup (some seconds)"));
    command::run(Command::new("rustup").args(["component", "add", component]), &advice)
}

fn has_cjk_font() -> bool {
    command::output(Command::new("fc-list").args([":lang=zh-cn", "family"]))
        .is_ok_and(|list| !list.trim().is_empty())
}
