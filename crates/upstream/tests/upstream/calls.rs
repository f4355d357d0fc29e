//! Calls and queries.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use toolshelf_runtime::{ToolReturn, UpstreamError, UpstreamQuery, Upstreams as _};

use crate::support::{PATIENCE, Site, is_running, spec, with_call_timeout};

/// How long is waited for what must not come.
const SHORT: Duration = Duration::from_millis(300);
/// A time that is long enough for what does come.
const LIMIT: Duration = Duration::from_secs(2);

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn answers_are_read() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let arguments = object(json!({"b": 1, "a": [null]}));
    let echo = site.upstreams.call("good", 1, "echo", arguments).await.unwrap();
    assert_eq!(echo, ToolReturn::from(r#"{"b":1,"a":[null]}"#));
    assert_eq!(
        site.call("good", "fails").await.unwrap(),
        ToolReturn { text: "it failed".to_owned(), is_error: true, ..ToolReturn::default() }
    );
    let structured = site.call("good", "structured").await.unwrap();
    assert_eq!(structured.data, Some(json!({"b": 1, "a": 2})));
    assert_eq!(structured.text, "{\n  \"b\": 1,\n  \"a\": 2\n}");
    assert_eq!(site.call("good", "string-id").await.unwrap().text, "as text");
    assert_eq!(site.call("good", "refuses").await, Err(UpstreamError::Failed("I will not.".to_owned())));
    let input = site.call("good", "needs-input").await.unwrap_err().to_string();
    assert!(input.contains("not supported"), "{input}");
}

#[tokio::test]
async fn only_the_right_generation_of_a_known_server_is_called() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let old = site.upstreams.call("good", 2, "echo", Map::new()).await;
    assert_eq!(old, Err(UpstreamError::Down("good was changed in the meantime.".to_owned())));
    let unknown = site.upstreams.call("other", 1, "echo", Map::new()).await;
    assert_eq!(unknown, Err(UpstreamError::Down("other is not connected.".to_owned())));
    site.start("exit");
    let (reason, _) = site.down().await;
    assert_eq!(
        site.call("exit", "echo").await,
        Err(UpstreamError::Down(format!("exit is not connected. {reason}")))
    );
}

