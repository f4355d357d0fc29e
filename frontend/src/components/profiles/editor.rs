//! The editor: what stands above the list while a profile is open.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{NewTools, Profile, UpdateProfile};
use toolshelf_frontend::model::profile::{Mode, Undo, caps};
use toolshelf_frontend::model::text::{count, thousands};

use crate::components::Icon;
use crate::state::{Ask, use_app};

/// The title with the profile's figures, its scope, and what can be done with it.
#[component]
pub(crate) fn EditorHead() -> AnyView {
    let app = use_app();
    // Only another profile draws the head anew, so that a change leaves the focus where it is.
    let which =
        Memo::new(move |_| app.profiles.current().map(|profile| (profile.name.clone(), profile.can_edit)));
    (move || match which.get() {
        Some((name, can_edit)) => view! { <Head name can_edit /> }.into_any(),
        None => view! { <Absent /> }.into_any(),
    })
    .into_any()
}

/// The open profile is not known yet, or not there any more.
#[component]
fn Absent() -> AnyView {
    let app = use_app();
    let name = move || app.profiles.open.get().unwrap_or_default();
    view! {
        <header class="shelf-head"><h1>{name}</h1></header>
        {move || app.profiles.gone.get().map(|sentence| view! {
            <div class="notice bad shelf-note" role="alert">
                <Icon name="alert" />
                <p>{sentence}</p>
                <button class="btn small" type="button" on:click=move |_| app.open_profile(None)>"Show all tools"</button>
            </div>
        })}
    }
    .into_any()
}

#[component]
fn Head(name: String, can_edit: bool) -> AnyView {
    let app = use_app();
    let profile = Memo::new(move |before: Option<&Option<Arc<Profile>>>| {
        // While another one takes its place, it stays as it was.
        app.profiles.current().or_else(|| before.cloned().flatten())
    });
    let total =
        Memo::new(move |_| profile.with(|profile| profile.as_ref().map_or(0, |profile| profile.tools.len())));
    let tokens =
        move || profile.with(|profile| profile.as_ref().map_or(0, |profile| u64::from(profile.tokens)));
    let action = move |label: &'static str, to: fn(Arc<Profile>) -> Ask| {
        let ask = move |_| app.profiles.ask.set(profile.get_untracked().map(to));
        view! { <button class="btn small" type="button" on:click=ask>{label}</button> }.into_any()
    };
    let about = move || {
        profile.with(|profile| {
            let text = profile.as_ref().map(|profile| profile.description.clone()).unwrap_or_default();
            (!text.is_empty()).then(|| view! { <p class="editor-about">{text}</p> })
        })
    };
    let touches = move || {
        profile.with(|profile| {
            let profile = profile.as_ref()?;
            let owner = profile.owner.as_deref().unwrap_or_default();
            Some(if can_edit {
                scope(profile)
            } else {
                format!(
                    "{owner} owns it, so you can use it but not change it. Clone it to have one of your own."
                )
            })
        })
    };
    let from = name.clone();
    view! {
        <header class="shelf-head editor-head">
            <h1 title=name.clone()>{name.clone()}</h1>
            <p class="shelf-figures" role="status">
                <span><b class="num" id="profile-count">{move || thousands(total.get() as u64)}</b>{move || if total.get() == 1 { " tool" } else { " tools" }}</span>
                <span><b class="num" id="profile-tokens">{move || format!("≈ {}", thousands(tokens()))}</b>" tokens if all are sent"</span>
            </p>
            <div class="editor-actions">
                {can_edit.then(|| view! {
                    <button class="btn small square" type="button" aria-label="Undo" title="Undo (Ctrl Z)" aria-disabled=move || (!app.profiles.undo.with(Undo::can_undo)).then_some("true") on:click=move |_| app.undo()><Icon name="undo" /></button>
                    <button class="btn small square" type="button" aria-label="Redo" title="Redo (Ctrl Shift Z)" aria-disabled=move || (!app.profiles.undo.with(Undo::can_redo)).then_some("true") on:click=move |_| app.redo()><Icon name="redo" /></button>
                })}
                {can_edit.then(|| action("Rename", Ask::Rename))}
                <button class="btn small" type="button" on:click=move |_| app.profiles.ask.set(Some(Ask::New { from: from.clone() }))>"Clone"</button>
                {action("History", Ask::History)}
                {can_edit.then(|| action("Delete", Ask::Delete))}
            </div>
            {about}
            <p class="editor-about sub">{touches}</p>
            {can_edit.then(|| view! { <Policy profile /> })}
        </header>
        {move || (total.get() == 0).then(|| view! {
            <div class="notice warn shelf-note"><Icon name="alert" /><p>"This profile is empty: whoever uses it is offered no tools."</p></div>
        })}
        {move || caps(total.get()).map(|text| view! { <div class="notice shelf-note"><Icon name="info" /><p>{text}</p></div> })}
        {move || profile.get().map(|profile| view! { <Held profile /> })}
        {move || profile.get().map(|profile| view! { <Missing profile /> })}
    }
    .into_any()
}

/// Whom a change touches.
fn scope(profile: &Profile) -> String {
    let used = profile.used_by;
    let mut users = Vec::new();
    if used.conversations > 0 {
        users.push(count(
            usize::try_from(used.conversations).unwrap_or(usize::MAX),
            "conversation",
            "conversations",
        ));
    }
    if used.keys > 0 {
        users.push(count(usize::try_from(used.keys).unwrap_or(usize::MAX), "API key", "API keys"));
    }
    let now = if users.is_empty() { String::new() } else { format!(" Now that is {}.", users.join(" and ")) };
    let others = if used.others { " Some are other people's." } else { "" };
    format!("Changes apply to every conversation and agent that uses {}.{now}{others}", profile.name)
}

