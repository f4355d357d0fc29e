//! An acknowledged disable is in force for the next call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use serde_json::json;
use tokio::task::JoinSet;
use toolshelf_tests::{Client, Key, Session, TestApp, within};

/// Counts moments, so that before and after can be told without a clock.
#[derive(Default)]
struct Moments(AtomicU64);

impl Moments {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// A call, from before it was sent until after it was answered.
#[derive(Debug)]
struct Called {
    tool: &'static str,
    began: u64,
    ended: u64,
    ran: bool,
}

/// A time in which a tool was surely disabled, or surely enabled: from after the answer to one change until before
/// the next change was sent.
#[derive(Debug)]
struct Window {
    tool: &'static str,
    disabled: bool,
    from: u64,
    until: u64,
}

const TOOLS: [&str; 2] = ["grep", "list"];
const ROUNDS: usize = 25;
const CALLERS_EACH: usize = 3;

fn arguments(tool: &str) -> serde_json::Value {
    if tool == "grep" { json!({"pattern": "needle"}) } else { json!({}) }
}

async fn call(
    client: Client,
    tool: &'static str,
    moments: Arc<Moments>,
    stop: Arc<AtomicBool>,
    begun: Arc<AtomicUsize>,
) -> Vec<Called> {
    let mut calls = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let before = moments.now();
        begun.fetch_add(1, Ordering::SeqCst);
        let given = client.call(tool, arguments(tool)).await;
        let after = moments.now();
        let ran = given.status() == 200;
        if !ran {
            let refused = given.problem(403, "unauthorized");
            assert_eq!(refused["verdict"]["code"], "globally_disabled");
        }
        calls.push(Called { tool, began: before, ended: after, ran });
    }
    calls
}

/// Whether the tool is enabled, as list, one, resolve and call say; they must agree.
async fn seen(client: &Client, tool: &str) -> bool {
    let list = client.get("/api/v1/tools").await.expect(200).json();
    let in_list = list["items"]
        .as_array()
        .expect("a list")
        .iter()
        .any(|item| item["name"] == tool && item["disabled"].is_null());
    let one = client.get(&format!("/api/v1/tools/{tool}")).await.expect(200).json()["disabled"].is_null();
    let resolution = client.post("/api/v1/resolve", json!({})).await.expect(200).json();
    let resolves = resolution["tools"].as_array().expect("a list").iter().any(|item| item["name"] == tool);
    let runs = client.call(tool, arguments(tool)).await.status() == 200;
    assert_eq!((in_list, one, resolves), (runs, runs, runs), "{tool}");
    runs
}

async fn change(
    admin: Session,
    reader: Key,
    tool: &'static str,
    moments: Arc<Moments>,
    begun: Arc<AtomicUsize>,
) -> Vec<Window> {
    let mut windows = Vec::new();
    for round in 0..ROUNDS {
        for disabled in [true, false] {
            if disabled {
                admin.disable(tool, &format!("round {round}")).await.expect(200);
            } else {
                admin.enable(tool).await.expect(200);
            }
            let from = moments.now();
            let calls_before = begun.load(Ordering::SeqCst);
            assert_eq!(seen(&reader, tool).await, !disabled, "{tool} after it was answered");
            // The window is worth something only when calls begin in it.
            within("calls that begin in the window", async {
                while begun.load(Ordering::SeqCst) < calls_before + CALLERS_EACH {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            windows.push(Window { tool, disabled, from, until: moments.now() });
        }
    }
    windows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_call_that_begins_after_an_acknowledged_disable_runs() {
    let (_app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["read", "call"]).await;
    let moments = Arc::new(Moments::default());
    let stop = Arc::new(AtomicBool::new(false));
    let begun: [Arc<AtomicUsize>; 2] = Default::default();
    let mut callers = JoinSet::new();
    let mut writers = JoinSet::new();
    for (tool, begun) in TOOLS.into_iter().zip(&begun) {
        for _ in 0..CALLERS_EACH {
            callers.spawn(call(
                (*key).clone(),
                tool,
                Arc::clone(&moments),
                Arc::clone(&stop),
                Arc::clone(begun),
            ));
        }
        writers.spawn(change(admin.clone(), key.clone(), tool, Arc::clone(&moments), Arc::clone(begun)));
    }
    // Another writer keeps the lock busy with a tool that nobody calls.
    let (busy, until) = (admin.clone(), Arc::clone(&stop));
    let noise = tokio::spawn(async move {
        while !until.load(Ordering::SeqCst) {
            busy.disable("read", "noise").await.expect(200);
        }
    });
    let windows: Vec<Window> = writers.join_all().await.into_iter().flatten().collect();
    stop.store(true, Ordering::SeqCst);
    noise.await.unwrap();
    let calls: Vec<Called> = callers.join_all().await.into_iter().flatten().collect();

    let (mut refused, mut ran) = (0, 0);
    for window in &windows {
        for call in calls.iter().filter(|call| call.tool == window.tool) {
            let began_inside = window.from < call.began && call.began < window.until;
            if window.disabled && began_inside && call.ended < window.until {
                assert!(!call.ran, "{call:?} ran in {window:?}");
                refused += 1;
            }
            if !window.disabled && began_inside && call.ended < window.until {
                assert!(call.ran, "{call:?} was refused in {window:?}");
                ran += 1;
            }
        }
    }
    assert!(
        refused >= ROUNDS && ran >= ROUNDS,
        "only {refused} and {ran} of {} calls tell something",
        calls.len()
    );
}
