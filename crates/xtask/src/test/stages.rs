//! What each stage runs.

use anyhow::Result;
use std::process::Command;

use super::{Context, Outcome};
use crate::{command, report, wasm, workspace::FRONTEND};

/// The package and name of the browser suite.
const BROWSER_PACKAGE: &str = "toolshelf-tests";
const BROWSER_SUITE: &str = "browser";

pub(super) fn format(context: &Context<'_>) -> Result<Outcome> {
    let mut cargo = context.workspace.cargo();
    cargo.args(["fmt", "--all", "--check"]);
    passed(&mut cargo, "`cargo fmt --all` corrects it.")
}

pub(super) fn lint(context: &Context<'_>) -> Result<Outcome> {
    let mut cargo = everything_but_the_frontend(context, "clippy");
    cargo.args(["--all-targets", "--", "-D", "warnings"]);
    passed(&mut cargo, "Correct what clippy says above.")
}

pub(super) fn frontend_lint(context: &mut Context<'_>) -> Result<Outcome> {
    let workspace = context.workspace;
    let wasm = context.wasm()?;
    if wasm.is_system() {
        let reason =
            "the system's Rust has no clippy that matches, and this toolchain has no WebAssembly target";
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    let mut cargo = wasm.cargo(workspace, "clippy")?;
    cargo.args(["--package", FRONTEND, "--profile", "wasm-release", "--", "-D", "warnings"]);
    passed(&mut cargo, "Correct what clippy says above.")
}

pub(super) fn core_wasm(context: &mut Context<'_>) -> Result<Outcome> {
    let workspace = context.workspace;
    let mut cargo = context.wasm()?.cargo(workspace, "check")?;
    cargo.args(["--package", "toolshelf-core", "--package", "toolshelf-api", "--profile", "wasm-release"]);
    passed(&mut cargo, "These crates are shared with the browser: leave out what needs an operating system.")
}

pub(super) fn build(context: &Context<'_>) -> Result<Outcome> {
    let mut cargo = everything_but_the_frontend(context, "build");
    cargo.args(["--lib", "--bins", "--tests", "--examples"]);
    passed(&mut cargo, "The compiler's messages are above.")
}

pub(super) fn ui(context: &Context<'_>) -> Result<Outcome> {
    wasm::build_ui(context.workspace)?;
    Ok(Outcome::Passed)
}

pub(super) fn unit(context: &Context<'_>) -> Result<Outcome> {
    if context.nextest {
        let mut nextest = nextest(context);
        // A filter that names a suite which does not exist is an error, so it is given only when there is one.
        if has_browser_suite(context) {
            nextest.arg("--filterset").arg(format!("not ({})", browser_filter()));
        }
        return passed(&mut nextest, "The failures are above.");
    }
    let mut cargo = everything_but_the_frontend(context, "test");
    cargo.args(["--no-fail-fast", "--lib", "--bins"]);
    for suite in context.workspace.test_suites().iter().filter(|suite| *suite != BROWSER_SUITE) {
        cargo.args(["--test", suite]);
    }
    passed(&mut cargo, "The failures are above.")
}

pub(super) fn browser(context: &Context<'_>) -> Result<Outcome> {
    if !has_browser_suite(context) {
        anyhow::bail!(
            "the package {BROWSER_PACKAGE} has no test target `{BROWSER_SUITE}`: the suite belongs there"
        );
    }
    // Cheap when the stage before has done it, and a browser test of an old app would mislead when it has not.
    wasm::build_ui(context.workspace)?;
    if context.nextest {
        let mut nextest = nextest(context);
        nextest.args(["--profile", "browser", "--filterset"]).arg(browser_filter());
        return passed(&mut nextest, "The failures are above.");
    }
    let mut cargo = everything_but_the_frontend(context, "test");
    cargo.args(["--no-fail-fast", "--test", BROWSER_SUITE, "--", "--test-threads", "1"]);
    passed(&mut cargo, "The failures are above.")
}

pub(super) fn docs(context: &Context<'_>) -> Result<Outcome> {
    report::note("examples in the documentation");
    let mut examples = everything_but_the_frontend(context, "test");
    command::run(examples.args(["--doc", "--no-fail-fast"]), "An example in a comment does not work.")?;
    report::note("the documentation itself");
    let mut cargo = everything_but_the_frontend(context, "doc");
    cargo.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    passed(&mut cargo, "Correct what rustdoc says above.")
}

fn has_browser_suite(context: &Context<'_>) -> bool {
    context.workspace.targets(BROWSER_PACKAGE, "test").iter().any(|suite| suite == BROWSER_SUITE)
}

fn browser_filter() -> String {
    format!("package(={BROWSER_PACKAGE}) & binary(={BROWSER_SUITE})")
}

fn nextest(context: &Context<'_>) -> Command {
    let mut cargo = context.workspace.cargo();
    cargo.args(["nextest", "run", "--workspace", "--exclude", FRONTEND]);
    cargo
}

/// The one selection of packages that all stages share.
fn everything_but_the_frontend(context: &Context<'_>, subcommand: &str) -> Command {
    let mut cargo = context.workspace.cargo();
    cargo.args([subcommand, "--workspace", "--exclude", FRONTEND]);
    cargo
}

fn passed(command: &mut Command, remedy: &str) -> Result<Outcome> {
    report::note(&command::display(command));
    command::run(command, remedy)?;
    Ok(Outcome::Passed)
}
