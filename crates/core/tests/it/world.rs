//! Random registries with profiles, and random requests.

use std::collections::BTreeSet;

use crate::support::{caller, definition, disable, loader, profile, tool};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolshelf_core::{
    Availability, Conversation, Exposure, Held, HeldKind, LOADER, Loaded, Pattern, Request, Scope, Snapshot,
    ToolDefinition, Toolset, TurnOverride, resolve,
};

/// What is drawn about one tool.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself")]
pub(crate) struct Drawn {
    pub(crate) service: usize,
    pub(crate) expose: bool,
    pub(crate) unsafe_in: BTreeSet<usize>,
    pub(crate) needs_conversation: bool,
    pub(crate) failing: bool,
    pub(crate) disabled: bool,
    pub(crate) web: bool,
    pub(crate) defer: bool,
    pub(crate) held: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DrawnToolset {
    Absent,
    Default,
    None,
    Profile(usize),
    List(Vec<usize>),
}

/// What is drawn about a conversation.
#[derive(Clone, Debug)]
pub(crate) struct DrawnTalk {
    pub(crate) pick: DrawnToolset,
    pub(crate) fallback: DrawnToolset,
    pub(crate) pin: DrawnToolset,
    pub(crate) tools_enabled: bool,
    pub(crate) web_search: Option<bool>,
    pub(crate) loaded: Vec<usize>,
}

/// What is drawn about a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrawnTurn {
    pub(crate) list: Option<Vec<usize>>,
    pub(crate) tools: Option<bool>,
    pub(crate) profile: Option<DrawnToolset>,
    pub(crate) web_search: Option<bool>,
    pub(crate) add: BTreeSet<usize>,
    pub(crate) remove: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct DrawnRequest {
    pub(crate) turn: DrawnTurn,
    pub(crate) toolset: DrawnToolset,
    pub(crate) pin: Option<Vec<usize>>,
    pub(crate) source: BTreeSet<usize>,
    pub(crate) conversation: Option<DrawnTalk>,
    pub(crate) allow: Option<Vec<usize>>,
    pub(crate) deny: Vec<usize>,
    pub(crate) only_available: bool,
}

pub(crate) const CHANNELS: [&str; 3] = ["web", "telegram", "plan"];
pub(crate) const SERVICES: [&str; 3] = ["files", "files/deep", "web"];

pub(crate) fn name(position: usize) -> String {
    format!("t{position}")
}

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    (
        0..3_usize,
        prop::bool::weighted(0.8),
        prop::collection::btree_set(0..3_usize, 0..2),
        any::<[bool; 5]>(),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(service, expose, unsafe_in, [needs_conversation, failing, disabled, web, defer], held)| Drawn {
                service,
                expose,
                unsafe_in,
                needs_conversation,
                failing,
                disabled,
                web,
                defer,
                held,
            },
        )
}

pub(crate) fn positions() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..8_usize, 0..6)
}

pub(crate) fn named_toolset() -> impl Strategy<Value = DrawnToolset> {
    prop_oneof![
        3 => Just(DrawnToolset::Absent),
        1 => Just(DrawnToolset::Default),
        1 => Just(DrawnToolset::None),
        4 => (0..PROFILES).prop_map(DrawnToolset::Profile),
    ]
}

pub(crate) fn talk() -> impl Strategy<Value = DrawnTalk> {
    (
        named_toolset(),
        named_toolset(),
        prop_oneof![3 => Just(DrawnToolset::Absent), 1 => named_toolset()],
        prop::bool::weighted(0.8),
        any::<Option<bool>>(),
        prop::collection::vec(0..14_usize, 0..4),
    )
        .prop_map(|(pick, fallback, pin, tools_enabled, web_search, loaded)| DrawnTalk {
            pick,
            fallback,
            pin,
            tools_enabled,
            web_search,
            loaded,
        })
}

