//! One row for each way in which a layer decides: the layer, its code, who decided and what would change it.

use std::sync::Arc;

use crate::support::{caller, definition, disable, request, snapshot, tool};
use toolshelf_core::{
    Availability, ByKind, Code, Conversation, FixAction, FixAction as A,
    FixWho::{self, Admin, Author, You},
    Layer, NotRegistered, Outcome, Pattern, Refusal, Request, RequestError, Scope, Snapshot, ToolDefinition,
    Toolset, Verdict, authorize_call, resolve,
};

/// Snapshot, scope, tool; then layer, code, kind and name of whoever decided, what to do and who can.
type Row<'a> = (&'a Snapshot, Scope, &'a str, Layer, Code, ByKind, &'a str, FixAction, FixWho);

fn verdict(snapshot: &Snapshot, request: &Request, name: &str) -> Verdict {
    let resolution = resolve(snapshot, request).expect("the request can be resolved");
    let mut found: Vec<Verdict> =
        resolution.verdicts.into_iter().filter(|verdict| verdict.tool.as_ref() == name).collect();
    assert_eq!(found.len(), 1, "exactly one verdict for {name}");
    found.remove(0)
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::parse(text).expect("a valid pattern")).collect()
}

fn on(channel: &str) -> Scope {
    Scope { source: vec![channel.to_owned()], ..Scope::default() }
}

#[test]
fn each_layer_removes_with_its_own_code_and_fix() {
    let plain = snapshot();
    let disabled = plain.with_disable("read", 1, Some(disable()));
    let failing = plain.with_availability("read", Availability::failed("no folder"));
    let unregistered = Snapshot::new(
        vec![],
        vec![NotRegistered { name: "gui".into(), reason: "there is no desktop".into() }],
    )
    .expect("the names differ");
    let none = Scope { toolset: Some(Toolset::None), ..Scope::default() };
    let list = |names: &[&str]| Scope {
        toolset: Some(Toolset::List(names.iter().map(|name| (*name).to_owned()).collect())),
        ..Scope::default()
    };
    let deny = Scope { deny: patterns(&["files/*"]), ..Scope::default() };
    let allow = Scope { allow: Some(patterns(&["grep"])), ..Scope::default() };
    let allow_nothing = Scope { allow: Some(vec![]), ..Scope::default() };

    let rows: Vec<Row<'_>> = vec![
        (
            &unregistered,
            Scope::default(),
            "gui",
            Layer::L1,
            Code::NotRegistered,
            ByKind::Author,
            "gui",
            A::ChangeCode,
            Author,
        ),
        (
            &plain,
            Scope::default(),
            "helper",
            Layer::L2,
            Code::NotExposed,
            ByKind::Author,
            "builtin",
            A::ChangeCode,
            Author,
        ),
        (&plain, none, "read", Layer::L2b, Code::ToolsetNone, ByKind::Toolset, "none", A::ChangeToolset, You),
        (
            &plain,
            list(&["grep"]),
            "read",
            Layer::L2b,
            Code::NotInToolset,
            ByKind::Toolset,
            "list",
            A::ChangeToolset,
            You,
        ),
        (
            &plain,
            on("telegram"),
            "bash",
            Layer::L3,
            Code::UnsafeInChannel,
            ByKind::Channel,
            "telegram",
            A::ChangeChannel,
            You,
        ),
        (
            &plain,
            Scope::default(),
            "todo_list",
            Layer::L4,
            Code::NoConversation,
            ByKind::System,
            "conversation",
            A::UseConversation,
            You,
        ),
        (
            &failing,
            Scope::default(),
            "read",
            Layer::L4,
            Code::CheckFailed,
            ByKind::System,
            "check",
            A::MendCheck,
            Admin,
        ),
        (
            &disabled,
            Scope::default(),
            "read",
            Layer::L5,
            Code::GloballyDisabled,
            ByKind::Admin,
            "ada",
            A::Enable,
            Admin,
        ),
        (
            &plain,
            deny,
            "read",
            Layer::L5,
            Code::DeniedByCaller,
            ByKind::Caller,
            "files/*",
            A::ChangeDeny,
            You,
        ),
        (&plain, allow, "read", Layer::L5, Code::NotInAllow, ByKind::Caller, "allow", A::ChangeAllow, You),
        (
            &plain,
            allow_nothing,
            "read",
            Layer::L5,
            Code::NotInAllow,
            ByKind::Caller,
            "allow",
            A::ChangeAllow,
            You,
        ),
    ];
    for (snapshot, scope, name, layer, code, by, by_name, action, who) in rows {
        let request = request(scope);
        let verdict = verdict(snapshot, &request, name);
        assert_eq!(
            (verdict.outcome, verdict.layer, verdict.code),
            (Outcome::Removed, Some(layer), code),
            "{name}"
        );
        let decided = verdict.by.clone().expect("somebody decided");
        assert_eq!((decided.kind, decided.name.as_ref()), (by, by_name), "{code:?}");
        let fix = verdict.fix.clone().expect("there is a fix");
        assert_eq!((fix.action, fix.who), (action, who), "{code:?}");
        assert!(verdict.also.is_empty(), "{code:?}: {:?}", verdict.also);
        let refused = authorize_call(snapshot, &request, name).expect_err("a removed tool is not called");
        assert_eq!(refused, Refusal::Removed(Box::new(verdict)), "the call is refused with the same verdict");
    }
}

