//! What holds for every registry and every request.

use std::collections::BTreeSet;

use crate::support::{definition, profile, tool};
use crate::world::{
    CHANNELS, DrawnRequest, DrawnTalk, DrawnToolset, PROFILES, SERVICES, World, callable, loaded, name, world,
};
use proptest::prelude::*;
use toolshelf_core::{
    ByKind, FixAction, FixWho, LOADER, Outcome, Request, Search, Snapshot, Verdict, authorize_call, resolve,
    search,
};

/// Does what a fix says.
fn follow(verdict: &Verdict, world: &mut World, asked: &mut DrawnRequest) -> bool {
    let causes = std::iter::once((verdict.fix.clone(), verdict.by.clone()))
        .chain(verdict.also.iter().map(|cause| (Some(cause.fix.clone()), Some(cause.by.clone()))));
    for (fix, by) in causes {
        let fix = fix.expect("a removed tool has a fix");
        if matches!(fix.who, FixWho::Author | FixWho::Nobody) {
            return false;
        }
        let position: usize = verdict.tool[1..].parse().unwrap();
        let by_turn = by.is_some_and(|by| by.kind == ByKind::Turn);
        match fix.action {
            FixAction::ChangeCode => return false,
            FixAction::ChangeToolset => match (&mut asked.turn.profile, &mut asked.toolset) {
                (Some(profile), _) if world.names(profile) => *profile = DrawnToolset::Default,
                (_, DrawnToolset::List(list)) => list.push(position),
                (_, toolset) => *toolset = DrawnToolset::Default,
            },
            FixAction::SwitchToolsOn if by_turn => asked.turn.tools = Some(true),
            FixAction::SwitchToolsOn => asked.conversation.as_mut().unwrap().tools_enabled = true,
            FixAction::SwitchWebOn if by_turn => asked.turn.web_search = Some(true),
            FixAction::SwitchWebOn => asked.conversation.as_mut().unwrap().web_search = None,
            FixAction::ChangeTurn => match &mut asked.turn.list {
                Some(list) => list.push(position),
                None => asked.turn.remove.clear(),
            },
            FixAction::ChangeConversation => asked.conversation.as_mut().unwrap().pin = DrawnToolset::Absent,
            FixAction::ChangeKey => asked.pin = None,
            FixAction::ChangeChannel => {
                let channel = CHANNELS.iter().position(|channel| *channel == fix.target.as_ref()).unwrap();
                asked.source.remove(&channel);
            }
            FixAction::UseConversation => {
                asked.conversation = Some(DrawnTalk {
                    pick: DrawnToolset::Absent,
                    fallback: DrawnToolset::Absent,
                    pin: DrawnToolset::Absent,
                    tools_enabled: true,
                    web_search: None,
                    loaded: Vec::new(),
                });
            }
            FixAction::AcceptChange => world.tools[position].held = false,
            FixAction::SetEnvironment
            | FixAction::ReconnectServer
            | FixAction::ChangeServer
            | FixAction::LoadTool => unreachable!("the drawn worlds have no servers and nothing to set"),
            FixAction::MendCheck => world.tools[position].failing = false,
            FixAction::Enable => world.tools[position].disabled = false,
            FixAction::ChangeDeny => asked.deny.clear(),
            FixAction::ChangeAllow => asked.allow = None,
        }
    }
    true
}

