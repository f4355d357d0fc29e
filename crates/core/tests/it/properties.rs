//! What holds for every registry and every request.

use std::collections::BTreeSet;

use crate::support::{caller, definition, disable, tool};
use proptest::prelude::*;
use toolshelf_core::{
    Availability, Conversation, FixAction, FixWho, Outcome, Pattern, Request, Scope, Snapshot,
    ToolDefinition, Toolset, Verdict, authorize_call, resolve,
};

/// What is drawn about one tool.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself")]
struct Drawn {
    service: usize,
    expose: bool,
    unsafe_in: BTreeSet<usize>,
    needs_conversation: bool,
    failing: bool,
    disabled: bool,
}

#[derive(Clone, Debug)]
enum DrawnToolset {
    Absent,
    Default,
    None,
    List(Vec<usize>),
}

#[derive(Clone, Debug)]
struct DrawnRequest {
    toolset: DrawnToolset,
    pin: Option<Vec<usize>>,
    source: BTreeSet<usize>,
    conversation: bool,
    allow: Option<Vec<usize>>,
    deny: Vec<usize>,
    only_available: bool,
}

const CHANNELS: [&str; 3] = ["web", "telegram", "plan"];
const SERVICES: [&str; 3] = ["files", "files/deep", "web"];

fn name(position: usize) -> String {
    format!("t{position}")
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (0..3_usize, prop::bool::weighted(0.8), prop::collection::btree_set(0..3_usize, 0..2), any::<[bool; 3]>())
        .prop_map(|(service, expose, unsafe_in, [needs_conversation, failing, disabled])| Drawn {
            service,
            expose,
            unsafe_in,
            needs_conversation,
            failing,
            disabled,
        })
}

fn positions() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..8_usize, 0..6)
}

fn drawn_request() -> impl Strategy<Value = DrawnRequest> {
    (
        prop_oneof![
            2 => Just(DrawnToolset::Absent),
            2 => Just(DrawnToolset::Default),
            1 => Just(DrawnToolset::None),
            4 => positions().prop_map(DrawnToolset::List),
        ],
        prop::option::weighted(0.3, positions()),
        prop::collection::btree_set(0..3_usize, 0..3),
        any::<bool>(),
        prop::option::weighted(0.3, positions()),
        prop::collection::vec(0..8_usize, 0..3),
        any::<bool>(),
    )
        .prop_map(|(toolset, pin, source, conversation, allow, deny, only_available)| DrawnRequest {
            toolset,
            pin,
            source,
            conversation,
            allow,
            deny,
            only_available,
        })
}

fn snapshot(drawn: &[Drawn]) -> Snapshot {
    let tools = drawn.iter().enumerate().map(|(position, drawn)| {
        tool(ToolDefinition {
            expose: drawn.expose,
            unsafe_in: drawn.unsafe_in.iter().map(|channel| CHANNELS[*channel].to_owned()).collect(),
            needs_conversation: drawn.needs_conversation,
            ..definition(SERVICES[drawn.service], &name(position))
        })
    });
    let mut snapshot = Snapshot::new(tools.collect(), vec![]).unwrap();
    for (position, drawn) in drawn.iter().enumerate() {
        if drawn.disabled {
            snapshot = snapshot.with_disable(&name(position), 1, Some(disable()));
        }
        if drawn.failing {
            snapshot = snapshot.with_availability(&name(position), Availability::Failed("failing".into()));
        }
    }
    snapshot
}

fn list(positions: &[usize], tools: usize) -> Toolset {
    Toolset::List(positions.iter().map(|position| name(position % tools)).collect())
}

fn patterns(positions: &[usize], tools: usize) -> Vec<Pattern> {
    // Exact names, whole services and globs take turns.
    positions
        .iter()
        .map(|position| match position % 4 {
            0 => format!("{}/*", SERVICES[position % 3]),
            1 => format!("{}:*", SERVICES[position % 3]),
            2 => format!("t?{}", if tools > 10 { "*" } else { "" }),
            _ => name(position % tools),
        })
        .map(|text| Pattern::parse(&text).unwrap())
        .collect()
}

