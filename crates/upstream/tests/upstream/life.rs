//! Beginnings and ends.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;
use toolshelf_runtime::{Connection, Report, UpstreamReports, UpstreamSpec, Upstreams as _};
use toolshelf_upstream::Timing;

use crate::support::{PATIENCE, Site, is_running, program, spec, spec_of, timing};

fn stdio(command: &str, env: &[(&str, &str)]) -> UpstreamSpec {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    spec_of("s", Connection::Stdio { command: command.to_owned(), args: Vec::new(), env })
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let site = Site::new();
    for (spec, expected) in [
        (stdio("npxx", &[]), "The program `npxx` was not found in PATH."),
        (stdio("/no/such/program", &[]), "The program `/no/such/program` does not exist."),
        (stdio("/etc/passwd", &[]), "The program `/etc/passwd` may not be executed."),
        (stdio("sh", &[("A=B", "secret")]), "\"A=B\" is not the name of a variable."),
        (spec("exit"), "It ended with exit code 3. Its log may say why."),
        (spec("refuse"), "It refused the connection: Not today."),
    ] {
        let trial = site.upstreams.try_connection(spec).await;
        assert_eq!(trial.outcome, Err(expected.to_owned()));
    }
    let strange = site.upstreams.try_connection(spec("strange")).await.outcome.unwrap_err();
    assert!(strange.contains("not understood"), "{strange}");
}

#[tokio::test]
async fn a_trial_says_what_there_is_and_leaves_nothing() {
    let site = Site::new();
    let trial = site.upstreams.try_connection(spec("chatty")).await;
    let (info, tools) = trial.outcome.unwrap();
    assert_eq!((info.name.as_str(), tools.len()), ("hostile", 1));
    assert_eq!(trial.log, ["stdout: Welcome!", "stdout: {\"half\": "]);
    assert_eq!(site.upstreams.log("chatty"), Vec::<String>::new());
}

#[tokio::test]
async fn waits_grow_from_retry_to_retry_and_the_log_stays() {
    let mut site = Site::new();
    site.start("exit");
    let mut waits = Vec::new();
    for _ in 0..4 {
        assert_eq!(site.next().await.2, Report::Connecting);
        waits.push(site.down().await.1.as_millis());
    }
    assert_eq!(waits, [50, 100, 200, 200]);
    let log = site.upstreams.log("exit");
    assert!(log.len() >= 3 && log.iter().all(|line| line == "no configuration"), "{log:?}");
}

#[tokio::test]
async fn a_refresh_connects_at_once() {
    let hour = Duration::from_hours(1);
    let mut site = Site::with(Timing { first_retry: hour, longest_retry: hour, ..timing() });
    site.start("good");
    site.ready().await;
    site.call("good", "dies").await.unwrap_err();
    assert_eq!(site.down().await.1, hour);
    site.upstreams.refresh("good");
    site.ready().await;
}

#[tokio::test]
async fn programs_get_little_of_the_surroundings() {
    let mut site = Site::new();
    let env = vec![("TOKEN".to_owned(), "secret".to_owned())];
    let connection = Connection::Stdio { command: program(), args: vec!["good".to_owned()], env };
    site.start_spec(spec_of("good", connection));
    site.ready().await;
    let surroundings = site.call_json("good", "surroundings").await;
    assert_eq!(surroundings["names"], json!(["HOME", "PATH", "TOKEN"]));
    assert_eq!(surroundings["folder"], "/tmp");
}

#[tokio::test]
async fn a_flood_of_log_lines_is_cut_and_does_no_harm() {
    let mut site = Site::new();
    site.start("flood");
    site.ready().await;
    for _ in 0..20 {
        assert_eq!(site.call("flood", "echo").await.unwrap().text, "{}");
    }
    let full = async {
        loop {
            let log = site.upstreams.log("flood");
            if log.len() == 200 {
                return log;
            }
            tokio::task::yield_now().await;
        }
    };
    let log = timeout(PATIENCE, full).await.unwrap();
    assert!(log.iter().all(|line| line.len() == 2_000), "{}", log[0].len());
    timeout(PATIENCE, site.upstreams.stop("flood")).await.unwrap();
}

