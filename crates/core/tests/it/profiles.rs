//! What profiles select: policies for new tools, missing tools, names, and that narrowing never widens.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::support::{caller, definition, disable, tool};
use proptest::prelude::*;
use toolshelf_core::{
    ByKind, Code, FixAction, FixWho, Layer, NewTools, Profile, Request, RequestError, Scope, Snapshot,
    ToolDefinition, Toolset, authorize_call, resolve,
};

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn profile(id: &str, name: &str, tools: &[&str]) -> Profile {
    Profile {
        id: id.into(),
        name: name.into(),
        description: "".into(),
        owner_id: "u1".into(),
        tools: names(tools),
        pinned: Vec::new(),
        new_tools: NewTools::Ignore,
        new_tools_since: 1,
        revision: 1,
        created_at: "2026-12-01T00:00:00Z".into(),
        updated_at: "2026-12-01T00:00:00Z".into(),
    }
}

fn registry(tools: &[&str]) -> Snapshot {
    Snapshot::new(tools.iter().map(|name| tool(definition("files", name))).collect(), vec![]).unwrap()
}

/// Each tool with the number of its first sighting.
fn seen(sightings: &[(&str, u64)]) -> HashMap<Arc<str>, u64> {
    sightings.iter().map(|(name, sighting)| (Arc::from(*name), *sighting)).collect()
}

fn asked(toolset: Option<Toolset>, pin: Option<Toolset>) -> Request {
    Request::new(caller(pin), Scope { toolset, ..Scope::default() })
}

fn of(id: &str) -> Toolset {
    Toolset::Profile(id.into())
}

