//! One decision: what `POST /resolve` lists, what a composer counts before a conversation is made, what the model says that
//! it is sent, and what a call may run are the same tools, over random profiles, picks, switches and messages.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toolshelf_tests::{Client, TestApp};

const ALL: [&str; 7] = ["glob", "grep", "list", "read", "todo_create", "todo_list", "web_fetch"];

fn tools() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(ALL.to_vec(), 0..=ALL.len())
}

fn toolset() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["default", "none", "p0", "p1", "p2"])
}

/// What a conversation is made with.
fn settings() -> impl Strategy<Value = Value> {
    (prop::option::of(toolset()), prop::bool::weighted(0.8), any::<Option<bool>>(), any::<bool>()).prop_map(
        |(profile, tools, web, attended)| {
            json!({"profile": profile, "tools_enabled": tools, "web_search": web, "attended": attended})
        },
    )
}

/// What a message says about tools.
fn said() -> impl Strategy<Value = Value> {
    let object =
        (any::<Option<bool>>(), prop::option::of(toolset()), any::<Option<bool>>(), tools(), tools());
    let object = object.prop_map(|(on, profile, web, add, remove)| {
        let remove: Vec<&str> = remove.into_iter().filter(|tool| !add.contains(tool)).collect();
        let mut said = json!({"add": add, "remove": remove});
        for (name, value) in [("tools", json!(on)), ("profile", json!(profile)), ("web_search", json!(web))] {
            if !value.is_null() {
                said[name] = value;
            }
        }
        said
    });
    prop_oneof![1 => Just(Value::Null), 1 => tools().prop_map(|tools| json!(tools)), 3 => object]
}

fn names(resolved: &Value) -> BTreeSet<String> {
    let tools = resolved["tools"].as_array().expect("a list").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Says something, waits for the answer, and returns the run.
async fn say(client: &Client, talk: &Value, message: &str, said: &Value) -> Value {
    let path = format!("/api/v1/conversations/{}/turns", talk["id"].as_str().expect("an id"));
    let turn = json!({"message": message, "tools_override": said});
    let started = client.post(&path, turn).await.expect(202).json();
    let run = format!("/api/v1/runs/{}", started["run_id"].as_str().expect("an id"));
    client.get(&format!("{run}/events")).listen().await.rest().await;
    client.get(&run).await.expect(200).json()
}

#[tokio::test]
async fn list_count_answer_and_call_are_one() {
    let (_app, admin) = TestApp::with_admin().await;
    for name in ["p0", "p1", "p2"] {
        admin.post("/api/v1/profiles", json!({"name": name})).await.expect(201);
    }
    let drawn = (prop::array::uniform3(tools()), settings(), said(), prop::option::of(toolset()), tools());
    let mut runner = TestRunner::deterministic();
    for _ in 0..40 {
        let (profiles, settings, said, start, disabled) = drawn.new_tree(&mut runner).unwrap().current();
        for (number, tools) in profiles.iter().enumerate() {
            admin.patch(&format!("/api/v1/profiles/p{number}"), json!({"tools": tools})).await.expect(200);
        }
        admin.put("/api/v1/start-profile", json!({"name": start})).await.expect(200);
        // At most two, so that most of what is drawn still matters.
        let disabled = &disabled[..disabled.len().min(2)];
        for tool in disabled {
            admin.disable(tool, "drawn").await.expect(200);
        }
        let case = format!("{profiles:?} {settings} {said} {start:?} {disabled:?}");

        let talk = admin.post("/api/v1/conversations", settings.clone()).await.expect(201).json();
        let asked = json!({"conversation_id": talk["id"], "tools_override": said});
        let resolved = admin.post("/api/v1/resolve", asked).await.expect(200).json();
        let listed = names(&resolved);
        let offered =
            resolved["verdicts"].as_array().unwrap().iter().filter(|verdict| verdict["outcome"] == "offered");
        assert_eq!(
            listed,
            offered.map(|verdict| verdict["tool"].as_str().unwrap().to_owned()).collect(),
            "{case}"
        );

        // What the composer counts before the conversation is made: its settings as a message says them.
        let mut before = json!({"tools": settings["tools_enabled"]});
        for (name, of) in [("profile", "profile"), ("web_search", "web_search")] {
            if !settings[of].is_null() {
                before[name] = settings[of].clone();
            }
        }
        let composed = json!({"new_conversation": true, "tools_override": before});
        let composed = names(&admin.post("/api/v1/resolve", composed).await.expect(200).json());
        let made = json!({"conversation_id": talk["id"]});
        assert_eq!(composed, names(&admin.post("/api/v1/resolve", made).await.expect(200).json()), "{case}");

        let run = say(&admin, &talk, "/tools", &said).await;
        let answer = run["nodes"][1]["text"].as_str().unwrap();
        for tool in ALL {
            let is_listed = listed.contains(tool);
            assert_eq!(answer.contains(&format!("`{tool}`")), is_listed, "{tool} in {answer}: {case}");
            let call = say(&admin, &talk, &format!("/call {tool} {{\"no_such_argument\": 1}}"), &said).await;
            // What may be called gets as far as its arguments.
            assert_eq!(call["nodes"][2]["code"] == "invalid_input", is_listed, "{tool}: {case}: {call}");
        }
        for tool in disabled {
            admin.enable(tool).await.expect(200);
        }
    }
}