/// Waits until the server has heard that these requests are cancelled. The news are sent by tasks of their own.
async fn cancelled(site: &Site, expected: Value) {
    let told = async {
        while site.call_json("good", "cancelled").await != expected {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, told).await.unwrap();
}

#[tokio::test]
async fn what_takes_too_long_is_cancelled() {
    let mut site = Site::new();
    site.start_spec(with_call_timeout(spec("good"), LIMIT));
    site.ready().await;
    for tool in ["hangs", "progresses"] {
        let id = site.call_json("good", "id").await.as_i64().unwrap();
        let begin = Instant::now();
        assert_eq!(site.call("good", tool).await, Err(UpstreamError::TimedOut(LIMIT)), "{tool}");
        assert!(begin.elapsed() >= LIMIT);
        cancelled(&site, json!([id + 1])).await;
        site.call("good", "forget").await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let id = site.call_json("good", "id").await.as_i64().unwrap();
    let call = site.upstreams.call("good", 1, "hangs", Map::new());
    assert!(timeout(SHORT, call).await.is_err());
    cancelled(&site, json!([id + 1])).await;
}

#[tokio::test]
async fn an_answer_that_drips_is_not_waited_for() {
    let mut site = Site::new();
    site.start_spec(with_call_timeout(spec("good"), LIMIT));
    site.ready().await;
    assert_eq!(site.call("good", "drips").await, Err(UpstreamError::TimedOut(LIMIT)));
    timeout(PATIENCE, site.upstreams.stop("good")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_dies_in_mid_call_fails_the_call_and_comes_back() {
    let mut site = Site::new();
    site.start("good");
    for (tool, expected) in
        [("dies", "exit code 7"), ("half", "exit code 0"), ("begets-and-dies", "exit code 5")]
    {
        site.ready().await;
        let begin = Instant::now();
        let error = site.call("good", tool).await.unwrap_err();
        assert!(begin.elapsed() < PATIENCE / 2);
        assert!(
            matches!(&error, UpstreamError::Failed(reason) if reason.contains("ended while the call ran")),
            "{error:?}"
        );
        let (reason, _) = site.down().await;
        assert!(reason.contains(expected), "{tool}: {reason}");
    }
    site.ready().await;
    assert_eq!(site.call("good", "echo").await.unwrap().text, "{}");
    // What the last one left behind is gone as well.
    let orphan: Value = serde_json::from_str(&site.upstreams.log("good")[0]).unwrap();
    assert!(!is_running(&orphan));
}

#[tokio::test]
async fn a_server_that_asks_and_does_not_listen_is_ended() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    site.call("good", "goes-deaf").await.unwrap_err();
    assert_eq!(site.down().await.0, "It does not read what it is sent.");
    site.ready().await;
}

#[tokio::test]
async fn calls_that_hang_do_not_hold_up_others() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let mut hanging = Vec::new();
    for _ in 0..63 {
        let upstreams = site.upstreams.clone();
        hanging.push(tokio::spawn(async move { upstreams.call("good", 1, "hangs", Map::new()).await }));
    }
    assert_eq!(site.call("good", "echo").await.unwrap().text, "{}");
    site.upstreams.stop("good").await;
    for call in hanging {
        let error = timeout(PATIENCE, call).await.unwrap().unwrap().unwrap_err();
        assert!(matches!(error, UpstreamError::Failed(_) | UpstreamError::Down(_)), "{error:?}");
    }
}

#[tokio::test]
async fn no_more_than_so_many_calls_run() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let call = |tool: &'static str| {
        let upstreams = site.upstreams.clone();
        tokio::spawn(async move { upstreams.call("good", 1, tool, Map::new()).await })
    };
    let hanging: Vec<_> = (0..64).map(|_| call("hangs")).collect();
    let mut waiting = call("echo");
    assert!(timeout(SHORT, &mut waiting).await.is_err());
    hanging[7].abort();
    assert_eq!(timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap().text, "{}");
}

#[tokio::test]
async fn what_a_server_asks_is_declined() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    let answers = site.call_json("good", "asks").await;
    let of = |method: &str| {
        let answers = answers.as_array().unwrap();
        answers.iter().find(|answer| answer["id"] == method).unwrap_or_else(|| panic!("{answers:?}"))
    };
    assert_eq!(of("sampling/createMessage")["error"]["code"], -32601);
    assert_eq!(of("elicitation/create")["result"]["action"], "decline");
    assert_eq!(of("roots/list")["result"]["roots"], json!([]));
    assert_eq!(of("ping")["result"], json!({}));
    assert_eq!(of("x/y")["error"]["code"], -32601);
}

#[tokio::test]
async fn resources_and_prompts_are_read() {
    let mut site = Site::new();
    site.start("good");
    let (info, _) = site.ready().await;
    assert!(info.resources && !info.prompts);
    let query = |query| site.upstreams.query("good", query);
    let resources = query(UpstreamQuery::ListResources).await.unwrap();
    assert_eq!(resources["resources"].as_array().unwrap().len(), 1_000);
    assert_eq!(resources["resources"][999], json!({"uri": "x:1/499", "extra": true}));
    assert_eq!(resources.as_object().unwrap().len(), 1);
    let read = query(UpstreamQuery::ReadResource("x:1".to_owned())).await.unwrap();
    assert_eq!(read, json!({"contents": [{"uri": "x:1", "text": "read"}], "extra": 1}));
    let prompts = query(UpstreamQuery::ListPrompts).await;
    assert_eq!(prompts, Err(UpstreamError::Failed("no prompts here".to_owned())));
    let prompt = query(UpstreamQuery::GetPrompt("p".to_owned(), object(json!({"x": "y"})))).await.unwrap();
    assert_eq!(prompt, json!({"messages": [], "given": {"x": "y"}}));
    let unknown = site.upstreams.query("other", UpstreamQuery::ListPrompts).await;
    assert_eq!(unknown, Err(UpstreamError::Down("other is not connected.".to_owned())));
}