fn request(drawn: &DrawnRequest, tools: usize) -> Request {
    let toolset = match &drawn.toolset {
        DrawnToolset::Absent => None,
        DrawnToolset::Default => Some(Toolset::Default),
        DrawnToolset::None => Some(Toolset::None),
        DrawnToolset::List(positions) => Some(list(positions, tools)),
    };
    let scope = Scope {
        toolset,
        conversation: drawn.conversation.then(|| Conversation { id: "c1".into() }),
        source: drawn.source.iter().map(|channel| CHANNELS[*channel].to_owned()).collect(),
        allow: drawn.allow.as_ref().map(|positions| patterns(positions, tools)),
        deny: patterns(&drawn.deny, tools),
        only_available: drawn.only_available,
        ..Scope::default()
    };
    Request::new(caller(drawn.pin.as_ref().map(|pin| list(pin, tools))), scope)
}

fn callable(snapshot: &Snapshot, request: &Request) -> BTreeSet<String> {
    let resolution = resolve(snapshot, request).unwrap();
    resolution
        .verdicts
        .iter()
        .filter(|verdict| verdict.outcome.is_callable())
        .map(|verdict| verdict.tool.to_string())
        .collect()
}

fn world() -> impl Strategy<Value = (Vec<Drawn>, DrawnRequest)> {
    (prop::collection::vec(drawn(), 1..14), drawn_request())
}

