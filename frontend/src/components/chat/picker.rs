//! The picker of a conversation's tools.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::{LOADER, Outcome, Profile, ToolsetOrigin, Verdict, explain};
use toolshelf_frontend::model::chat::{origin_words, toolset_title};
use toolshelf_frontend::model::text::{count, thousands};
use web_sys::KeyboardEvent;

use crate::components::menu::{close, move_in, place_above};
use crate::components::{Icon, focus_by_id};
use crate::state::{Chat, use_app, use_chat};

const POPOVER: &str = "picker";
const CHIP: &str = "profile-chip";

/// The name of the toolset that the next message gets, where it comes from, and whether it is there.
fn chosen(chat: &Chat) -> (String, &'static str, bool) {
    if let Some(name) = chat.only_now.get() {
        return (name, "this message only", true);
    }
    let chosen = chat.talk.with(|talk| talk.as_ref().map(|talk| talk.toolset.clone()));
    let chosen = chosen.or_else(|| match chat.settings().profile {
        Some(name) => {
            Some(toolshelf_api::ChosenToolset { name, origin: ToolsetOrigin::Pick, missing: false })
        }
        None => chat.start.with(|start| start.as_ref().map(|start| start.in_force.clone())),
    });
    match chosen {
        Some(chosen) => (chosen.name, origin_words(chosen.origin), !chosen.missing),
        None => ("default".to_owned(), "", true),
    }
}

/// The chip that shows which tools the next message gets, and opens the picker.
#[component]
pub(super) fn ProfileChip() -> AnyView {
    let chat = use_chat();
    let app = use_app();
    let name = move || {
        let (name, _, there) = chosen(&chat);
        if there { toolset_title(&name).to_owned() } else { "Deleted profile".to_owned() }
    };
    let from = move || {
        let (_, from, _) = chosen(&chat);
        (!from.is_empty()).then(|| view! { <span class="chip-from">{from}</span> })
    };
    let figures = move || {
        chat.offer.with(|offer| {
            let offer = offer.as_ref()?;
            let all = app.catalog.with(|catalog| catalog.tools().len());
            // The loader is no choice of anybody's, so it counts nowhere.
            let callable =
                |verdict: &&Verdict| verdict.outcome.is_callable() && verdict.tool.as_ref() != LOADER;
            let callable = offer.verdicts.iter().filter(callable).count();
            Some(format!(
                "{} of {} · ≈ {} tokens",
                thousands(callable as u64),
                count(all, "tool", "tools"),
                thousands(offer.tokens.total.into())
            ))
        })
    };
    view! {
        <button class="chip main" type="button" id=CHIP popovertarget=POPOVER aria-haspopup="dialog" on:click=move |_| place_above(CHIP, POPOVER)>
            <Icon name="shelf" /><b>{name}</b>{from}<span class="chip-figures num" data-testid="offer">{figures}</span><Icon name="down" />
        </button>
    }
    .into_any()
}

