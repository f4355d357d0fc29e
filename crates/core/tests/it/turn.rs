//! What a message says about tools: the table of `tools_override`.

use serde_json::{Value, json};
use toolshelf_core::{
    Code, Conversation, InvalidOverride, LimitKind, ModelLimits, RequestError, Scope, Snapshot,
    ToolDefinition, Toolset, TurnOverride, resolve,
};

use crate::support::{caller, definition, profile, request, tool};

/// Files, two tools of the web group, a profile of one of each.
fn snapshot() -> Snapshot {
    let web = |name| tool(ToolDefinition { toolsets: vec!["web".to_owned()], ..definition("web", name) });
    let tools = vec![
        tool(definition("files", "read")),
        tool(definition("files", "grep")),
        web("web_fetch"),
        web("web_search"),
    ];
    let mixed = profile("mixed", vec!["read".to_owned(), "web_fetch".to_owned()]);
    let files = profile("files", vec!["grep".to_owned(), "read".to_owned()]);
    Snapshot::new(tools, vec![]).unwrap().with_profile(mixed).with_profile(files)
}

fn offered(snapshot: &Snapshot, scope: Scope) -> Vec<String> {
    let resolution = resolve(snapshot, &request(scope)).unwrap();
    resolution.offered.iter().map(|tool| tool.name().to_string()).collect()
}

/// A conversation in which `mixed` was picked.
fn talk() -> Conversation {
    Conversation { pick: Some(Toolset::Profile("mixed".into())), ..Conversation::new("c1") }
}

#[test]
fn what_each_shape_means() {
    let snapshot = snapshot();
    let all = &["grep", "read", "web_fetch", "web_search"][..];
    let mixed = &["read", "web_fetch"][..];
    let off = || Conversation { tools_enabled: false, ..talk() };
    let with_web = |web: bool| Conversation { web_search: Some(web), ..talk() };
    for (said, conversation, expected) in [
        // Absent, null and {} leave the conversation's own settings.
        (json!(null), talk(), mixed),
        (json!({}), talk(), mixed),
        (json!({}), off(), &[]),
        (json!({}), with_web(true), &["read", "web_fetch", "web_search"]),
        (json!({}), with_web(false), &["read"]),
        (json!({}), Conversation::new("c1"), all),
        // A list is exact, and turns tools on.
        (json!([]), talk(), &[]),
        (json!(["grep"]), talk(), &["grep"]),
        (json!(["grep"]), off(), &["grep"]),
        (json!(["web_fetch"]), with_web(false), &["web_fetch"]),
        (json!(["grep"]), with_web(true), &["grep"]),
        // The switch of all tools.
        (json!({"tools": false}), talk(), &[]),
        (json!({"tools": false, "profile": "files"}), talk(), &[]),
        (json!({"tools": false, "add": ["grep"]}), talk(), &[]),
        (json!({"tools": true}), off(), mixed),
        // No tools but the web.
        (json!({"tools": false, "web_search": true}), talk(), &["web_fetch", "web_search"]),
        (json!({"web_search": true}), off(), &["web_fetch", "web_search"]),
        (json!({"tools": false}), with_web(true), &["web_fetch", "web_search"]),
        // Another toolset.
        (json!({"profile": "files"}), talk(), &["grep", "read"]),
        (json!({"profile": "FILES"}), talk(), &["grep", "read"]),
        (json!({"profile": "default"}), talk(), all),
        (json!({"profile": "none"}), talk(), &[]),
        (json!({"profile": "files"}), with_web(true), all),
        // The web.
        (json!({"web_search": true}), talk(), &["read", "web_fetch", "web_search"]),
        (json!({"web_search": false}), talk(), &["read"]),
        (json!({"web_search": false}), with_web(true), &["read"]),
        (json!({"web_search": true, "profile": "none"}), talk(), &["web_fetch", "web_search"]),
        // Exact names. What is added stands at the end, so that what was sent before stays as it was.
        (json!({"add": ["grep"]}), talk(), &["read", "web_fetch", "grep"]),
        (json!({"remove": ["read"]}), talk(), &["web_fetch"]),
        (json!({"remove": ["grep"]}), talk(), mixed),
        (json!({"add": ["grep"], "remove": ["read"]}), talk(), &["web_fetch", "grep"]),
        (json!({"add": ["web_search"], "web_search": false}), talk(), &["read", "web_search"]),
        (json!({"remove": ["web_fetch"], "web_search": true}), talk(), &["read", "web_search"]),
    ] {
        let turn = TurnOverride::parse(&snapshot, &said).unwrap();
        let scope = Scope { turn, conversation: Some(conversation.clone()), ..Scope::default() };
        assert_eq!(offered(&snapshot, scope), expected, "{said} in {conversation:?}");
    }
}

#[test]
fn who_chooses_in_order() {
    let snapshot = snapshot();
    let profile = |id: &str| Some(Toolset::Profile(id.into()));
    let talk = |pick, fallback| Conversation { pick, fallback, ..Conversation::new("c1") };
    let said = |value: Value| TurnOverride::parse(&snapshot, &value).unwrap();
    for (turn, toolset, conversation, expected) in [
        (
            said(json!({"profile": "none"})),
            profile("files"),
            talk(profile("mixed"), profile("files")),
            &[][..],
        ),
        (said(json!({})), profile("files"), talk(profile("mixed"), Some(Toolset::None)), &["grep", "read"]),
        (said(json!({})), None, talk(profile("mixed"), Some(Toolset::None)), &["read", "web_fetch"]),
        (said(json!({})), None, talk(None, profile("files")), &["grep", "read"]),
        (said(json!({})), None, talk(None, None), &["grep", "read", "web_fetch", "web_search"]),
        // What is gone offers nothing, and the next in the order does not take its place.
        (said(json!({})), None, talk(profile("gone"), profile("files")), &[]),
        (said(json!({})), None, talk(None, profile("gone")), &[]),
        (said(json!({})), profile("gone"), talk(profile("files"), None), &[]),
    ] {
        let scope = Scope { turn, toolset, conversation: Some(conversation), ..Scope::default() };
        assert_eq!(offered(&snapshot, scope.clone()), expected, "{scope:?}");
    }
}

