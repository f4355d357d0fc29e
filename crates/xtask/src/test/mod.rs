//! `cargo xtask test`: every check of the project, in stages from quick to slow.
//!
//! All stages that build tests name the same packages and the same profile. Cargo chooses the features of shared
//! dependencies by the packages it is asked for, so another selection would compile them again.

mod stages;
mod tools;

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::{report, toolchain::WasmToolchain, workspace::Workspace};

/// The stages, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StageName {
    /// Installs what the tests need.
    Tools,
    /// Checks the formatting.
    Format,
    /// Runs clippy on everything but the browser app.
    Lint,
    /// Runs clippy on the browser app.
    FrontendLint,
    /// Checks that the crates shared with the browser compile for it.
    CoreWasm,
    /// Builds the server and all tests.
    Build,
    /// Builds the browser app and the static files.
    Ui,
    /// Runs every test but the browser suite.
    Unit,
    /// Runs the browser suite in headless Chromium.
    Browser,
    /// Builds the documentation and runs its examples.
    Docs,
}

/// How a stage ended.
enum Outcome {
    Passed,
    Skipped(String),
}

/// What the stages share: the compiler for WebAssembly is looked for once, when a stage first needs it.
struct Context<'workspace> {
    workspace: &'workspace Workspace,
    nextest: bool,
    wasm: Option<WasmToolchain>,
}

impl Context<'_> {
    fn wasm(&mut self) -> Result<&WasmToolchain> {
        let found = match self.wasm.take() {
            Some(found) => found,
            None => WasmToolchain::find()?,
        };
        Ok(self.wasm.insert(found))
    }
}

/// Runs the chosen stages, or all, and prints how long each took.
pub(crate) fn run(workspace: &Workspace, chosen: &[StageName]) -> Result<ExitCode> {
    let mut context = Context { workspace, nextest: tools::has_nextest(), wasm: None };
    let started = Instant::now();
    let mut rows = Vec::new();
    let mut failed = None;
    for stage in selected(chosen) {
        report::step(&format!("Stage {}", stage_name(stage)));
        let stage_started = Instant::now();
        let outcome = run_stage(&mut context, stage);
        rows.push(row(stage, &outcome, stage_started.elapsed()));
        match outcome {
            Ok(Outcome::Skipped(reason)) => report::note(&format!("skipped: {reason}")),
            Ok(Outcome::Passed) => {}
            Err(error) => {
                failed = Some((stage, error));
                break;
            }
        }
    }
    report::result(&format!("\n{}", report::table(&["stage", "result", "time"], &rows)));
    report::result(&format!("total {}", report::seconds(started.elapsed())));
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some((stage, error)) => {
            let name = stage_name(stage);
            let advice =
                format!("stage `{name}` failed; run it alone with `cargo xtask test --stage {name}`");
            Err(anyhow!(error).context(advice))
        }
    }
}

fn run_stage(context: &mut Context<'_>, stage: StageName) -> Result<Outcome> {
    match stage {
        StageName::Tools => tools::install(&context.workspace.root, context.nextest),
        StageName::Format => stages::format(context),
        StageName::Lint => stages::lint(context),
        StageName::FrontendLint => stages::frontend_lint(context),
        StageName::CoreWasm => stages::core_wasm(context),
        StageName::Build => stages::build(context),
        StageName::Ui => stages::ui(context),
        StageName::Unit => stages::unit(context),
        StageName::Browser => stages::browser(context),
        StageName::Docs => stages::docs(context),
    }
}

/// The chosen stages in their fixed order, or all of them.
fn selected(chosen: &[StageName]) -> Vec<StageName> {
    let all = StageName::value_variants().iter().copied();
    all.filter(|stage| chosen.is_empty() || chosen.contains(stage)).collect()
}

fn stage_name(stage: StageName) -> String {
    stage.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn row(stage: StageName, outcome: &Result<Outcome>, time: Duration) -> Vec<String> {
    let result = match outcome {
        Ok(Outcome::Passed) => "passed",
        Ok(Outcome::Skipped(_)) => "skipped",
        Err(_) => "FAILED",
    };
    vec![stage_name(stage), result.to_owned(), report::seconds(time)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_run_in_their_order_whatever_the_order_asked_for() {
        assert_eq!(selected(&[StageName::Unit, StageName::Format]), [StageName::Format, StageName::Unit]);
        let names: Vec<String> = selected(&[]).into_iter().map(stage_name).collect();
        assert_eq!(names.join(" "), "tools format lint frontend-lint core-wasm build ui unit browser docs");
    }

    #[test]
    fn a_row_tells_how_a_stage_ended() {
        let time = Duration::from_millis(1500);
        assert_eq!(row(StageName::Lint, &Ok(Outcome::Passed), time), ["lint", "passed", "1.5 s"]);
        assert_eq!(row(StageName::Lint, &Err(anyhow!("no")), time)[1], "FAILED");
        assert_eq!(
            row(StageName::CoreWasm, &Ok(Outcome::Skipped(String::new())), time)[..2],
            ["core-wasm", "skipped"]
        );
    }
}