/// The list of toolsets.
#[component]
pub(super) fn Picker() -> AnyView {
    let chat = use_chat();
    let app = use_app();
    let filter = RwSignal::new(String::new());
    let once = RwSignal::new(false);
    let pick = move |name: Option<String>| {
        close(POPOVER, CHIP);
        filter.set(String::new());
        if once.get_untracked() {
            once.set(false);
            chat.only_now.set(name);
        } else {
            chat.only_now.set(None);
            chat.pick(name);
        }
    };
    let shown = move || {
        let filter = filter.with(|filter| filter.trim().to_lowercase());
        app.profiles.list.with(|list| {
            let text = |profile: &Profile| {
                format!("{} {}", toolset_title(&profile.name), profile.description).to_lowercase()
            };
            list.iter()
                .filter(|profile| text(profile).contains(&filter))
                .cloned()
                .collect::<Vec<Arc<Profile>>>()
        })
    };
    let picked = move |name: Option<&str>| {
        let now = chat.only_now.get().or_else(|| chat.settings().profile);
        now.as_deref() == name
    };
    let option = move |profile: Arc<Profile>| {
        let name = profile.name.clone();
        let (asked, chosen) = (name.clone(), name.clone());
        let figures = format!(
            "{} · ≈ {} tokens",
            count(profile.tools.len() - profile.missing.len(), "tool", "tools"),
            thousands(profile.tokens.into())
        );
        view! {
            <li>
                <button class="option" type="button" aria-pressed=move || if picked(Some(&asked)) { "true" } else { "false" } on:click=move |_| pick(Some(chosen.clone()))>
                    <span class="option-name">{toolset_title(&name).to_owned()}</span>
                    <span class="option-figures num">{figures}</span>
                    {(!profile.description.is_empty()).then(|| view! { <span class="option-about">{profile.description.clone()}</span> })}
                </button>
            </li>
        }
        .into_any()
    };
    let own = move || {
        let start = chat.start.with(|start| start.as_ref().map(|start| start.in_force.clone()));
        let fallback = chat.talk.with(|talk| {
            let talk = talk.as_ref()?;
            talk.profile.is_none().then(|| talk.toolset.clone())
        });
        match fallback.or(start) {
            Some(chosen)
                if chosen.origin != ToolsetOrigin::Default && chosen.origin != ToolsetOrigin::Pick =>
            {
                format!("{} ({})", toolset_title(&chosen.name), origin_words(chosen.origin))
            }
            _ => "All tools, since no agent or workspace default says otherwise".to_owned(),
        }
    };
    view! {
        <div
            class="over picker"
            id=POPOVER
            popover="auto"
            role="dialog"
            aria-label="Tools of this conversation"
            on:keydown=move |event: KeyboardEvent| {
                // Letters belong to the filter; only the keys that move are taken.
                if event.key().chars().count() > 1 {
                    move_in(&event, "button.option");
                }
            }
            on:toggle=move |_| focus_by_id("picker-filter")
        >
            <input class="input" id="picker-filter" type="text" inputmode="search" autocomplete="off" placeholder="Find a profile" aria-label="Find a profile" prop:value=move || filter.get() on:input=move |event| filter.set(event_target_value(&event)) />
            <ul role="list">
                <li>
                    <button class="option" type="button" aria-pressed=move || if picked(None) { "true" } else { "false" } on:click=move |_| pick(None)>
                        <span class="option-name">"Use the agent's choice"</span>
                        <span class="option-about">{own}</span>
                    </button>
                </li>
                <For each=shown key=|profile| (profile.name.clone(), profile.revision, profile.tokens) children=option />
            </ul>
            {move || shown().is_empty().then(|| view! { <p class="sub">"No profile of this name."</p> })}
            <label class="once"><input type="checkbox" prop:checked=move || once.get() on:change=move |event| once.set(event_target_checked(&event)) />"For the next message only"</label>
            <LeftOut />
            <a href="/functions" class="picker-manage">"Manage profiles"</a>
        </div>
    }
    .into_any()
}

/// The tools that the next message does not get, and why.
#[component]
fn LeftOut() -> AnyView {
    let chat = use_chat();
    let removed = move || {
        chat.offer.with(|offer| {
            let removed = offer
                .as_ref()?
                .verdicts
                .iter()
                .filter(|verdict| verdict.outcome == Outcome::Removed && verdict.tool.as_ref() != LOADER);
            let rows: Vec<_> = removed
                .map(|verdict| {
                    let fix = verdict.fix.as_ref().map(explain::fix_sentence).unwrap_or_default();
                    let why = format!("{} {fix}", explain::sentence(verdict));
                    view! { <li><code>{verdict.tool.to_string()}</code><span class="sub">{why}</span></li> }
                })
                .collect();
            (!rows.is_empty()).then(|| {
                let title = count(rows.len(), "tool is left out: why?", "tools are left out: why?");
                view! { <details class="left-out"><summary>{title}</summary><ul>{rows}</ul></details> }
            })
        })
    };
    view! { {removed} }.into_any()
}
