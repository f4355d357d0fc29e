//! `cargo xtask bench`: the release binary's figures against the project's targets.

mod browser;
mod server;

use anyhow::Result;
use std::{process::ExitCode, thread, time::Duration};

use self::server::RunningServer;
use crate::{command, report, serve, wasm, workspace::Workspace};

/// Starts whose median is the start-up figure.
const STARTS: usize = 10;
/// The time after which a server counts as idle.
const SETTLING: Duration = Duration::from_secs(2);

/// One figure, with the most it may be.
struct Figure {
    what: &'static str,
    measured: f64,
    limit: Option<f64>,
    unit: &'static str,
}

impl Figure {
    fn is_met(&self) -> bool {
        self.limit.is_none_or(|limit| self.measured < limit)
    }

    fn row(&self) -> Vec<String> {
        let Self { what, measured, limit, unit } = self;
        let (target, result) = match limit {
            None => (String::new(), ""),
            Some(limit) => (format!("< {limit} {unit}"), if self.is_met() { "pass" } else { "FAIL" }),
        };
        vec![(*what).to_owned(), format!("{measured:.1} {unit}"), target, result.to_owned()]
    }
}

/// Builds, measures, prints the table and runs the criterion benchmarks; fails when a target is missed.
pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let binary = serve::build_release(workspace)?;
    let mut figures = Vec::new();

    report::step("Measuring the server's start and memory (about 5 seconds)");
    let data = tempfile::tempdir()?;
    let mut cold = RunningServer::start(&binary, data.path())?;
    figures.push(Figure {
        what: "first start, with migrations",
        measured: cold.started_in,
        limit: None,
        unit: "ms",
    });
    let token = cold.setup_token()?;
    // An installation that is in use has an account, and its start is the one that people wait for.
    let session = browser::create_account(&cold.url, &token)?;
    drop(cold);

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        starts.push(RunningServer::start(&binary, data.path())?.started_in);
    }
    figures.push(Figure {
        what: "start to listening, median",
        measured: median(starts),
        limit: Some(100.0),
        unit: "ms",
    });

    let running = RunningServer::start(&binary, data.path())?;
    thread::sleep(SETTLING);
    figures.push(Figure {
        what: "idle memory after 2 s",
        measured: running.resident_megabytes()?,
        limit: Some(40.0),
        unit: "MB",
    });

    let (_, brotli) = wasm::module_sizes(workspace)?;
    let kilobytes = f64::from(u32::try_from(brotli)?) / 1000.0;
    figures.push(Figure { what: "wasm with brotli", measured: kilobytes, limit: Some(250.0), unit: "kB" });

    report::step("Measuring the functions page in headless Chromium (about 15 seconds)");
    let painted = browser::measure_painted(&running.url, &session)?;
    figures.push(Figure {
        what: "/functions painted, new browser",
        measured: painted.first,
        limit: None,
        unit: "ms",
    });
    figures.push(Figure {
        what: "/functions painted, median",
        measured: median(painted.later),
        limit: Some(400.0),
        unit: "ms",
    });
    drop(running);

    measure_many_tools(workspace, &mut figures)?;
    run_criterion(workspace)?;
    let rows: Vec<Vec<String>> = figures.iter().map(Figure::row).collect();
    report::result(&format!("\n{}", report::table(&["figure", "measured", "target", "result"], &rows)));
    Ok(if figures.iter().all(Figure::is_met) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What catalogs of the size of a busy and of a very large installation cost.
fn measure_many_tools(workspace: &Workspace, figures: &mut Vec<Figure>) -> Result<()> {
    report::step("Building and measuring a server with many tools (about 3 minutes the first time)");
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--release", "--package", "toolshelf-tests", "--example", "many"]);
    command::run(&mut cargo, "Its messages are above.")?;
    let example = workspace.target.join("release/examples/many");
    let measure = |tools: usize| -> Result<browser::Many> {
        let data = tempfile::tempdir()?;
        let mut server = RunningServer::start_with_tools(&example, tools, data.path())?;
        let session = browser::create_account(&server.url.clone(), &server.setup_token()?)?;
        browser::measure_many(&server.url, &session)
    };
    let (busy, large) = (measure(526)?, measure(5_000)?);
    let mut add = |what, times: Vec<f64>, limit| {
        figures.push(Figure { what, measured: median(times), limit, unit: "ms" });
    };
    add("526 tools: /functions painted, median", busy.painted, Some(400.0));
    add("526 tools: an edit acknowledged, median", busy.edits, Some(10.0));
    add("526 tools: a letter of the filter, median", busy.letters, Some(16.7));
    add("5,000 tools: /functions painted, median", large.painted, Some(1_200.0));
    add("5,000 tools: an edit acknowledged, median", large.edits, None);
    add("5,000 tools: a letter of the filter, median", large.letters.clone(), Some(16.7));
    add(
        "5,000 tools: a letter of the filter, slowest",
        vec![large.letters.into_iter().fold(0.0, f64::max)],
        None,
    );
    Ok(())
}

fn run_criterion(workspace: &Workspace) -> Result<()> {
    const PACKAGE: &str = "toolshelf-core";
    const BENCH: &str = "resolve";
    if !workspace.targets(PACKAGE, "bench").iter().any(|bench| bench == BENCH) {
        report::note(&format!("{PACKAGE} has no bench target `{BENCH}`, so there is none to run"));
        return Ok(());
    }
    report::step("Running the benchmarks of name resolution (about 2 minutes)");
    let mut cargo = workspace.cargo();
    command::run(cargo.args(["bench", "--package", PACKAGE, "--bench", BENCH]), "Its messages are above.")
}

/// The middle value, or the mean of the two in the middle; 0 for none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.as_slice() {
        [] => 0.0,
        values if values.len() % 2 == 1 => values[middle],
        values => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_not_moved_by_one_slow_run() {
        assert!((median(vec![10.0, 900.0, 11.0]) - 11.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(Vec::new()).abs() < f64::EPSILON);
    }

    #[test]
    fn a_figure_at_its_limit_fails() {
        let figure = |measured| Figure { what: "start", measured, limit: Some(100.0), unit: "ms" };
        assert_eq!(figure(99.94).row(), ["start", "99.9 ms", "< 100 ms", "pass"]);
        assert_eq!(figure(100.0).row()[3], "FAIL");
        let free = Figure { what: "start", measured: 1.0, limit: None, unit: "ms" };
        assert_eq!(free.row()[2..], ["", ""]);
    }
}
