//! L6: what is deferred, what is resident, in which order tools are sent; and searching for the rest.

use std::sync::Arc;

use serde_json::json;
use toolshelf_core::{
    Code, Conversation, Disable, LOADER, Layer, Loaded, ModelLimits, NewTools, Outcome, Pattern, Profile,
    Request, Scope, Search, Snapshot, ToolDefinition, Toolset, TurnOverride, authorize_call, resolve, search,
};

use crate::support::{caller, definition, disable, loader, profile, request, tool};

/// Two tools that ship, three that are deferred, and the loader.
fn snapshot() -> Snapshot {
    let deferred = |service: &str, name: &str, description: &str| {
        tool(ToolDefinition { defer: true, description: description.to_owned(), ..definition(service, name) })
    };
    let tools = vec![
        tool(definition("files", "read")),
        tool(definition("files", "grep")),
        deferred("git", "git__commit", "Records changes in the repository."),
        deferred("git", "git__log", "Shows the history of commits."),
        deferred("weather", "weather__forecast", "天气预报查询：城市未来几天的天气。"),
        loader(),
    ];
    Snapshot::new(tools, vec![]).unwrap()
}

fn names(snapshot: &Snapshot, request: &Request) -> (Vec<String>, Vec<String>) {
    let resolution = resolve(snapshot, request).unwrap();
    (
        resolution.offered.iter().map(|tool| tool.name().to_string()).collect(),
        resolution.deferred.iter().map(|entry| entry.name.to_string()).collect(),
    )
}

fn loaded(snapshot: &Snapshot, names: &[&str]) -> Vec<Loaded> {
    names
        .iter()
        .map(|name| {
            let tool = snapshot.tool(snapshot.find(name).unwrap());
            Loaded { tool: Arc::clone(tool.name()), definition: tool.definition().into() }
        })
        .collect()
}

const DEFERRED: [&str; 3] = ["git__commit", "git__log", "weather__forecast"];