pub(crate) fn turn() -> impl Strategy<Value = DrawnTurn> {
    let some = || prop::collection::btree_set(0..14_usize, 0..4);
    let object =
        (any::<Option<bool>>(), prop::option::of(named_toolset()), any::<Option<bool>>(), some(), some())
            .prop_map(|(tools, profile, web_search, add, remove)| DrawnTurn {
                list: None,
                tools,
                profile,
                web_search,
                add,
                remove,
            });
    prop_oneof![
        2 => Just(DrawnTurn::default()),
        1 => positions().prop_map(|list| DrawnTurn { list: Some(list), ..DrawnTurn::default() }),
        4 => object,
    ]
}

pub(crate) fn drawn_request() -> impl Strategy<Value = DrawnRequest> {
    let toolset = prop_oneof![
        3 => named_toolset(),
        1 => positions().prop_map(DrawnToolset::List),
    ];
    (
        (turn(), toolset),
        prop::option::weighted(0.3, positions()),
        prop::collection::btree_set(0..3_usize, 0..3),
        prop::option::of(talk()),
        prop::option::weighted(0.3, positions()),
        prop::collection::vec(0..8_usize, 0..3),
        any::<bool>(),
    )
        .prop_map(|((turn, toolset), pin, source, conversation, allow, deny, only_available)| {
            DrawnRequest { turn, toolset, pin, source, conversation, allow, deny, only_available }
        })
}

/// How many profiles there are to choose from; some of them may be deleted.
pub(crate) const PROFILES: usize = 3;

/// The tools of each profile; none for one that is deleted.
pub(crate) type DrawnProfiles = [Option<Vec<usize>>; PROFILES];

/// A registry and its profiles.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) tools: Vec<Drawn>,
    pub(crate) profiles: DrawnProfiles,
}

impl World {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let count = self.tools.len();
        let profiles = self.profiles.iter().enumerate().filter_map(|(number, tools)| {
            let tools = tools.as_ref()?.iter().map(|position| name(position % count)).collect();
            Some(profile(&format!("p{number}"), tools))
        });
        profiles.fold(snapshot(&self.tools), |snapshot, profile| snapshot.with_profile(profile))
    }

    /// The toolset, where a name of a deleted profile is one that was chosen before.
    pub(crate) fn toolset(&self, drawn: &DrawnToolset) -> Option<Toolset> {
        match drawn {
            DrawnToolset::Absent => None,
            DrawnToolset::Default => Some(Toolset::Default),
            DrawnToolset::None => Some(Toolset::None),
            DrawnToolset::Profile(number) => Some(Toolset::Profile(format!("p{number}").into())),
            DrawnToolset::List(positions) => Some(list(positions, self.tools.len())),
        }
    }

    /// Whether a message can name it: what is deleted cannot be named.
    pub(crate) fn names(&self, drawn: &DrawnToolset) -> bool {
        match drawn {
            DrawnToolset::Default | DrawnToolset::None => true,
            DrawnToolset::Profile(number) => self.profiles[*number].is_some(),
            DrawnToolset::Absent | DrawnToolset::List(_) => false,
        }
    }

    pub(crate) fn turn(&self, snapshot: &Snapshot, drawn: &DrawnTurn) -> TurnOverride {
        let count = self.tools.len();
        let names = |positions: &BTreeSet<usize>| -> BTreeSet<String> {
            positions.iter().map(|position| name(position % count)).collect()
        };
        let value = if let Some(list) = &drawn.list {
            json!(list.iter().map(|position| name(position % count)).collect::<Vec<_>>())
        } else {
            let add = names(&drawn.add);
            let remove: BTreeSet<String> = names(&drawn.remove).difference(&add).cloned().collect();
            let mut fields = json!({"add": add, "remove": remove});
            let mut put = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    fields[name] = value;
                }
            };
            put("tools", drawn.tools.map(Value::from));
            put("web_search", drawn.web_search.map(Value::from));
            let chosen = drawn.profile.as_ref().filter(|profile| self.names(profile));
            let profile = chosen.map(|profile| match profile {
                DrawnToolset::Profile(number) => format!("p{number}"),
                DrawnToolset::None => "none".to_owned(),
                _ => "default".to_owned(),
            });
            put("profile", profile.map(Value::from));
            fields
        };
        TurnOverride::parse(snapshot, &value).unwrap()
    }

    pub(crate) fn request(&self, drawn: &DrawnRequest) -> Request {
        self.request_at(&self.snapshot(), drawn)
    }

    pub(crate) fn request_at(&self, snapshot: &Snapshot, drawn: &DrawnRequest) -> Request {
        let tools = self.tools.len();
        let scope = Scope {
            turn: self.turn(snapshot, &drawn.turn),
            toolset: self.toolset(&drawn.toolset),
            conversation: drawn.conversation.as_ref().map(|talk| Conversation {
                pick: self.toolset(&talk.pick),
                fallback: self.toolset(&talk.fallback),
                pin: self.toolset(&talk.pin),
                tools_enabled: talk.tools_enabled,
                web_search: talk.web_search,
                loaded: talk
                    .loaded
                    .iter()
                    .map(|position| loaded(snapshot, &name(position % tools)))
                    .collect(),
                ..Conversation::new("c1")
            }),
            source: drawn.source.iter().map(|channel| CHANNELS[*channel].to_owned()).collect(),
            allow: drawn.allow.as_ref().map(|positions| patterns(positions, tools)),
            deny: patterns(&drawn.deny, tools),
            only_available: drawn.only_available,
            ..Scope::default()
        };
        Request::new(caller(drawn.pin.as_ref().map(|pin| list(pin, tools))), scope)
    }

    pub(crate) fn callable(&self, asked: &DrawnRequest) -> BTreeSet<String> {
        callable(&self.snapshot(), &self.request(asked))
    }
}