#[test]
fn a_pin_cuts_what_a_message_says() {
    let snapshot = snapshot();
    for said in [
        json!({"profile": "default"}),
        json!({"add": ["grep"]}),
        json!({"web_search": true}),
        json!(["grep"]),
    ] {
        let turn = TurnOverride::parse(&snapshot, &said).unwrap();
        let scope = Scope { turn, ..Scope::default() };
        let pinned =
            toolshelf_core::Request::new(caller(Some(Toolset::Profile("mixed".into()))), scope.clone());
        let names = resolve(&snapshot, &pinned).unwrap().offered;
        assert!(names.iter().all(|tool| ["read", "web_fetch"].contains(&tool.name().as_ref())), "{said}");
        // A conversation keeps the pin of the key that made it, whoever speaks in it.
        let pin = Some(Toolset::Profile("mixed".into()));
        let conversation = Some(Conversation { pin, ..Conversation::new("c1") });
        let kept = offered(&snapshot, Scope { conversation, ..scope });
        assert!(kept.iter().all(|name| ["read", "web_fetch"].contains(&name.as_str())), "{said}: {kept:?}");
    }
}

#[test]
fn verdicts_say_what_switched_a_tool_off() {
    let snapshot = snapshot();
    for (said, tool, code) in [
        (json!({"tools": false}), "read", Code::ToolsOff),
        (json!({"web_search": false}), "web_fetch", Code::WebOff),
        (json!({"remove": ["read"]}), "read", Code::RemovedByTurn),
        (json!(["grep"]), "read", Code::NotInToolset),
        (json!({"profile": "none"}), "read", Code::ToolsetNone),
    ] {
        let turn = TurnOverride::parse(&snapshot, &said).unwrap();
        let scope = Scope { turn, conversation: Some(talk()), ..Scope::default() };
        let verdicts = resolve(&snapshot, &request(scope)).unwrap().verdicts;
        let verdict = verdicts.into_iter().find(|verdict| verdict.tool.as_ref() == tool).unwrap();
        assert_eq!(verdict.code, code, "{said}");
    }
}

#[test]
fn everything_that_is_wrong_is_reported_where_it_is() {
    let snapshot = snapshot();
    for (said, pointers) in [
        (json!(7), &[""][..]),
        (json!("files"), &[""]),
        (json!(true), &[""]),
        (json!([7, "read", "raed"]), &["/0", "/2"]),
        (json!({"tools": "yes"}), &["/tools"]),
        (json!({"tools": null}), &["/tools"]),
        (json!({"web_search": 1, "tools": 0}), &["/tools", "/web_search"]),
        (json!({"profile": 3}), &["/profile"]),
        (json!({"profile": null}), &["/profile"]),
        (json!({"add": "read"}), &["/add"]),
        (json!({"add": ["nope"], "remove": [null]}), &["/add/0", "/remove/0"]),
        (json!({"add": ["read", "grep"], "remove": ["grep"]}), &["/add/1"]),
        (json!({"bundles": ["x"]}), &["/bundles"]),
        (json!({"toolset": "files"}), &["/toolset"]),
        (json!({"a/b~c": 1}), &["/a~1b~0c"]),
    ] {
        let Err(InvalidOverride::Parts(parts)) = TurnOverride::parse(&snapshot, &said) else {
            panic!("{said} is refused");
        };
        let mut found: Vec<&str> = parts.iter().map(|part| part.pointer.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, pointers, "{said}");
    }
    let unknown = TurnOverride::parse(&snapshot, &json!({"profile": "mixd"}));
    let Err(InvalidOverride::Toolset(RequestError::UnknownToolset { suggestions, .. })) = unknown else {
        panic!("mixd is no toolset");
    };
    assert_eq!(suggestions, ["mixed"]);
    let Err(InvalidOverride::Parts(parts)) = TurnOverride::parse(&snapshot, &json!(["reads"])) else {
        panic!("reads is no tool");
    };
    assert_eq!(parts[0].suggestions, ["read"]);
}

#[test]
fn what_exceeds_a_model_is_said_with_its_heaviest_sources() {
    let snapshot = snapshot();
    let over =
        |limits| resolve(&snapshot, &request(Scope { limits, ..Scope::default() })).unwrap().over_limit;
    let tools = |max_tools| ModelLimits { max_tools: Some(max_tools), ..ModelLimits::default() };
    assert_eq!(over(ModelLimits::default()), None);
    assert_eq!(over(tools(4)), None);
    let exceeded = over(tools(3)).unwrap();
    assert_eq!((exceeded.kind, exceeded.count, exceeded.limit), (LimitKind::MaxTools, 4, 3));
    let weights: Vec<(&str, u32)> =
        exceeded.heaviest.iter().map(|(service, tools, _)| (service.as_str(), *tools)).collect();
    assert_eq!(weights, [("files", 2), ("web", 2)]);
    let total = resolve(&snapshot, &request(Scope::default())).unwrap().tokens.total;
    let window = |tokens| ModelLimits { context_window: Some(tokens), ..ModelLimits::default() };
    assert_eq!(over(window(total)), None);
    let exceeded = over(window(total - 1)).unwrap();
    assert_eq!((exceeded.kind, exceeded.count, exceeded.limit), (LimitKind::ContextWindow, total, total - 1));
}
