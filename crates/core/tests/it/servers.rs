//! Tools of upstream MCP servers: how definitions are read, and how servers come, go and fail in a snapshot.

use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_core::{
    Code, Effect, FixAction, Held, HeldKind, Layer, McpDefinition, McpMarks, NotRegistered, Outcome, Scope,
    ServerTools, Snapshot, Tool, UpstreamCall, authorize_call, reachable_upstreams, resolve,
};

use crate::support::{definition, disable, profile, request, tool};

fn marks() -> McpMarks {
    McpMarks {
        expose: true,
        defer: true,
        unsafe_in: Vec::new(),
        toolsets: Vec::new(),
        kind: None,
        effect: None,
        trust_annotations: false,
        held: None,
        call: UpstreamCall { generation: 1, max_result_chars: 30_000 },
    }
}

fn listed(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

fn of(server: &str, name: &str, marks: McpMarks) -> Arc<Tool> {
    Arc::new(McpDefinition::read(&listed(name)).unwrap().tool(server, marks).unwrap())
}

/// What a test does to one server at a time.
trait OneServer {
    fn with_server(&self, server: &str, now: ServerTools) -> Snapshot;
    fn with_server_down(&self, server: &str, down: Option<Arc<str>>) -> Snapshot;
}

impl OneServer for Snapshot {
    fn with_server(&self, server: &str, now: ServerTools) -> Snapshot {
        self.with_servers([(server.into(), now)])
    }

    fn with_server_down(&self, server: &str, down: Option<Arc<str>>) -> Snapshot {
        self.with_servers_down(vec![(server.into(), down)])
    }
}

fn server(tools: Vec<Arc<Tool>>) -> ServerTools {
    ServerTools { tools, ..ServerTools::default() }
}

fn verdict(snapshot: &Snapshot, name: &str, scope: Scope) -> (Outcome, Option<Layer>, Code) {
    let resolution = resolve(snapshot, &request(scope)).unwrap();
    let verdict = resolution.verdicts.into_iter().find(|verdict| verdict.tool.as_ref() == name).unwrap();
    (verdict.outcome, verdict.layer, verdict.code)
}

#[test]
fn one_bad_definition_is_refused_with_its_reason() {
    let with = |member: &str, value: Value| {
        let mut tool = listed("x");
        tool[member] = value;
        tool
    };
    let mut large = listed("x");
    large["inputSchema"]["properties"]["a"]["description"] = "x".repeat(5_000_000).into();
    for (listed, word) in [
        (json!(null), "object"),
        (json!("x"), "object"),
        (json!({}), "name"),
        (with("name", json!(7)), "name"),
        (with("name", json!("")), "empty"),
        (with("name", json!("x".repeat(300))), "longer"),
        (with("description", json!(["x"])), "description"),
        (with("description", json!("x".repeat(20_001))), "20,000"),
        (with("title", json!({})), "title"),
        (with("annotations", json!("readOnly")), "annotations"),
        (with("annotations", json!({"readOnlyHint": "yes"})), "readOnlyHint"),
        (json!({"name": "x"}), "inputSchema"),
        (with("inputSchema", json!(null)), "inputSchema"),
        (with("inputSchema", json!("object")), "inputSchema"),
        (with("inputSchema", json!({"type": "string"})), "object"),
        (with("inputSchema", json!({"properties": {}})), "object"),
        (with("inputSchema", json!({"type": "object", "$ref": "#"})), "itself"),
        (large, "256 kB"),
    ] {
        let refused = McpDefinition::read(&listed).unwrap_err();
        assert!(
            refused.reason.contains(word),
            "{}: {}",
            refused.reason,
            &listed.to_string()[..listed.to_string().len().min(80)]
        );
    }
}

#[test]
fn texts_and_names_of_strangers_are_made_safe_to_show() {
    let listed = json!({
        "name": "a\u{202E}b <script>",
        "title": "One\nTwo\u{7}",
        "description": "Reads.\u{E0041}\u{202E}\nMore <b>text</b>\u{1b}[31m",
        "inputSchema": {"type": "object"},
    });
    let tool = McpDefinition::read(&listed).unwrap().tool("web", marks()).unwrap();
    assert!(tool.name().starts_with("web__a_b__script__"), "{}", tool.name());
    assert_eq!(tool.title(), Some("One Two"));
    assert_eq!(tool.description(), "Reads.\nMore <b>text</b>[31m");
    assert_eq!((tool.service(), tool.method()), ("web", "a\u{202E}b <script>"));
}

#[test]
fn the_hash_sees_what_models_are_told_and_not_the_order_of_members() {
    let hash = |value: Value| McpDefinition::read(&value).unwrap().hash();
    let plain = json!({"name": "x", "inputSchema": {"type": "object", "title": "X"}});
    let reordered = json!({"inputSchema": {"title": "X", "type": "object"}, "name": "x", "_meta": {"at": 7}});
    assert_eq!(hash(plain.clone()), hash(reordered));
    for (member, value) in [
        ("description", json!("Other.")),
        ("title", json!("Other")),
        ("inputSchema", json!({"type": "object"})),
        ("outputSchema", json!({"type": "object"})),
        ("annotations", json!({"readOnlyHint": true})),
        ("_meta", json!({"ui": {"visibility": ["app"]}})),
    ] {
        let mut changed = plain.clone();
        changed[member] = value;
        assert_ne!(hash(changed), hash(plain.clone()), "{member}");
    }
}

#[test]
fn what_a_server_says_of_effects_counts_when_it_is_trusted() {
    let effect = |annotations: Value, trust_annotations: bool, effect: Option<Effect>| {
        let mut listed = listed("x");
        listed["annotations"] = annotations;
        McpDefinition::read(&listed)
            .unwrap()
            .tool("s", McpMarks { trust_annotations, effect, ..marks() })
            .unwrap()
            .effect()
    };
    for (annotations, trusted, marked, expected) in [
        (json!({"readOnlyHint": true}), false, None, Effect::Unknown),
        (json!({"readOnlyHint": true}), true, None, Effect::Read),
        (json!({}), true, None, Effect::Destructive),
        (json!({"destructiveHint": false}), true, None, Effect::External),
        (json!({"destructiveHint": false, "openWorldHint": false}), true, None, Effect::Write),
        (json!({"readOnlyHint": true}), true, Some(Effect::Write), Effect::Write),
    ] {
        assert_eq!(effect(annotations.clone(), trusted, marked), expected, "{annotations} {trusted}");
    }
}

#[test]
fn metadata_hides_a_tool_and_unreadable_metadata_too() {
    for (meta, shown) in [
        (json!({"ui": {"visibility": ["model", "app"]}}), true),
        (json!({"ui": {"resourceUri": "ui://x"}}), true),
        (json!({"other": 1}), true),
        (json!({"ui": {"visibility": ["app"]}}), false),
        (json!({"ui": {"visibility": []}}), false),
        (json!({"ui": {"visibility": "model"}}), false),
        (json!({"ui": {"visibility": ["model", "everyone"]}}), false),
        (json!({"ui": "model"}), false),
        (json!([]), false),
    ] {
        let mut listed = listed("x");
        listed["_meta"] = meta.clone();
        let tool = Arc::new(McpDefinition::read(&listed).unwrap().tool("s", marks()).unwrap());
        let snapshot = Snapshot::new(vec![tool], vec![]).unwrap();
        assert_eq!(snapshot.catalog().count() == 1, shown, "{meta}");
        let expected = if shown { Code::Offered } else { Code::HiddenByMetadata };
        assert_eq!(verdict(&snapshot, "s__x", Scope::default()).2, expected, "{meta}");
    }
}

#[test]
fn servers_come_change_fail_and_go_and_what_was_decided_stays() {
    let empty = Snapshot::new(vec![tool(definition("files", "read"))], vec![])
        .unwrap()
        .with_profile(profile("p", vec!["read".into(), "a__x".into()]))
        .with_disable("a__y", 1, Some(disable()));
    let read =
        |snapshot: &Snapshot| snapshot.catalog_names().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let both = empty
        .with_server("b", server(vec![of("b", "z", marks())]))
        .with_server("a", server(vec![of("a", "y", marks()), of("a", "x", marks())]));
    assert_eq!(read(&both), "read a__x a__y b__z");
    assert_eq!(verdict(&both, "a__y", Scope::default()).2, Code::GloballyDisabled);
    let profile_tools = both.profile_tools(both.profile("p").unwrap());
    assert_eq!((profile_tools.tools.len(), profile_tools.missing.len()), (2, 0));

    let down = both.with_server_down("a", Some("It does not answer.".into()));
    assert_eq!(
        verdict(&down, "a__x", Scope::default()),
        (Outcome::Removed, Some(Layer::L4), Code::UpstreamDown)
    );
    assert_eq!(verdict(&down, "b__z", Scope::default()).2, Code::Offered);
    assert!(!down.card(down.find("a__x").unwrap(), false).available.ok);
    // A change elsewhere does not bring it back, and it comes back by itself.
    let down = down.with_server("b", ServerTools::default());
    assert_eq!(verdict(&down, "a__x", Scope::default()).2, Code::UpstreamDown);
    assert_eq!(verdict(&down.with_server_down("a", None), "a__x", Scope::default()).2, Code::Offered);

    let gone = both.with_server("a", ServerTools::default());
    assert_eq!(read(&gone), "read b__z");
    assert_eq!(gone.profile_tools(gone.profile("p").unwrap()).missing, ["a__x".into()]);
    assert!(authorize_call(&gone, &request(Scope::default()), "a__x").is_err());
}

#[test]
fn a_name_that_is_taken_stays_with_its_first_owner() {
    let builtin = tool(definition("files", "a__x"));
    let first = of("a", "x", marks());
    let snapshot = Snapshot::new(vec![builtin], vec![]).unwrap().with_server(
        "a",
        ServerTools {
            tools: vec![first, of("a", "y", marks()), of("a", "y", marks())],
            rejected: vec![NotRegistered { name: "a__bad".into(), reason: "It is bad.".into() }],
            down: None,
        },
    );
    let rejected: Vec<&str> = snapshot.not_registered().iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(rejected, ["a__bad", "a__x", "a__y"]);
    assert_eq!(snapshot.tool(snapshot.find("a__x").unwrap()).service(), "files");
    let replaced = snapshot.with_server("a", server(vec![of("a", "y", marks())]));
    assert!(replaced.not_registered().is_empty());
}

#[test]
fn marks_of_the_entry_decide() {
    let held = |kind| Some(Held { kind, since: "2026-12-01T00:00:00Z".to_owned() });
    for (marks, code) in [
        (McpMarks { expose: false, ..marks() }, Code::HiddenByAdmin),
        (McpMarks { unsafe_in: vec!["web".to_owned()], ..marks() }, Code::UnsafeInChannel),
        (McpMarks { held: held(HeldKind::New), ..marks() }, Code::HeldNew),
        (McpMarks { held: held(HeldKind::Changed), ..marks() }, Code::HeldChanged),
        (McpMarks { held: held(HeldKind::Moved), ..marks() }, Code::HeldMoved),
    ] {
        let snapshot =
            Snapshot::new(vec![], vec![]).unwrap().with_server("s", server(vec![of("s", "x", marks)]));
        let scope = Scope { source: vec!["web".to_owned()], ..Scope::default() };
        assert_eq!(verdict(&snapshot, "s__x", scope.clone()).2, code);
        assert!(authorize_call(&snapshot, &request(scope), "s__x").is_err());
    }
}

#[test]
fn every_cause_of_a_tool_of_a_dead_server_is_kept_with_its_fix() {
    let held = Some(Held { kind: HeldKind::Changed, since: "now".to_owned() });
    let snapshot = Snapshot::new(vec![], vec![]).unwrap().with_server(
        "s",
        ServerTools {
            tools: vec![of("s", "x", McpMarks { held, ..marks() })],
            rejected: Vec::new(),
            down: Some("It ended.".into()),
        },
    );
    let resolution = resolve(&snapshot, &request(Scope::default())).unwrap();
    let verdict = &resolution.verdicts[0];
    assert_eq!(verdict.fix.as_ref().unwrap().action, FixAction::ReconnectServer);
    assert_eq!(verdict.also[0].fix.action, FixAction::AcceptChange);
}

#[test]
fn resources_are_reached_while_a_tool_of_the_server_is_callable() {
    let snapshot = Snapshot::new(vec![tool(definition("files", "read"))], vec![])
        .unwrap()
        .with_server("a", server(vec![of("a", "x", marks())]))
        .with_server("b", server(vec![of("b", "x", McpMarks { expose: false, ..marks() })]));
    let reached = |snapshot: &Snapshot| {
        let resolution = resolve(snapshot, &request(Scope::default())).unwrap();
        reachable_upstreams(snapshot, &resolution).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reached(&snapshot), ["a"]);
    assert!(reached(&snapshot.with_disable("a__x", 1, Some(disable()))).is_empty());
}
