//! The programs that the tests need beside cargo.

use anyhow::{Result, bail};
use std::{path::Path, process::Command};

use super::Outcome;
use crate::{command, debian, report};

/// Whether cargo-nextest is installed; without it the tests run with `cargo test`.
pub(super) fn has_nextest() -> bool {
    command::succeeds(command::cargo().args(["nextest", "--version"]))
}

/// From npm: the accessibility checker that the browser tests run in each page, and two MCP servers.
const NPM: [&str; 3] = [
    "axe-core@4.10.3",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];

/// From `PyPI`: two more MCP servers.
const PYPI: [&str; 2] = ["mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19"];

/// Installs what is missing: clippy and rustfmt, Chromium and its driver, a font with CJK characters, axe, git, and the MCP
/// servers that the tests talk to.
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
    if command::find_program("git").is_none() {
        debian::install(&["git"], "git (for one of the MCP servers)")?;
    }
    install_npm(&root.join("target/tools"))?;
    install_pypi(&root.join("target/tools/python"))?;
    let runner =
        if nextest { "cargo-nextest" } else { "`cargo test` (cargo-nextest, if installed, is faster)" };
    report::note(&format!("tests run with {runner}"));
    Ok(Outcome::Passed)
}

/// Installs npm's packages into a folder of ours, unless these versions are there. All at once: npm takes away what it was
/// not told of.
fn install_npm(folder: &Path) -> Result<()> {
    let installed = |package: &str| {
        let Some((name, version)) = package.rsplit_once('@') else { return false };
        let manifest = folder.join("node_modules").join(name).join("package.json");
        let text = std::fs::read_to_string(manifest).unwrap_or_default();
        text.contains(&format!("\"version\": \"{version}\""))
    };
    if NPM.into_iter().all(installed) {
        return Ok(());
    }
    if command::find_program("npm").is_none() {
        debian::install(
            &["nodejs", "npm"],
            "npm (for axe, which checks accessibility in the browser tests, and for two MCP servers)",
        )?;
    }
    report::step(&format!("Installing {} with npm (some seconds)", NPM.join(", ")));
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
    ]);
    command::run(npm.args(NPM), "Check that npm's registry can be reached.")
}

/// Installs `PyPI`'s packages into an environment of ours, unless these versions are there.
fn install_pypi(folder: &Path) -> Result<()> {
    let noted = folder.join("installed.txt");
    let wanted = PYPI.join("\n");
    if std::fs::read_to_string(&noted).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let can_make =
        |program: &str| command::succeeds(Command::new(program).args(["-c", "import venv, ensurepip"]));
    if command::find_program("python3").is_none() || !can_make("python3") {
        debian::install(&["python3", "python3-venv"], "Python with venv (for two MCP servers)")?;
    }
    report::step(&format!("Installing {} with pip (some seconds)", PYPI.join(", ")));
    let remedy = "Check that Python's package index can be reached.";
    command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder), remedy)?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    command::run(pip.args(PYPI), remedy)?;
    std::fs::write(noted, wanted)?;
    Ok(())
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