fn callable(snapshot: &Snapshot, request: &Request) -> BTreeSet<String> {
    let verdicts = resolve(snapshot, request).unwrap().verdicts;
    let callable = verdicts.iter().filter(|verdict| verdict.outcome.is_callable());
    callable.map(|verdict| verdict.tool.to_string()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn each_policy_decides_about_tools_first_seen_after_it_was_set() {
    let snapshot = registry(&["a", "b", "old", "new", "newest"]).with_sightings(seen(&[
        ("a", 1),
        ("b", 1),
        ("old", 1),
        ("new", 2),
    ]));
    // "newest" was never seen, so it counts as new; "new" was seen after the policy was set, or before.
    for (policy, since, tools, held) in [
        (NewTools::Ignore, 1, &["b", "a"][..], &[][..]),
        (NewTools::Include, 1, &["b", "a", "new", "newest"], &[]),
        (NewTools::Include, 2, &["b", "a", "newest"], &[]),
        (NewTools::Include, 0, &["b", "a", "new", "newest", "old"], &[]),
        (NewTools::Hold, 1, &["b", "a"], &["new", "newest"]),
        (NewTools::Hold, 2, &["b", "a"], &["newest"]),
    ] {
        let profile =
            Profile { new_tools: policy, new_tools_since: since, ..profile("p", "mine", &["b", "a"]) };
        let now = snapshot.profile_tools(&profile);
        assert_eq!((now.tools, now.held), (names(tools), names(held)), "{policy:?} since {since}");
        assert!(now.missing.is_empty());
        let with = snapshot.with_profile(Arc::new(profile));
        assert_eq!(callable(&with, &asked(Some(of("p")), None)), set(tools), "{policy:?} since {since}");
        assert_eq!(callable(&with, &asked(None, Some(of("p")))), set(tools), "{policy:?} since {since}");
    }
}

#[test]
fn a_held_tool_is_in_once_it_is_listed() {
    let snapshot = registry(&["a", "new"]).with_sightings(seen(&[("a", 1), ("new", 2)]));
    let listed = Profile { new_tools: NewTools::Hold, ..profile("p", "mine", &["a", "new"]) };
    let now = snapshot.profile_tools(&listed);
    assert_eq!((now.tools, now.held), (names(&["a", "new"]), vec![]));
}

#[test]
fn sightings_that_come_later_are_in_force_for_profiles_that_are_there() {
    let include = Profile { new_tools: NewTools::Include, ..profile("p", "mine", &["a"]) };
    let snapshot = registry(&["a", "b"]).with_profile(Arc::new(include));
    assert_eq!(callable(&snapshot, &asked(Some(of("p")), None)), set(&["a", "b"]));
    let snapshot = snapshot.with_sightings(seen(&[("a", 1), ("b", 1)]));
    assert_eq!(callable(&snapshot, &asked(Some(of("p")), None)), set(&["a"]));
    assert_eq!(snapshot.last_sighting(), 1);
}

#[test]
fn a_policy_lets_no_helper_in() {
    let helper = tool(ToolDefinition {
        exposure: toolshelf_core::Exposure::Internal,
        ..definition("files", "helper")
    });
    let snapshot = Snapshot::new(vec![helper], vec![]).unwrap();
    for policy in [NewTools::Include, NewTools::Hold] {
        let profile = Profile { new_tools: policy, ..profile("p", "mine", &["helper"]) };
        let now = snapshot.profile_tools(&Profile { tools: vec![], ..profile.clone() });
        assert!(now.tools.is_empty() && now.held.is_empty());
        assert_eq!(snapshot.profile_tools(&profile).tokens, 0);
        let with = snapshot.with_profile(Arc::new(profile));
        assert!(callable(&with, &asked(Some(of("p")), None)).is_empty());
    }
}

#[test]
fn missing_tools_are_kept_and_back_when_they_are_registered() {
    let mine = Arc::new(profile("p", "mine", &["gone", "a", "away"]));
    let before = registry(&["a", "b"]).with_profile(Arc::clone(&mine));
    let now = before.profile_tools(&mine);
    assert_eq!((now.tools, now.missing), (names(&["gone", "a", "away"]), names(&["gone", "away"])));
    assert_eq!(callable(&before, &asked(Some(of("p")), None)), set(&["a"]));
    let after = registry(&["a", "away", "b"]).with_profile(Arc::clone(&mine));
    assert_eq!(after.profile_tools(&mine).missing, names(&["gone"]));
    assert_eq!(callable(&after, &asked(Some(of("p")), None)), set(&["a", "away"]));
    // A disable holds for it when it comes.
    let disabled = after.with_disable("away", 1, Some(disable()));
    assert_eq!(callable(&disabled, &asked(Some(of("p")), None)), set(&["a"]));
}

#[test]
fn a_missing_reference_selects_nothing_and_says_so() {
    let snapshot = registry(&["a", "b"]).with_profile(Arc::new(profile("p", "mine", &["a"])));
    for gone in [snapshot.without_profile("p"), registry(&["a", "b"])] {
        let request = asked(Some(of("p")), None);
        for verdict in resolve(&gone, &request).unwrap().verdicts {
            assert_eq!((verdict.layer, verdict.code), (Some(Layer::L2b), Code::MissingReference));
            let by = verdict.by.clone().unwrap();
            assert_eq!((by.kind, by.name.as_ref()), (ByKind::Toolset, "a deleted profile"));
            let fix = verdict.fix.clone().unwrap();
            assert_eq!((fix.action, fix.who), (FixAction::ChangeToolset, FixWho::You));
            assert!(authorize_call(&gone, &request, &verdict.tool).is_err());
        }
        for toolset in [None, Some(Toolset::Default), Some(Toolset::List(vec!["a".to_owned()]))] {
            let request = asked(toolset, Some(of("p")));
            assert!(callable(&gone, &request).is_empty());
            let verdicts = resolve(&gone, &request).unwrap().verdicts;
            let of_a = verdicts.iter().find(|verdict| verdict.tool.as_ref() == "a").unwrap();
            assert_eq!((of_a.code, of_a.by.clone().unwrap().kind), (Code::MissingReference, ByKind::Key));
        }
    }
}

#[test]
fn a_profile_is_named_in_the_verdicts_that_it_decides() {
    let snapshot = registry(&["a", "b"]).with_profile(Arc::new(profile("p", "客户", &["a"])));
    let verdicts = resolve(&snapshot, &asked(Some(of("p")), None)).unwrap().verdicts;
    let of_b = verdicts.iter().find(|verdict| verdict.tool.as_ref() == "b").unwrap();
    assert_eq!((of_b.layer, of_b.code), (Some(Layer::L2b), Code::NotInToolset));
    assert_eq!(of_b.by.clone().unwrap().name.as_ref(), "客户");
}

#[test]
fn names_lead_to_profiles_also_those_that_they_had() {
    let base = registry(&["a"]).with_profile(Arc::new(profile("p", "Straße", &["a"])));
    let named = |snapshot: &Snapshot, name: &str| Toolset::named(snapshot, name);
    let to_p = || Ok(Toolset::Profile("p".into()));
    for name in ["Straße", "STRASSE", " strasse "] {
        assert_eq!(named(&base, name), to_p());
    }
    let renamed = base.with_profile(Arc::new(profile("p", "Weg", &["a"])));
    assert!(matches!(named(&renamed, "Straße"), Err(RequestError::UnknownToolset { .. })));
    let renamed = renamed.with_retired_names([
        ("Straße".to_owned(), Some("p".into())),
        ("deleted".to_owned(), None),
        ("dangling".to_owned(), Some("q".into())),
    ]);
    for name in ["weg", "STRASSE"] {
        assert_eq!(named(&renamed, name), to_p());
    }
    assert_eq!(renamed.profiles().count(), 1);
    for name in ["Deleted", "dangling"] {
        assert_eq!(named(&renamed, name), Err(RequestError::RetiredToolset { name: name.to_owned() }));
    }
    // A profile that has the name now goes before one that had it.
    let taken = renamed.with_profile(Arc::new(profile("q", "strasse", &[])));
    assert_eq!(named(&taken, "Straße"), Ok(Toolset::Profile("q".into())));
    // What was renamed is gone under all its names.
    let gone = renamed.without_profile("p");
    assert!(matches!(named(&gone, "Straße"), Err(RequestError::RetiredToolset { .. })));
    let Err(RequestError::UnknownToolset { suggestions, .. }) = named(&renamed, "Wag") else {
        panic!("it is no toolset")
    };
    assert_eq!(suggestions, ["Weg"]);
}

#[test]
fn a_rename_changes_no_request() {
    let before = registry(&["a", "b"]).with_profile(Arc::new(profile("p", "one", &["a"])));
    let after = before.with_profile(Arc::new(profile("p", "two", &["a"])));
    for request in [asked(Some(of("p")), None), asked(None, Some(of("p")))] {
        assert_eq!(callable(&after, &request), callable(&before, &request));
    }
    assert_eq!(before.profile("p").unwrap().name.as_ref(), "one", "the snapshot before stays as it was");
}

/// A profile as it is drawn: positions of tools, of which some are not registered, and its policy.
#[derive(Clone, Debug)]
struct Drawn {
    tools: BTreeSet<usize>,
    policy: NewTools,
    since: u64,
}

const POOL: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn drawn() -> impl Strategy<Value = Drawn> {
    let policy = prop_oneof![Just(NewTools::Ignore), Just(NewTools::Include), Just(NewTools::Hold)];
    (prop::collection::btree_set(0..8_usize, 0..8), policy, 0..4_u64)
        .prop_map(|(tools, policy, since)| Drawn { tools, policy, since })
}

/// A reference of a request: the profiles 0 and 1, one that is gone, and what is no profile.
fn reference() -> impl Strategy<Value = Option<Toolset>> {
    prop_oneof![
        Just(None),
        Just(Some(Toolset::Default)),
        Just(Some(Toolset::None)),
        Just(Some(of("p0"))),
        Just(Some(of("p1"))),
        Just(Some(of("gone"))),
    ]
}

fn world(profiles: &[Drawn], registered: usize, sightings: &[u64]) -> Snapshot {
    let sighted: Vec<(&str, u64)> = POOL.into_iter().zip(sightings.iter().copied()).collect();
    let sighted: Vec<(&str, u64)> = sighted.into_iter().filter(|(_, sighting)| *sighting > 0).collect();
    let mut snapshot = registry(&POOL[..registered]).with_sightings(seen(&sighted));
    for (position, drawn) in profiles.iter().enumerate() {
        snapshot = snapshot.with_profile(Arc::new(made(position, drawn)));
    }
    snapshot
}

fn made(position: usize, drawn: &Drawn) -> Profile {
    let tools: Vec<&str> = drawn.tools.iter().map(|tool| POOL[*tool]).collect();
    let name = format!("p{position}");
    Profile { new_tools: drawn.policy, new_tools_since: drawn.since, ..profile(&name, &name, &tools) }
}

/// What a toolset selects of the registered tools, said once more.
fn model(
    profiles: &[Drawn],
    registered: usize,
    sightings: &[u64],
    toolset: Option<&Toolset>,
) -> BTreeSet<String> {
    let selects = |tool: usize| match toolset {
        None | Some(Toolset::Default) => true,
        Some(Toolset::Profile(id)) => match id.as_ref() {
            "p0" | "p1" => {
                let drawn = &profiles[usize::from(id.as_ref() == "p1")];
                let new = sightings[tool] == 0 || sightings[tool] > drawn.since;
                drawn.tools.contains(&tool) || drawn.policy == NewTools::Include && new
            }
            _ => false,
        },
        Some(_) => false,
    };
    (0..registered).filter(|tool| selects(*tool)).map(|tool| POOL[tool].to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_request_gets_its_selection_cut_to_its_pin(
        profiles in [drawn(), drawn()],
        registered in 1..9_usize,
        sightings in prop::collection::vec(0..5_u64, 8),
        toolset in reference(),
        pin in reference(),
    ) {
        let snapshot = world(&profiles, registered, &sightings);
        let selected = model(&profiles, registered, &sightings, toolset.as_ref());
        let within = model(&profiles, registered, &sightings, pin.as_ref());
        let expected: BTreeSet<String> = selected.intersection(&within).cloned().collect();
        let request = asked(toolset, pin);
        prop_assert_eq!(&callable(&snapshot, &request), &expected);
        for name in &POOL[..registered] {
            prop_assert_eq!(authorize_call(&snapshot, &request, name).is_ok(), expected.contains(*name));
        }
        // What a profile is shown to hold is what it selects.
        for (position, drawn) in profiles.iter().enumerate() {
            let shown = snapshot.profile_tools(&made(position, drawn));
            let there = shown.tools.iter().filter(|name| !shown.missing.contains(name));
            let there: BTreeSet<String> = there.map(ToString::to_string).collect();
            let id = format!("p{position}");
            prop_assert_eq!(there, callable(&snapshot, &asked(Some(of(&id)), None)));
        }
    }

    #[test]
    fn narrowing_or_deleting_a_profile_never_adds_a_tool(
        profiles in [drawn(), drawn()],
        registered in 1..9_usize,
        sightings in prop::collection::vec(0..5_u64, 8),
        toolset in reference(),
        pin in reference(),
        which in 0..2_usize,
        how in 0..6_usize,
        at in 0..8_usize,
    ) {
        let before = world(&profiles, registered, &sightings);
        let mut narrower = profiles.clone();
        let id = format!("p{which}");
        let after = match how {
            0 => before.without_profile(&id),
            1 => before.without_profile(&id).with_retired_names([(id.clone(), None)]),
            _ => {
                let drawn = &mut narrower[which];
                match how {
                    2 => drop(drawn.tools.remove(&at)),
                    3 => drawn.tools.clear(),
                    4 => drawn.policy = if at % 2 == 0 { NewTools::Ignore } else { NewTools::Hold },
                    _ => drawn.since += at as u64,
                }
                before.with_profile(Arc::new(made(which, &narrower[which])))
            }
        };
        // For policies, only the way from include counts as narrowing, and that is what `how` 4 does.
        let request = asked(toolset, pin);
        let (before, after) = (callable(&before, &request), callable(&after, &request));
        prop_assert!(after.is_subset(&before), "{:?} is wider than {:?}", after, before);
    }
}