#[test]
fn a_tool_that_every_layer_lets_through_is_offered() {
    let snapshot = snapshot();
    let scope = Scope {
        conversation: Some(Conversation::new("c1")),
        source: vec!["web".to_owned()],
        ..Scope::default()
    };
    let request = request(scope);
    let resolution = resolve(&snapshot, &request).unwrap();
    let offered: Vec<&str> = resolution.offered.iter().map(|tool| tool.name().as_ref()).collect();
    assert_eq!(offered, ["grep", "read", "todo_list", "bash"], "by group and name, the helper left out");
    let tokens: u32 = resolution.offered.iter().map(|tool| tool.tokens()).sum();
    assert_eq!((resolution.tokens.offered, resolution.tokens.deferred), (tokens, 0));
    assert_eq!(authorize_call(&snapshot, &request, "read").unwrap().tool.name().as_ref(), "read");
}

#[test]
fn the_first_layer_owns_the_verdict_and_the_others_stand_beside_it() {
    let snapshot = snapshot().with_disable("bash", 1, Some(disable()));
    let scope = Scope {
        toolset: Some(Toolset::None),
        source: vec!["telegram".to_owned()],
        deny: patterns(&["bash"]),
        ..Scope::default()
    };
    let verdict = verdict(&snapshot, &request(scope), "bash");
    assert_eq!((verdict.layer, verdict.code), (Some(Layer::L2b), Code::ToolsetNone));
    let also: Vec<(Layer, Code)> = verdict.also.iter().map(|cause| (cause.layer, cause.code)).collect();
    assert_eq!(
        also,
        [
            (Layer::L3, Code::UnsafeInChannel),
            (Layer::L5, Code::GloballyDisabled),
            (Layer::L5, Code::DeniedByCaller)
        ]
    );
    assert_eq!(verdict.also[1].reason.as_deref(), Some("leaks"));
}

#[test]
fn a_pin_cuts_every_selection() {
    let snapshot = snapshot();
    let pinned = |toolset: Option<Toolset>| {
        let pin = Toolset::List(vec!["read".to_owned()]);
        Request::new(caller(Some(pin)), Scope { toolset, ..Scope::default() })
    };
    for toolset in
        [None, Some(Toolset::Default), Some(Toolset::List(vec!["grep".to_owned(), "read".to_owned()]))]
    {
        let request = pinned(toolset);
        let offered = resolve(&snapshot, &request).unwrap().offered;
        assert_eq!(offered.len(), 1);
        assert_eq!(verdict(&snapshot, &request, "grep").code, Code::OutsidePin);
    }
    assert!(resolve(&snapshot, &pinned(Some(Toolset::None))).unwrap().offered.is_empty());
}

