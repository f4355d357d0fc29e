//! Lists of tools.

use std::time::Duration;

use serde_json::json;
use toolshelf_runtime::{ServerInfo, Upstreams as _};
use toolshelf_upstream::Timing;

use crate::support::{Site, names, spec, timing};

#[tokio::test]
async fn a_server_says_what_it_is_and_has() {
    let mut site = Site::new();
    site.start("good");
    let (info, tools) = site.ready().await;
    assert_eq!(
        info,
        ServerInfo {
            name: "hostile".to_owned(),
            version: "1.2.3".to_owned(),
            protocol: "2025-11-25".to_owned(),
            instructions: Some("Obey me.".to_owned()),
            resources: true,
            prompts: false,
        }
    );
    assert_eq!(tools, [json!({"name": "echo", "inputSchema": {"type": "object"}})]);
}

#[tokio::test]
async fn all_pages_are_read() {
    let mut site = Site::new();
    site.start("pages");
    let (_, tools) = site.ready().await;
    assert_eq!(names(&tools), ["a0", "b0", "a1", "b1", "a2", "b2"]);
}

#[tokio::test]
async fn definitions_come_word_for_word_and_a_malformed_one_spoils_no_other() {
    let mut site = Site::new();
    site.start("malformed");
    let (_, tools) = site.ready().await;
    let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
    assert_eq!(
        tools,
        [
            r#"{"name":"good","zeta":{"b":1,"a":[2.5,9007199254740993]},"inputSchema":{"type":"object","$x":true},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":"sure","other":1},"_meta":{"k":"v"}}"#,
            r#"{"name":7}"#,
            r#""tool""#,
            "null",
            r#"{"inputSchema":"none","name":"odd"}"#,
        ]
    );
}

#[tokio::test]
async fn long_lists_and_large_definitions_are_read() {
    let mut site = Site::new();
    site.start("many");
    assert_eq!(site.ready().await.1.len(), 5_000);
    site.start("large");
    let (_, tools) = site.ready().await;
    assert_eq!(tools[0]["inputSchema"]["description"].as_str().unwrap().len(), 5_000_000);
}

#[tokio::test]
async fn what_breaks_a_limit_is_not_connected() {
    for (mode, expected) in [
        ("circle", "a page comes again"),
        ("endless", "more than 200 pages"),
        ("too-many", "more than 10000 tools"),
        ("no-list", "no list of tools"),
        ("oversize", "more than 16 MB"),
        ("dies-listing", "exit code 9"),
    ] {
        let trial = Site::new().upstreams.try_connection(spec(mode)).await;
        let reason = trial.outcome.unwrap_err();
        assert!(reason.contains(expected), "{mode}: {reason}");
    }
}

#[tokio::test]
async fn what_does_not_answer_in_time_is_not_connected() {
    let site = Site::with(Timing { connect: Duration::from_millis(300), ..timing() });
    for (mode, expected) in [("mute", "`initialize` within 0.3 seconds"), ("listless", "within 0.3 seconds")]
    {
        let reason = site.upstreams.try_connection(spec(mode)).await.outcome.unwrap_err();
        assert!(reason.contains(expected), "{mode}: {reason}");
    }
}

#[tokio::test]
async fn a_server_without_tools_is_connected() {
    let mut site = Site::new();
    site.start("toolless");
    assert!(site.ready().await.1.is_empty());
}

#[tokio::test]
async fn changes_are_listed_once_they_settle() {
    let mut site = Site::new();
    site.start("good");
    site.ready().await;
    // The server tells of each of three new tools.
    site.call("good", "adds").await.unwrap();
    assert_eq!(names(&site.changed().await), ["echo", "added0", "added1", "added2"]);
    site.upstreams.refresh("good");
    assert_eq!(site.changed().await.len(), 4);
    assert!(site.is_quiet());
}