#[test]
fn what_is_sent_and_what_waits() {
    let snapshot = snapshot();
    let talk = || Conversation::new("c1");
    let turn = |value| TurnOverride::parse(&snapshot, &value).unwrap();
    let scope = |turn, conversation| Scope { turn, conversation: Some(conversation), ..Scope::default() };
    let pinned = snapshot.with_profile(Arc::new(Profile {
        pinned: vec!["git__log".into()],
        ..Profile::clone(&profile("p", vec!["read".into(), "git__log".into(), "git__commit".into()]))
    }));
    let loads = |names: &[&str]| Conversation { loaded: loaded(&snapshot, names), ..talk() };
    let none = |tools: &[&str]| -> (Vec<String>, Vec<String>) {
        (tools.iter().map(ToString::to_string).collect(), Vec::new())
    };
    let some = |tools: &[&str], deferred: &[&str]| -> (Vec<String>, Vec<String>) {
        let tools = std::iter::once(&LOADER).chain(tools);
        (tools.map(ToString::to_string).collect(), deferred.iter().map(ToString::to_string).collect())
    };
    for (case, snapshot, scope, expected) in [
        ("everything", &snapshot, Scope::default(), some(&["grep", "read"], &DEFERRED)),
        (
            "one is loaded",
            &snapshot,
            scope(turn(json!({})), loads(&["weather__forecast"])),
            some(&["grep", "read", "weather__forecast"], &DEFERRED[..2]),
        ),
        (
            "what is loaded stands in the order of its appearance",
            &snapshot,
            scope(turn(json!({})), loads(&["weather__forecast", "git__commit"])),
            some(&["grep", "read", "weather__forecast", "git__commit"], &["git__log"]),
        ),
        (
            "all are loaded, so the loader rests",
            &snapshot,
            scope(turn(json!({})), loads(&["weather__forecast", "git__log", "git__commit"])),
            none(&["grep", "read", "weather__forecast", "git__log", "git__commit"]),
        ),
        (
            "an exact list is resident",
            &snapshot,
            scope(turn(json!(["git__log", "read"])), talk()),
            none(&["read", "git__log"]),
        ),
        (
            "what a message adds is resident",
            &snapshot,
            scope(turn(json!({"add": ["git__log"]})), talk()),
            some(&["grep", "read", "git__log"], &["git__commit", "weather__forecast"]),
        ),
        (
            "a pin of the profile is resident",
            &pinned,
            Scope { toolset: Some(Toolset::Profile("p".into())), ..Scope::default() },
            some(&["read", "git__log"], &["git__commit"]),
        ),
        ("no tools, no loader", &snapshot, scope(turn(json!({"tools": false})), talk()), none(&[])),
        ("none", &snapshot, Scope { toolset: Some(Toolset::None), ..Scope::default() }, none(&[])),
        (
            "a deleted profile",
            &snapshot,
            Scope { toolset: Some(Toolset::Profile("x".into())), ..Scope::default() },
            none(&[]),
        ),
        (
            "the message takes the loader out, so every schema ships",
            &snapshot,
            scope(turn(json!({"remove": [LOADER]})), talk()),
            none(&["grep", "read", "git__commit", "git__log", "weather__forecast"]),
        ),
        (
            "a pattern of all does not mean the loader",
            &snapshot,
            Scope { deny: vec![Pattern::parse("meta/*").unwrap()], ..Scope::default() },
            some(&["grep", "read"], &DEFERRED),
        ),
        (
            "its name does",
            &snapshot,
            Scope { deny: vec![Pattern::parse(LOADER).unwrap()], ..Scope::default() },
            none(&["grep", "read", "git__commit", "git__log", "weather__forecast"]),
        ),
        (
            "an allow list need not name it",
            &snapshot,
            Scope { allow: Some(vec![Pattern::parse("git/*").unwrap()]), ..Scope::default() },
            some(&[], &DEFERRED[..2]),
        ),
        (
            "a model without deferral gets every schema",
            &snapshot,
            Scope { limits: ModelLimits { no_deferral: true, ..ModelLimits::default() }, ..Scope::default() },
            none(&["grep", "read", "git__commit", "git__log", "weather__forecast"]),
        ),
    ] {
        assert_eq!(names(snapshot, &request(scope)), expected, "{case}");
    }
}

#[test]
fn a_disabled_loader_defers_nothing() {
    let snapshot = snapshot().with_disable(LOADER, 1, Some(disable()));
    let (offered, deferred) = names(&snapshot, &request(Scope::default()));
    assert_eq!((offered.len(), deferred.len()), (5, 0));
    assert!(!offered.iter().any(|name| name == LOADER));
}

#[test]
fn a_pinned_key_gets_the_loader_only_for_what_its_pin_holds() {
    let snapshot = snapshot();
    let pinned = |tools: &[&str]| {
        let list = Toolset::List(tools.iter().map(ToString::to_string).collect());
        names(&snapshot, &Request::new(caller(Some(list)), Scope::default()))
    };
    assert_eq!(pinned(&["read", "git__log"]), (vec![LOADER.into(), "read".into()], vec!["git__log".into()]));
    assert_eq!(pinned(&["read"]), (vec!["read".into()], vec![]));
    let none = Request::new(caller(Some(Toolset::None)), Scope::default());
    assert_eq!(names(&snapshot, &none), (vec![], vec![]));
    assert!(authorize_call(&snapshot, &none, LOADER).is_err());
}

#[test]
fn a_changed_tool_is_no_longer_loaded() {
    let before = snapshot();
    let conversation = Conversation { loaded: loaded(&before, &["git__log"]), ..Conversation::new("c1") };
    let request = request(Scope { conversation: Some(conversation), ..Scope::default() });
    assert!(names(&before, &request).0.contains(&"git__log".to_owned()));
    let mut tools: Vec<_> = before.indexes().map(|index| Arc::clone(before.tool(index))).collect();
    tools.retain(|tool| tool.name().as_ref() != "git__log");
    tools.push(tool(ToolDefinition { defer: true, ..definition("git", "git__log") }));
    let after = Snapshot::new(tools, vec![]).unwrap();
    assert_eq!(names(&after, &request).1, DEFERRED);
}