/// Starts a server and a grandchild that ignores signals. Their process ids.
async fn family(site: &mut Site, mode: &str) -> Vec<Value> {
    site.start(mode);
    site.ready().await;
    let pids = site.call_json(mode, "begets").await;
    let sleeper = timeout(PATIENCE, async {
        loop {
            let log = site.upstreams.log(mode);
            if let Some(pid) = log.first() {
                break serde_json::from_str(pid).unwrap();
            }
            tokio::task::yield_now().await;
        }
    });
    let pids = vec![pids["own"].clone(), pids["pid"].clone(), sleeper.await.unwrap()];
    assert!(pids.iter().all(is_running), "{pids:?}");
    pids
}

#[tokio::test]
async fn nothing_is_left_of_a_server_that_was_stopped() {
    let mut site = Site::new();
    for mode in ["good", "stubborn"] {
        let pids = family(&mut site, mode).await;
        timeout(PATIENCE, site.upstreams.stop(mode)).await.unwrap();
        assert!(!pids.iter().any(is_running), "{mode}: {pids:?}");
        assert!(site.is_quiet());
        assert!(site.upstreams.call(mode, 1, "echo", serde_json::Map::new()).await.is_err());
    }
}

#[test]
fn nothing_is_left_when_the_runtime_goes_down() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let pids = runtime.block_on(async {
        let mut site = Site::new();
        let pids = family(&mut site, "stubborn").await;
        // Nobody stops it.
        std::mem::forget(site);
        pids
    });
    drop(runtime);
    let begin = Instant::now();
    // The killed end when the system gets to it.
    while pids.iter().any(is_running) {
        assert!(begin.elapsed() < PATIENCE, "{pids:?}");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_server_takes_the_place_of_an_earlier_one() {
    let mut site = Site::new();
    let pids = family(&mut site, "good").await;
    site.start_spec(UpstreamSpec { generation: 2, ..spec("good") });
    assert_eq!(site.next().await, ("good".to_owned(), 2, Report::Connecting));
    assert!(!pids.iter().any(is_running), "{pids:?}");
    site.ready().await;
    assert!(site.call("good", "echo").await.is_err());
    assert!(site.upstreams.call("good", 2, "echo", serde_json::Map::new()).await.is_ok());
}

#[tokio::test]
async fn starts_and_stops_in_any_order_leave_the_last_one() {
    let mut site = Site::new();
    for generation in 1..=20 {
        site.start_spec(UpstreamSpec { generation, ..spec("good") });
    }
    loop {
        let (_, generation, report) = site.next().await;
        if matches!(report, Report::Ready { .. }) && generation == 20 {
            break;
        }
    }
    site.upstreams.stop("good").await;
    site.upstreams.stop("good").await;
    assert!(site.is_quiet());
}

#[tokio::test]
async fn a_server_that_is_being_connected_stops_at_once() {
    let mut site = Site::new();
    site.start("mute");
    assert_eq!(site.next().await.2, Report::Connecting);
    timeout(PATIENCE / 2, site.upstreams.stop("mute")).await.unwrap();
    assert!(site.is_quiet());
}

#[tokio::test]
async fn a_dead_server_does_not_hold_up_another() {
    let mut site = Site::new();
    site.start("mute");
    site.start("good");
    site.ready().await;
    assert_eq!(site.call("good", "echo").await.unwrap().text, "{}");
    timeout(PATIENCE / 2, site.upstreams.stop_all()).await.unwrap();
    assert!(site.call("good", "echo").await.is_err());
}

/// Is told when a report comes, and never finishes with it.
struct Stuck(Notify);

#[async_trait]
impl UpstreamReports for Stuck {
    async fn report(&self, _: &str, _: u64, _: Report) {
        self.0.notify_one();
        pending::<()>().await;
    }
}

#[tokio::test]
async fn a_server_stops_whose_report_is_never_dealt_with() {
    let site = Site::new();
    let stuck = Arc::new(Stuck(Notify::new()));
    site.upstreams.start(spec("good"), Arc::clone(&stuck) as Arc<dyn UpstreamReports>);
    timeout(PATIENCE, stuck.0.notified()).await.unwrap();
    timeout(PATIENCE / 2, site.upstreams.stop("good")).await.unwrap();
}