/// What a request selects, written down a second time and in another way: the order of who chooses, the switches, the
/// pins.
fn selected(world: &World, asked: &DrawnRequest, position: usize) -> bool {
    let count = world.tools.len();
    let has = |list: &Vec<usize>| list.iter().any(|chosen| chosen % count == position);
    let holds = |toolset: &DrawnToolset| match toolset {
        DrawnToolset::Absent | DrawnToolset::Default => true,
        DrawnToolset::None => false,
        DrawnToolset::Profile(number) => world.profiles[*number].as_ref().is_some_and(has),
        DrawnToolset::List(list) => has(list),
    };
    let (turn, talk) = (&asked.turn, asked.conversation.as_ref());
    let pinned = asked.pin.as_ref().is_none_or(has) && talk.is_none_or(|talk| holds(&talk.pin));
    if let Some(list) = &turn.list {
        return pinned && has(list);
    }
    let said = turn.profile.as_ref().filter(|profile| world.names(profile));
    let absent = DrawnToolset::Absent;
    let toolset = [
        said.unwrap_or(&absent),
        &asked.toolset,
        talk.map_or(&absent, |talk| &talk.pick),
        talk.map_or(&absent, |talk| &talk.fallback),
    ]
    .into_iter()
    .find(|toolset| **toolset != absent)
    .unwrap_or(&absent);
    let tools = turn.tools.unwrap_or(talk.is_none_or(|talk| talk.tools_enabled));
    let web = if matches!(toolset, DrawnToolset::List(_)) {
        None
    } else {
        turn.web_search.or(talk.and_then(|talk| talk.web_search))
    };
    let added = turn.add.iter().any(|chosen| chosen % count == position);
    let removed = turn.remove.iter().any(|chosen| chosen % count == position) && !added;
    let in_web = world.tools[position].web;
    let base = if tools { holds(toolset) || added } else { false };
    let chosen = match web {
        Some(true) => base || in_web,
        Some(false) => base && (!in_web || added),
        None => base,
    };
    pinned && chosen && !removed
}