pub(crate) fn snapshot(drawn: &[Drawn]) -> Snapshot {
    let tools = drawn.iter().enumerate().map(|(position, drawn)| {
        tool(ToolDefinition {
            exposure: if drawn.expose { Exposure::Exposed } else { Exposure::Internal },
            toolsets: if drawn.web { vec!["web".to_owned()] } else { Vec::new() },
            unsafe_in: drawn.unsafe_in.iter().map(|channel| CHANNELS[*channel].to_owned()).collect(),
            needs_conversation: drawn.needs_conversation,
            defer: drawn.defer,
            held: drawn.held.then(|| Held { kind: HeldKind::Changed, since: "now".to_owned() }),
            ..definition(SERVICES[drawn.service], &name(position))
        })
    });
    let tools = tools.chain([loader()]);
    let mut snapshot = Snapshot::new(tools.collect(), vec![]).unwrap();
    for (position, drawn) in drawn.iter().enumerate() {
        if drawn.disabled {
            snapshot = snapshot.with_disable(&name(position), 1, Some(disable()));
        }
        if drawn.failing {
            snapshot = snapshot.with_availability(&name(position), Availability::failed("failing"));
        }
    }
    snapshot
}

/// A tool as a conversation that loaded it keeps it.
pub(crate) fn loaded(snapshot: &Snapshot, tool: &str) -> Loaded {
    let definition = snapshot.tool(snapshot.find(tool).unwrap()).definition().into();
    Loaded { tool: tool.into(), definition }
}

pub(crate) fn list(positions: &[usize], tools: usize) -> Toolset {
    Toolset::List(positions.iter().map(|position| name(position % tools)).collect())
}

pub(crate) fn patterns(positions: &[usize], tools: usize) -> Vec<Pattern> {
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

pub(crate) fn callable(snapshot: &Snapshot, request: &Request) -> BTreeSet<String> {
    let resolution = resolve(snapshot, request).unwrap();
    resolution
        .verdicts
        .iter()
        .filter(|verdict| verdict.outcome.is_callable() && verdict.tool.as_ref() != LOADER)
        .map(|verdict| verdict.tool.to_string())
        .collect()
}

pub(crate) fn world() -> impl Strategy<Value = (World, DrawnRequest)> {
    let profiles = prop::array::uniform3(prop::option::weighted(0.8, positions()));
    let world = (prop::collection::vec(drawn(), 1..14), profiles)
        .prop_map(|(tools, profiles)| World { tools, profiles });
    (world, drawn_request())
}