/// What happens with tools that come later.
#[component]
fn Policy(profile: Memo<Option<Arc<Profile>>>) -> AnyView {
    let app = use_app();
    let now = move || {
        profile.with(|profile| profile.as_ref().map_or(NewTools::Ignore, |profile| profile.new_tools))
    };
    let waiting =
        move || profile.with(|profile| profile.as_ref().is_some_and(|profile| !profile.held.is_empty()));
    let choose = move |value: String| {
        let choice = CHOICES.into_iter().find(|(_, name, _)| *name == value);
        let (Some((new_tools, ..)), Some(profile)) = (choice, profile.get_untracked()) else { return };
        spawn_local(async move {
            let change = UpdateProfile { new_tools: Some(new_tools), ..UpdateProfile::default() };
            if let Err(failure) = app.update_profile(&profile, change).await {
                app.toasts.warn(&failure.sentence());
                app.load_profiles();
            }
        });
    };
    let choice = move |(policy, value, text): (NewTools, &'static str, &'static str)| {
        view! { <option value=value selected=move || now() == policy>{text}</option> }
    };
    view! {
        <p class="editor-policy">
            <label for="policy">"New tools"</label>
            <select class="select" id="policy" on:change=move |event| choose(event_target_value(&event))>{CHOICES.map(choice).into_iter().collect_view()}</select>
            {move || waiting().then(|| view! { <span class="sub">"Changing this drops what is waiting now."</span> })}
        </p>
    }
    .into_any()
}

/// What can happen with tools that come later.
const CHOICES: [(NewTools, &str, &str); 3] = [
    (NewTools::Ignore, "ignore", "stay out"),
    (NewTools::Hold, "hold", "wait for a decision"),
    (NewTools::Include, "include", "come in by themselves"),
];

/// New tools that wait for a decision.
#[component]
fn Held(profile: Arc<Profile>) -> AnyView {
    let app = use_app();
    if profile.held.is_empty() {
        return ().into_any();
    }
    let (all, none) = (profile.held.clone(), profile.held.clone());
    let dismiss = {
        let name = profile.name.clone();
        move |_| {
            let (name, remove) = (name.clone(), none.clone());
            spawn_local(async move {
                let edit = toolshelf_api::EditProfileTools { add: Vec::new(), remove };
                if let Err(failure) = app.api().edit_profile(&name, &edit).await {
                    app.toasts.warn(&failure.sentence());
                }
                app.load_profiles();
            });
        }
    };
    view! {
        <details class="left-out shelf-note" open>
            <summary>{count(profile.held.len(), "new tool waits for a decision", "new tools wait for a decision")}</summary>
            <ul>{profile.held.iter().map(|name| view! { <li><code>{name.clone()}</code><span class="badge info"><span>"new"</span></span></li> }).collect_view()}</ul>
            {profile.can_edit.then(|| view! {
                <p class="editor-actions">
                    <button class="btn small" type="button" on:click=move |_| app.add_tools(all.clone())>"Add them"</button>
                    <button class="btn small" type="button" on:click=dismiss>"Leave them out"</button>
                </p>
            })}
        </details>
    }
    .into_any()
}

/// Tools of the profile that are not registered now.
#[component]
fn Missing(profile: Arc<Profile>) -> AnyView {
    let app = use_app();
    if profile.missing.is_empty() {
        return ().into_any();
    }
    let can_edit = profile.can_edit;
    let row = move |name: &String| {
        let target = name.clone();
        view! {
            <li>
                <code>{name.clone()}</code><span class="badge warn"><span>"missing"</span></span>
                {can_edit.then(|| view! { <button class="btn small ghost" type="button" on:click=move |_| app.remove_tools(vec![target.clone()])>"Remove"</button> })}
            </li>
        }
    };
    view! {
        <details class="left-out shelf-note" open=profile.missing.len() < 6>
            <summary>{count(profile.missing.len(), "tool of this profile is missing now", "tools of this profile are missing now")}</summary>
            <p class="sub">"They are kept, and come back by themselves when their source does."</p>
            <ul>{profile.missing.iter().map(row).collect_view()}</ul>
        </details>
    }
    .into_any()
}

/// Which tools are shown, and what to do with all that are.
#[component]
pub(crate) fn Bulk() -> AnyView {
    let app = use_app();
    let figures = Memo::new(move |_| app.view.with(|view| (view.shown, view.shown_members)));
    let can_edit = move || app.profiles.current().is_some_and(|profile| profile.can_edit);
    let shown = move || {
        app.view.with_untracked(|view| {
            app.catalog.with_untracked(|catalog| {
                let name = |place: usize| catalog.tools().get(place).map(|tool| tool.name.clone());
                view.rows().filter_map(|(_, _, place)| name(place)).collect::<Vec<_>>()
            })
        })
    };
    let mode = move |mode: Mode| {
        view! {
            <button type="button" aria-pressed=move || if app.profiles.mode.get() == mode { "true" } else { "false" } on:click=move |_| app.profiles.mode.set(mode)>
                {mode.label()}
            </button>
        }
    };
    view! {
        <div class="bulk">
            <div class="segments small" role="group" aria-label="Tools of the profile">{Mode::EVERY.map(mode).into_iter().collect_view()}</div>
            {move || can_edit().then(|| {
                let (all, members) = figures.get();
                view! {
                    <button class="btn small" type="button" disabled=all == members on:click=move |_| app.add_tools(shown())>
                        {format!("Add the {} shown", thousands((all - members) as u64))}
                    </button>
                    <button class="btn small" type="button" disabled=members == 0 on:click=move |_| app.remove_tools(shown())>
                        {format!("Remove the {} shown", thousands(members as u64))}
                    </button>
                }
            })}
        </div>
    }
    .into_any()
}
