//! Conversations without a browser: what a run is after its events, and what is said about tools.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolshelf_api::{Run, RunNode, RunState, ToolsetOrigin};

/// An event of a run, as the page reads it: by its name, and these fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Heard {
    run: Option<Run>,
    node: Option<RunNode>,
    number: u32,
    text: String,
    state: Option<RunState>,
    detail: Option<String>,
}

impl Heard {
    /// What a run is after this event; none if the page has not heard of the run before.
    pub fn apply(self, run: Option<Run>) -> Option<Run> {
        if let Some(whole) = self.run {
            return Some(whole);
        }
        let mut run = run?;
        if let Some(node) = self.node {
            match run.nodes.iter_mut().find(|known| known.number == node.number) {
                Some(known) => *known = node,
                None => run.nodes.push(node),
            }
        } else if let Some(state) = self.state {
            run.state = state;
            run.detail = self.detail;
        } else if let Some(node) = run.nodes.iter_mut().find(|node| node.number == self.number) {
            node.text.push_str(&self.text);
        }
        Some(run)
    }
}

/// What a conversation, or one that is not made yet, says about tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The picked toolset.
    pub profile: Option<String>,
    /// Whether there are tools at all.
    pub tools: bool,
    /// Whether the `web` group is added or taken away.
    pub web: Option<bool>,
    /// Whether a person reads along.
    pub attended: bool,
    /// The model.
    pub model: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { profile: None, tools: true, web: None, attended: true, model: "console".to_owned() }
    }
}

/// What one message says about tools, besides the settings.
pub fn override_of(profile: Option<&str>) -> Option<Value> {
    let mut fields = Map::new();
    fields.insert("profile".to_owned(), profile?.into());
    Some(Value::Object(fields))
}

/// The same for a conversation that is not made yet, of whose settings the server knows nothing.
pub fn override_before(settings: &Settings, profile: Option<&str>) -> Value {
    let mut fields = Map::new();
    if let Some(profile) = profile.or(settings.profile.as_deref()) {
        fields.insert("profile".to_owned(), profile.into());
    }
    fields.insert("tools".to_owned(), settings.tools.into());
    if let Some(web) = settings.web {
        fields.insert("web_search".to_owned(), web.into());
    }
    Value::Object(fields)
}

/// What an override that was sent says, in a few words.
pub fn override_words(said: &Value) -> String {
    if let Some(list) = said.as_array() {
        return match list.len() {
            0 => "no tools".to_owned(),
            1 => "1 tool by name".to_owned(),
            many => format!("{many} tools by name"),
        };
    }
    let mut words = Vec::new();
    if let Some(profile) = said["profile"].as_str() {
        words.push(toolset_title(profile).to_owned());
    }
    let switch = |name: &str, title: &str| {
        said[name].as_bool().map(|on| format!("{title} {}", if on { "on" } else { "off" }))
    };
    words.extend(switch("tools", "tools"));
    words.extend(switch("web_search", "web"));
    for (name, sign) in [("add", "+"), ("remove", "−")] {
        words.extend(
            said[name]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|tool| format!("{sign}{tool}")),
        );
    }
    words.join(", ")
}

/// How a toolset is called.
pub fn toolset_title(name: &str) -> &str {
    match name {
        "default" => "All tools",
        "none" => "No tools",
        other => other,
    }
}

/// Where a toolset comes from, when nobody picked it.
pub fn origin_words(origin: ToolsetOrigin) -> &'static str {
    match origin {
        ToolsetOrigin::Pin => "pinned by the API key",
        ToolsetOrigin::Start => "your start profile",
        ToolsetOrigin::Active => "workspace default",
        ToolsetOrigin::Pick | ToolsetOrigin::Default => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(number: u32, text: &str) -> Value {
        json!({"number": number, "parent": null, "kind": "model_call", "state": "running", "name": "m",
            "arguments": null, "text": text, "code": null, "verdict": null, "started_at": "", "finished_at": null})
    }

    fn run(nodes: &[Value]) -> Value {
        json!({"id": "r", "conversation_id": "c", "state": "running", "code": null, "detail": null, "nodes": nodes,
            "snapshot_revision": 1, "started_at": "", "finished_at": null})
    }

    #[test]
    fn events_make_a_run() {
        let mut now = None;
        for event in [
            json!({"kind": "delta", "number": 1, "text": "lost"}),
            json!({"kind": "resync", "run": run(&[node(1, "a")])}),
            json!({"kind": "delta", "number": 1, "text": "b"}),
            json!({"kind": "node", "node": node(2, "")}),
            json!({"kind": "delta", "number": 2, "text": "c"}),
            json!({"kind": "delta", "number": 9, "text": "nowhere"}),
            json!({"kind": "node", "node": node(1, "whole")}),
            json!({"kind": "finished", "state": "failed", "code": "x", "detail": "Why."}),
        ] {
            now = serde_json::from_value::<Heard>(event).unwrap().apply(now);
        }
        let now = now.unwrap();
        let texts: Vec<&str> = now.nodes.iter().map(|node| node.text.as_str()).collect();
        assert_eq!(
            (texts, now.state, now.detail.as_deref()),
            (vec!["whole", "c"], RunState::Failed, Some("Why."))
        );
    }

    #[test]
    fn what_is_said_about_tools() {
        assert_eq!(override_of(None), None);
        assert_eq!(override_of(Some("few")), Some(json!({"profile": "few"})));
        let settings = Settings { web: Some(true), tools: false, ..Settings::default() };
        let before = override_before(&settings, None);
        assert_eq!(before, json!({"tools": false, "web_search": true}));
        let picked = Settings { profile: Some("mine".to_owned()), ..Settings::default() };
        assert_eq!(override_before(&picked, None), json!({"profile": "mine", "tools": true}));
        assert_eq!(override_before(&picked, Some("few"))["profile"], "few");
        for (said, words) in [
            (json!({"profile": "default"}), "All tools"),
            (json!({"tools": false, "web_search": true}), "tools off, web on"),
            (json!([]), "no tools"),
            (json!(["a", "b"]), "2 tools by name"),
            (json!({"add": ["a"], "remove": ["b"]}), "+a, −b"),
        ] {
            assert_eq!(override_words(&said), words);
        }
    }
}