#[test]
fn the_oldest_is_let_go_when_too_many_are_loaded() {
    let tools = (0..80)
        .map(|number| tool(ToolDefinition { defer: true, ..definition("many", &format!("m{number:02}")) }));
    let snapshot = Snapshot::new(tools.chain([loader()]).collect(), vec![]).unwrap();
    let all: Vec<String> = (0..70).map(|number| format!("m{number:02}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let conversation = Conversation { loaded: loaded(&snapshot, &all), ..Conversation::new("c1") };
    let (offered, deferred) =
        names(&snapshot, &request(Scope { conversation: Some(conversation), ..Scope::default() }));
    assert_eq!((offered.len(), deferred.len()), (65, 16));
    assert_eq!((offered[1].as_str(), offered[64].as_str()), ("m06", "m69"));
}

#[test]
fn a_deferred_tool_is_called_and_says_that_it_was_deferred() {
    let snapshot = snapshot();
    let authorized = authorize_call(&snapshot, &request(Scope::default()), "git__log").unwrap();
    assert!(authorized.deferred);
    assert!(!authorize_call(&snapshot, &request(Scope::default()), "read").unwrap().deferred);
    let resolution = resolve(&snapshot, &request(Scope::default())).unwrap();
    let verdict = resolution.verdicts.iter().find(|verdict| verdict.tool.as_ref() == "git__log").unwrap();
    assert_eq!(
        (verdict.outcome, verdict.layer, verdict.code),
        (Outcome::Deferred, Some(Layer::L6), Code::Deferred)
    );
}

#[test]
fn the_loader_is_in_no_catalog_and_no_profile() {
    let snapshot = snapshot();
    assert!(snapshot.catalog_names().all(|name| name != LOADER));
    let all =
        Profile { new_tools: NewTools::Include, new_tools_since: 0, ..Profile::clone(&profile("p", vec![])) };
    assert!(snapshot.profile_tools(&all).tools.iter().all(|name| name.as_ref() != LOADER));
    assert_eq!(snapshot.profile_tools(&all).tools.len(), 5);
}

#[test]
fn a_search_finds_what_could_be_called_and_nothing_else() {
    let snapshot = snapshot().with_disable("git__commit", 1, Some(Disable::clone(&disable())));
    let find = |queries: &[&str], select: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let wanted = Search::read(owned(queries), owned(select), 5);
        let found = search(&snapshot, &request(Scope::default()), &wanted).unwrap();
        let names: Vec<String> = found
            .tools
            .iter()
            .map(|found| {
                let mark = if found.already_available { "!" } else { "" };
                format!("{}{mark}", snapshot.tool(found.index).name())
            })
            .collect();
        (names.join(" "), found.unknown.join(" "))
    };
    for (queries, select, found, unknown) in [
        (&["commit history"][..], &[][..], "git__log", ""),
        (&["天气"], &[], "weather__forecast", ""),
        (&["未来天气预报"], &[], "weather__forecast", ""),
        (&["read"], &[], "read!", ""),
        (&["forecast", "log"], &[], "weather__forecast git__log", ""),
        (&[], &["git__log", "git__commit", "nope"], "git__log", "git__commit nope"),
        (&["select:git__log,read"], &[], "git__log read!", ""),
        (&["git__log,nope"], &[], "git__log", "nope"),
        (&["+forecast commits"], &[], "weather__forecast", ""),
        (&["+nope log"], &[], "", ""),
        (&["zzz"], &[], "", ""),
        (&[LOADER], &[LOADER], "", LOADER),
        (&[], &[], "", ""),
    ] {
        assert_eq!(find(queries, select), (found.to_owned(), unknown.to_owned()), "{queries:?} {select:?}");
    }
}