/// Every tool by its exact name.
fn everything(tools: usize) -> Search {
    Search { select: (0..tools).map(name).collect(), ..Search::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn every_tool_has_one_verdict_and_list_equals_call((world, asked) in world()) {
        let (snapshot, request) = (world.snapshot(), world.request(&asked));
        let resolution = resolve(&snapshot, &request).unwrap();
        prop_assert_eq!(resolution.verdicts.len(), world.tools.len() + 1);
        let offered: BTreeSet<&str> = resolution.offered.iter().map(|tool| tool.name().as_ref()).collect();
        let deferred: BTreeSet<&str> = resolution.deferred.iter().map(|entry| entry.name.as_ref()).collect();
        prop_assert!(offered.is_disjoint(&deferred));
        prop_assert_eq!(offered.contains(LOADER), !deferred.is_empty(), "the loader comes when it is needed");
        let found = search(&snapshot, &request, &everything(world.tools.len())).unwrap();
        let found: BTreeSet<&str> =
            found.tools.iter().map(|found| snapshot.tool(found.index).name().as_ref()).collect();
        for verdict in resolution.verdicts.iter().filter(|verdict| verdict.tool.as_ref() != LOADER) {
            prop_assert_eq!(found.contains(verdict.tool.as_ref()), verdict.outcome.is_callable());
            prop_assert_eq!(deferred.contains(verdict.tool.as_ref()), verdict.outcome == Outcome::Deferred);
            prop_assert_eq!(offered.contains(verdict.tool.as_ref()), verdict.outcome == Outcome::Offered);
            prop_assert_eq!(verdict.layer.is_none(), verdict.outcome == Outcome::Offered);
            prop_assert_eq!(verdict.fix.is_some(), verdict.outcome != Outcome::Offered);
            let called = authorize_call(&snapshot, &request, &verdict.tool);
            if asked.only_available {
                prop_assert_eq!(called.is_ok(), verdict.outcome.is_callable());
            } else {
                prop_assert!(called.is_err() || verdict.outcome.is_callable(), "a preview may show more, never less");
            }
        }
    }

    #[test]
    fn what_is_callable_is_exposed_selected_and_not_vetoed((world, asked) in world()) {
        let callable = world.callable(&asked);
        for (position, tool) in world.tools.iter().enumerate() {
            let expected = tool.expose
                && !tool.disabled
                && !tool.held
                && tool.unsafe_in.is_disjoint(&asked.source)
                && (asked.conversation.is_some() || !tool.needs_conversation)
                && (!tool.failing || !asked.only_available)
                && selected(&world, &asked, position);
            if callable.contains(&name(position)) {
                prop_assert!(expected, "{} is callable", name(position));
            } else if asked.allow.is_none() && asked.deny.is_empty() {
                prop_assert!(!expected, "{} is not callable", name(position));
            }
        }
    }

    #[test]
    fn adding_a_veto_or_a_mark_never_adds_a_tool(
        (mut world, mut asked) in world(),
        which in 0..6_usize,
        at in 0..14_usize,
    ) {
        let before = world.callable(&asked);
        let position = at % world.tools.len();
        match which {
            0 => world.tools[position].disabled = true,
            1 => asked.deny.push(at),
            2 => { world.tools[position].unsafe_in.insert(at % 3); }
            3 => world.tools[position].expose = false,
            4 => { asked.source.insert(at % 3); }
            _ => if let Some(allow) = &mut asked.allow { allow.pop(); } else { asked.allow = Some(vec![]); },
        }
        let after = world.callable(&asked);
        prop_assert!(after.is_subset(&before), "{:?} is wider than {:?}", after, before);
    }

    #[test]
    fn narrowing_a_selection_never_adds_a_tool((world, mut asked) in world()) {
        let before = world.callable(&asked);
        if let Some(pin) = &mut asked.pin { pin.pop(); }
        asked.turn.add.pop_first();
        if let Some(list) = &mut asked.turn.list { list.pop(); }
        asked.turn.remove.insert(0);
        if let DrawnToolset::List(list) = &mut asked.toolset { list.pop(); }
        let after = world.callable(&asked);
        prop_assert!(after.is_subset(&before));
    }

    /// Whoever chose a profile, by whatever way: a pick, a fallback, a key's pin, a message that is being answered.
    #[test]
    fn narrowing_or_deleting_a_profile_never_adds_a_tool(
        (world, asked) in world(),
        number in 0..PROFILES,
        delete in any::<bool>(),
    ) {
        let before = world.snapshot();
        let request = world.request_at(&before, &asked);
        let after = match &world.profiles[number] {
            None => before.clone(),
            Some(_) if delete => before.without_profile(&format!("p{number}")),
            Some(tools) => {
                let count = world.tools.len();
                let fewer = tools.iter().skip(1).map(|position| name(position % count)).collect();
                before.with_profile(profile(&format!("p{number}"), fewer))
            }
        };
        let (before, after) = (callable(&before, &request), callable(&after, &request));
        prop_assert!(after.is_subset(&before), "{:?} is wider than {:?}", after, before);
    }

    #[test]
    fn following_the_fixes_makes_a_tool_callable((world, asked) in world()) {
        let resolution = resolve(&world.snapshot(), &world.request(&asked)).unwrap();
        let removed = |verdict: &&Verdict| verdict.outcome == Outcome::Removed && verdict.tool.as_ref() != LOADER;
        for verdict in resolution.verdicts.iter().filter(removed) {
            let (mut world, mut asked) = (world.clone(), asked.clone());
            if follow(verdict, &mut world, &mut asked) {
                let now = world.callable(&asked);
                prop_assert!(now.contains(verdict.tool.as_ref()), "{:?}", verdict);
            }
        }
    }

    /// What a model was sent stays as it was, byte for byte, when it loads more.
    #[test]
    fn loading_keeps_what_was_sent_before_as_a_prefix((world, mut asked) in world(), more in 0..14_usize) {
        // What a message adds comes after what was loaded before it, so it moves.
        asked.turn.add.clear();
        let snapshot = world.snapshot();
        let request = world.request_at(&snapshot, &asked);
        let names = |request: &Request| -> Vec<String> {
            resolve(&snapshot, request).unwrap().offered.iter().map(|tool| tool.name().to_string()).collect()
        };
        let Some(conversation) = request.conversation() else { return Ok(()) };
        let mut after = conversation.loaded.clone();
        let loaded = loaded(&snapshot, &name(more % world.tools.len()));
        if !after.contains(&loaded) { after.push(loaded); }
        let before = names(&request);
        // The loader goes when nothing is left to load.
        let after = names(&request.clone().with_loaded(after));
        if after.first().map(String::as_str) == Some(LOADER) || before.first().map(String::as_str) != Some(LOADER) {
            prop_assert_eq!(&after[..before.len()], &before[..]);
        }
    }

    #[test]
    fn registration_order_never_changes_the_answer((world, asked) in world()) {
        let request = world.request(&asked);
        let tools: Vec<_> = world.tools.iter().enumerate()
            .map(|(position, drawn)| tool(definition(SERVICES[drawn.service], &name(position))))
            .collect();
        let mut reversed = tools.clone();
        reversed.reverse();
        let answer = |tools| {
            let resolution = resolve(&Snapshot::new(tools, vec![]).unwrap(), &request).unwrap();
            serde_json::to_string(&resolution.verdicts).unwrap()
        };
        prop_assert_eq!(answer(tools), answer(reversed));
    }
}