/// Does what a fix says.
fn follow(verdict: &Verdict, drawn: &mut [Drawn], asked: &mut DrawnRequest) -> bool {
    let causes = std::iter::once((verdict.fix.clone(), verdict.by.clone()))
        .chain(verdict.also.iter().map(|cause| (Some(cause.fix.clone()), Some(cause.by.clone()))));
    for (fix, _) in causes {
        let fix = fix.expect("a removed tool has a fix");
        if matches!(fix.who, FixWho::Author | FixWho::Nobody) {
            return false;
        }
        let position: usize = verdict.tool[1..].parse().unwrap();
        match fix.action {
            FixAction::ChangeCode => return false,
            FixAction::ChangeToolset => asked.toolset = DrawnToolset::Absent,
            FixAction::ChangeKey => asked.pin = None,
            FixAction::ChangeChannel => {
                let channel = CHANNELS.iter().position(|channel| *channel == fix.target.as_ref()).unwrap();
                asked.source.remove(&channel);
            }
            FixAction::UseConversation => asked.conversation = true,
            FixAction::MendCheck => drawn[position].failing = false,
            FixAction::Enable => drawn[position].disabled = false,
            FixAction::ChangeDeny => asked.deny.clear(),
            FixAction::ChangeAllow => asked.allow = None,
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn every_tool_has_one_verdict_and_list_equals_call((drawn, asked) in world()) {
        let (snapshot, request) = (snapshot(&drawn), request(&asked, drawn.len()));
        let resolution = resolve(&snapshot, &request).unwrap();
        prop_assert_eq!(resolution.verdicts.len(), drawn.len());
        let offered: BTreeSet<&str> = resolution.offered.iter().map(|tool| tool.name().as_ref()).collect();
        for verdict in &resolution.verdicts {
            prop_assert_eq!(offered.contains(verdict.tool.as_ref()), verdict.outcome == Outcome::Offered);
            prop_assert_eq!(verdict.layer.is_none(), verdict.outcome == Outcome::Offered);
            prop_assert_eq!(verdict.fix.is_some(), verdict.outcome == Outcome::Removed);
            let called = authorize_call(&snapshot, &request, &verdict.tool);
            if asked.only_available {
                prop_assert_eq!(called.is_ok(), verdict.outcome.is_callable());
            } else {
                prop_assert!(called.is_err() || verdict.outcome.is_callable(), "a preview may show more, never less");
            }
        }
    }

    #[test]
    fn what_is_callable_is_exposed_selected_and_not_vetoed((drawn, asked) in world()) {
        let (snapshot, request) = (snapshot(&drawn), request(&asked, drawn.len()));
        for name in callable(&snapshot, &request) {
            let position: usize = name[1..].parse().unwrap();
            let tool = &drawn[position];
            prop_assert!(tool.expose && !tool.disabled);
            prop_assert!(tool.unsafe_in.is_disjoint(&asked.source));
            prop_assert!(asked.conversation || !tool.needs_conversation);
            prop_assert!(!matches!(asked.toolset, DrawnToolset::None));
            let selects = |list: &Vec<usize>| list.iter().any(|chosen| chosen % drawn.len() == position);
            if let DrawnToolset::List(list) = &asked.toolset {
                prop_assert!(selects(list));
            }
            if let Some(pin) = &asked.pin {
                prop_assert!(selects(pin));
            }
        }
    }

    #[test]
    fn adding_a_veto_or_a_mark_never_adds_a_tool(
        (mut drawn, mut asked) in world(),
        which in 0..6_usize,
        at in 0..14_usize,
    ) {
        let tools = drawn.len();
        let before = callable(&snapshot(&drawn), &request(&asked, tools));
        let position = at % tools;
        match which {
            0 => drawn[position].disabled = true,
            1 => asked.deny.push(at),
            2 => { drawn[position].unsafe_in.insert(at % 3); }
            3 => drawn[position].expose = false,
            4 => { asked.source.insert(at % 3); }
            _ => if let Some(allow) = &mut asked.allow { allow.pop(); } else { asked.allow = Some(vec![]); },
        }
        let after = callable(&snapshot(&drawn), &request(&asked, tools));
        prop_assert!(after.is_subset(&before), "{:?} is wider than {:?}", after, before);
    }

    #[test]
    fn narrowing_a_selection_never_adds_a_tool((drawn, mut asked) in world()) {
        let snapshot = snapshot(&drawn);
        let before = callable(&snapshot, &request(&asked, drawn.len()));
        match &mut asked.toolset {
            DrawnToolset::None => {}
            DrawnToolset::List(list) => {
                list.pop();
            }
            DrawnToolset::Absent | DrawnToolset::Default => asked.toolset = DrawnToolset::List(vec![0]),
        }
        if let Some(pin) = &mut asked.pin { pin.pop(); }
        let after = callable(&snapshot, &request(&asked, drawn.len()));
        prop_assert!(after.is_subset(&before));
    }

    #[test]
    fn following_the_fixes_makes_a_tool_callable((drawn, asked) in world()) {
        let resolution = resolve(&snapshot(&drawn), &request(&asked, drawn.len())).unwrap();
        for verdict in resolution.verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Removed) {
            let (mut drawn, mut asked) = (drawn.clone(), asked.clone());
            if follow(verdict, &mut drawn, &mut asked) {
                let now = callable(&snapshot(&drawn), &request(&asked, drawn.len()));
                prop_assert!(now.contains(verdict.tool.as_ref()), "{:?}", verdict);
            }
        }
    }

    #[test]
    fn registration_order_never_changes_the_answer((drawn, asked) in world()) {
        let tools: Vec<_> = (0..drawn.len()).map(|position| tool(definition(SERVICES[drawn[position].service], &name(position)))).collect();
        let mut reversed = tools.clone();
        reversed.reverse();
        let answer = |tools| {
            let resolution = resolve(&Snapshot::new(tools, vec![]).unwrap(), &request(&asked, drawn.len())).unwrap();
            serde_json::to_string(&resolution.verdicts).unwrap()
        };
        prop_assert_eq!(answer(tools), answer(reversed));
    }
}