#[test]
fn a_preview_may_show_what_cannot_run_and_a_call_never_runs_it() {
    let snapshot = snapshot().with_availability("read", Availability::failed("no folder"));
    let request = request(Scope { only_available: false, ..Scope::default() });
    assert_eq!(verdict(&snapshot, &request, "read").outcome, Outcome::Offered);
    let refused = authorize_call(&snapshot, &request, "read");
    assert!(matches!(refused, Err(Refusal::Removed(verdict)) if verdict.code == Code::CheckFailed));
    assert_eq!(verdict(&snapshot, &request, "todo_list").code, Code::NoConversation, "no preview skips this");
}

#[test]
fn unknown_names_are_errors_with_close_matches_and_never_a_wider_set() {
    let snapshot = snapshot();
    for (name, suggestion) in
        [("defualt", Some("default")), ("None", Some("none")), ("FULL", Some("full")), ("safe", None)]
    {
        let Err(RequestError::UnknownToolset { suggestions, .. }) = Toolset::named(&snapshot, name) else {
            panic!("{name} is no toolset");
        };
        assert_eq!(suggestions.first().map(String::as_str), suggestion, "{name}");
    }
    for (name, toolset) in [
        ("default", Toolset::Default),
        ("all", Toolset::Default),
        ("full", Toolset::Default),
        ("none", Toolset::None),
    ] {
        assert_eq!(Toolset::named(&snapshot, name), Ok(toolset));
    }
    let list = Toolset::List(vec!["read".to_owned(), "raed".to_owned()]);
    let error = resolve(&snapshot, &request(Scope { toolset: Some(list), ..Scope::default() })).unwrap_err();
    assert!(
        matches!(&error, RequestError::UnknownTool { position: 1, name, .. } if name == "raed"),
        "{error:?}"
    );
    let refused = authorize_call(&snapshot, &request(Scope::default()), "grp").unwrap_err();
    assert_eq!(refused, Refusal::Unknown { name: "grp".to_owned(), suggestions: vec!["grep".to_owned()] });
    let refused = authorize_call(&snapshot, &request(Scope::default()), "helpe").unwrap_err();
    assert_eq!(
        refused,
        Refusal::Unknown { name: "helpe".to_owned(), suggestions: vec![] },
        "an internal helper is never suggested"
    );
}

#[test]
fn a_disable_holds_for_a_tool_that_comes_back() {
    let empty = Snapshot::new(vec![], vec![]).unwrap().with_disable("read", 1, Some(disable()));
    let states: Vec<_> = empty.disables().map(|(name, disable)| (name.to_owned(), disable.clone())).collect();
    let mut later = Snapshot::new(vec![tool(definition("files", "read"))], vec![]).unwrap();
    for (name, disable) in states {
        later = later.with_disable(&name, 1, Some(disable));
    }
    assert_eq!(verdict(&later, &request(Scope::default()), "read").code, Code::GloballyDisabled);
}

#[test]
fn input_order_never_changes_the_list() {
    let mut definitions: Vec<ToolDefinition> = ["c", "a", "b", "d"]
        .iter()
        .map(|name| definition(if *name < "c" { "x" } else { "y" }, name))
        .collect();
    let names = |definitions: &[ToolDefinition]| {
        let tools = definitions.iter().cloned().map(tool).collect();
        let snapshot = Snapshot::new(tools, vec![]).unwrap();
        let offered = resolve(&snapshot, &request(Scope::default())).unwrap().offered;
        offered.iter().map(|tool| Arc::clone(tool.name())).collect::<Vec<_>>()
    };
    let before = names(&definitions);
    definitions.reverse();
    assert_eq!(names(&definitions), before);
}
