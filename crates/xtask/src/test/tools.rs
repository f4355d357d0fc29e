//! The programs that the tests need beside cargo.

use anyhow::{Result, bail};
use std::process::Command;

use super::Outcome;
use crate::{command, debian, report};

/// Whether cargo-nextest is installed; without it the tests run with `cargo test`.
pub(super) fn has_nextest() -> bool {
    command::succeeds(command::cargo().args(["nextest", "--version"]))
}

/// Installs what is missing: clippy and rustfmt, Chromium and its driver, and a font with CJK characters.
pub(super) fn install(nextest: bool) -> Result<Outcome> {
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
    let runner =
        if nextest { "cargo-nextest" } else { "`cargo test` (cargo-nextest, if installed, is faster)" };
    report::note(&format!("tests run with {runner}"));
    Ok(Outcome::Passed)
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
