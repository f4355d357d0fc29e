//! A group of the list: a header that stays in view, and the rows that are.

use leptos::prelude::*;
use toolshelf_api::ServerState;
use toolshelf_frontend::model::profile::Ticked;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::shelf::Group;
use toolshelf_frontend::model::text::thousands;
use toolshelf_frontend::model::upstream::state_words;
use toolshelf_frontend::model::window::Slice;

use super::{Dot, DrawnRow, Go, Icon, Row};
use crate::state::{App, use_app};

/// A group that is in view, with its rows that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DrawnGroup {
    /// The source and service.
    pub(crate) key: String,
    title: String,
    kind: String,
    total: usize,
    members: usize,
    shown: usize,
    height: u32,
    skipped: u32,
    rows: Vec<DrawnRow>,
}

/// Looks up what a window shows.
pub(crate) fn drawn_groups(app: App, slices: &[Slice]) -> Vec<DrawnGroup> {
    app.view.with(|view| {
        app.catalog.with(|catalog| {
            let drawn = |slice: &Slice| {
                let group = view.groups.get(slice.section)?;
                let rows = group.rows.get(slice.rows.clone())?.iter().zip(slice.rows.start + 1..);
                let row = |(place, position): (&usize, usize)| {
                    Some(DrawnRow { name: catalog.tools().get(*place)?.name.clone(), position })
                };
                Some(DrawnGroup {
                    key: group.key.clone(),
                    title: group.title.clone(),
                    kind: group.kind.clone(),
                    total: group.total,
                    members: group.members,
                    shown: group.rows.len(),
                    height: slice.height,
                    skipped: slice.skipped,
                    rows: rows.filter_map(row).collect(),
                })
            };
            slices.iter().filter_map(drawn).collect()
        })
    })
}

/// A group of the list.
#[component]
pub(crate) fn GroupView(
    /// The group when it came into view.
    group: DrawnGroup,
    /// All groups in view, in which this one is followed.
    drawn: Memo<Vec<DrawnGroup>>,
) -> AnyView {
    let server = Group::server(&group.key).map(str::to_owned);
    let (key, title, kind) = (group.key.clone(), group.title.clone(), group.kind.clone());
    let heading = format!("group-{}", group.key.replace(' ', "-"));
    let now = Memo::new(move |before: Option<&DrawnGroup>| {
        // Just before a group leaves the view it is asked for once more; it then stays as it was.
        let found = drawn.with(|drawn| drawn.iter().find(|group| group.key == key).cloned());
        found.or_else(|| before.cloned()).unwrap_or_else(|| group.clone())
    });
    let size = Signal::derive(move || now.with(|group| group.shown));
    let figures = move || {
        now.with(|group| {
            if group.shown == group.total {
                thousands(group.total as u64)
            } else {
                format!("{} of {}", thousands(group.shown as u64), thousands(group.total as u64))
            }
        })
    };
    let row = move |row: DrawnRow| {
        let name = row.name.clone();
        let position = Memo::new(move |before: Option<&usize>| {
            let found =
                now.with(|group| group.rows.iter().find(|other| other.name == name).map(|row| row.position));
            found.or(before.copied()).unwrap_or(row.position)
        });
        view! { <Row name=row.name position=position.into() size /> }
    };
    let heading_id = heading.clone();
    let app = use_app();
    // A group of an upstream server has its title and its state, and leads to it.
    let server = server.map(|name| app.server(name));
    let title = move || match server.and_then(|server| server.get()) {
        Some(server) => {
            let route = Route::Upstreams { name: Some(server.name.clone()) };
            view! { <Go route><bdi>{server.title.clone()}</bdi></Go> }.into_any()
        }
        None => title.clone().into_any(),
    };
    let state = move || {
        let server = server?.get()?;
        let state = server.status.state;
        let reason = server.status.reason.clone();
        let class = if state == ServerState::Down { "group-state down" } else { "group-state" };
        Some(view! { <span class=class title=reason><Dot state />{state_words(state)}</span> })
    };
    view! {
        <section class="group" aria-labelledby=heading_id style:height=move || now.with(|group| format!("{}px", group.height))>
            <header class="group-head">
                <h2 id=heading>{title}<span class="group-kind">{format!(" · {kind}")}</span></h2>
                <span class="group-figures num">{figures}<span class="visually-hidden">" tools"</span></span>
                {state}
                {move || app.profiles.open.with(Option::is_some).then(|| view! { <GroupTick now /> })}
            </header>
            <ul role="list" style:padding-top=move || now.with(|group| format!("{}px", group.skipped))>
                <For each=move || now.with(|group| group.rows.clone()) key=|row| row.name.clone() children=row />
            </ul>
        </section>
    }
    .into_any()
}

/// How much of the group is in the open profile. It acts on the rows that are shown.
#[component]
fn GroupTick(now: Memo<DrawnGroup>) -> AnyView {
    let app = use_app();
    let ticked = move || now.with(|group| Ticked::of(group.members, group.total));
    let locked = move || app.profiles.current().is_none_or(|profile| !profile.can_edit);
    let label = move || {
        now.with(|group| {
            format!("{} of {} {} tools are in the profile", group.members, group.total, group.title)
        })
    };
    let turn = move |_| {
        let key = now.with_untracked(|group| group.key.clone());
        let names: Vec<String> = app.view.with_untracked(|view| {
            app.catalog.with_untracked(|catalog| {
                let group = view.groups.iter().find(|group| group.key == key);
                let places = group.map(|group| group.rows.as_slice()).unwrap_or_default();
                places
                    .iter()
                    .filter_map(|place| catalog.tools().get(*place))
                    .map(|tool| tool.name.clone())
                    .collect()
            })
        });
        let members = app.profiles.members().map(|members| members.tools).unwrap_or_default();
        if names.iter().all(|name| members.contains(name)) {
            app.remove_tools(names);
        } else {
            app.add_tools(names);
        }
    };
    view! {
        <span class="group-members num">{move || now.with(|group| format!("{} of {} in it", group.members, group.total))}</span>
        <button class="tick" type="button" role="checkbox" aria-label=label aria-checked=move || ticked().aria() title="Acts on the tools shown" disabled=locked on:click=turn>
            <Icon name="check" /><Icon name="dash" />
        </button>
    }
    .into_any()
}
