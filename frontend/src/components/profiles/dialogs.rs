//! Dialogs about profiles: a new one, another name, a deletion, the history.

use std::sync::Arc;

use leptos::html::Dialog;
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{CreateProfile, Profile, ProfileVersion, UpdateProfile};
use toolshelf_frontend::model::text::count;
use web_sys::SubmitEvent;

use super::sidebar::title;
use crate::api::Failure;
use crate::components::dialogs::follow_open;
use crate::components::{Icon, focus_by_id};
use crate::state::{Ask, use_app};

/// The dialog about what is being decided.
#[component]
pub(crate) fn ProfileDialog() -> AnyView {
    let app = use_app();
    let dialog = NodeRef::<Dialog>::new();
    follow_open(dialog, move || app.profiles.ask.with(Option::is_some));
    view! {
        <dialog class="dialog" node_ref=dialog aria-labelledby="profile-title" on:close=move |_| app.profiles.ask.set(None)>
            {move || app.profiles.ask.get().map(|ask| match ask {
                Ask::New { from } => view! { <Form before=None from /> }.into_any(),
                Ask::Rename(profile) => view! { <Form before=Some(profile) from=String::new() /> }.into_any(),
                Ask::Delete(profile) => view! { <Delete profile /> }.into_any(),
                Ask::History(profile) => view! { <History profile /> }.into_any(),
            })}
        </dialog>
    }
    .into_any()
}

/// Makes a profile, or gives one another name and description.
#[component]
fn Form(before: Option<Arc<Profile>>, from: String) -> AnyView {
    let app = use_app();
    let is_new = before.is_none();
    let name = RwSignal::new(before.as_ref().map_or_else(String::new, |profile| profile.name.clone()));
    let about =
        RwSignal::new(before.as_ref().map_or_else(String::new, |profile| profile.description.clone()));
    let copied = RwSignal::new(from.clone());
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        if name.with_untracked(|name| name.trim().is_empty()) {
            mistake.set(Some("Give it a name.".to_owned()));
            focus_by_id("profile-name");
            return;
        }
        busy.set(true);
        mistake.set(None);
        let before = before.clone();
        spawn_local(async move {
            let (name, about) = (name.get_untracked(), about.get_untracked());
            let done = if let Some(profile) = &before {
                let change =
                    UpdateProfile { name: Some(name), description: Some(about), ..UpdateProfile::default() };
                app.update_profile(profile, change).await
            } else {
                let description = (!about.trim().is_empty()).then_some(about);
                let from = Some(copied.get_untracked());
                app.create_profile(CreateProfile { name, description, from, ..CreateProfile::default() })
                    .await
            };
            match done {
                Ok(()) => app.profiles.ask.set(None),
                Err(failure) => {
                    mistake.try_set(Some(failure.beside()));
                    busy.try_set(false);
                    focus_by_id("profile-name");
                }
            }
        });
    };
    let choices = move || {
        app.profiles.list.with_untracked(|list| {
            let choice = |profile: &Arc<Profile>| {
                let (name, shown) = (profile.name.clone(), title(&profile.name).to_owned());
                let selected = name == from;
                view! { <option value=name selected=selected>{shown}</option> }
            };
            list.iter().map(choice).collect_view()
        })
    };
    view! {
        <form on:submit=submit novalidate>
            <h2 id="profile-title">{if is_new { "New profile" } else { "Rename" }}</h2>
            {is_new.then(|| view! { <p class="sub">"A copy, from which you take out what this kind of work does not need."</p> })}
            <div class="field">
                <label for="profile-name">"Name"</label>
                <input
                    class="input"
                    id="profile-name"
                    autocomplete="off"
                    autofocus
                    aria-invalid=move || mistake.with(Option::is_some).then_some("true")
                    aria-describedby="profile-mistake"
                    prop:value=move || name.get()
                    on:input=move |event| name.set(event_target_value(&event))
                />
                <p class="error" id="profile-mistake" role="alert">{move || mistake.get()}</p>
            </div>
            <div class="field">
                <label for="profile-about">"What it is for"</label>
                <input class="input" id="profile-about" autocomplete="off" maxlength="500" prop:value=move || about.get() on:input=move |event| about.set(event_target_value(&event)) />
            </div>
            {is_new.then(|| view! {
                <div class="field">
                    <label for="profile-from">"Copy of"</label>
                    <select class="select" id="profile-from" on:change=move |event| copied.set(event_target_value(&event))>{choices()}</select>
                </div>
            })}
            <div class="dialog-actions">
                <button class="btn" type="button" on:click=move |_| app.profiles.ask.set(None)>"Cancel"</button>
                <button class="btn primary" disabled=move || busy.get()>{if is_new { "Create" } else { "Save" }}</button>
            </div>
        </form>
    }
    .into_any()
}

/// Deletes a profile; what uses it gets another toolset.
#[component]
fn Delete(profile: Arc<Profile>) -> AnyView {
    let app = use_app();
    let name = profile.name.clone();
    let used = profile.used_by;
    let replacement = RwSignal::new(String::new());
    let needs = RwSignal::new(used.conversations + used.keys + used.starts > 0);
    if needs.get_untracked() {
        replacement.set("none".to_owned());
    }
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let others = {
        let name = name.clone();
        move || {
            app.profiles.list.with_untracked(|list| {
                let choice = |profile: &Arc<Profile>| {
                    let (name, shown) = (profile.name.clone(), title(&profile.name).to_owned());
                    view! { <option value=name>{shown}</option> }
                };
                list.iter().filter(|profile| profile.name != name).map(choice).collect_view()
            })
        }
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let profile = Arc::clone(&profile);
        spawn_local(async move {
            match app.delete_profile(&profile, &replacement.get_untracked()).await {
                Ok(()) => app.profiles.ask.set(None),
                Err(failure) => {
                    if matches!(&failure, Failure::Refused(problem) if problem.code == "in_use") {
                        needs.try_set(true);
                        if replacement.with_untracked(String::is_empty) {
                            replacement.try_set("none".to_owned());
                        }
                    }
                    mistake.try_set(Some(failure.sentence()));
                    busy.try_set(false);
                }
            }
        });
    };
    view! {
        <form on:submit=submit>
            <h2 id="profile-title">"Delete "<code>{name}</code></h2>
            <p class="sub">"Its name stays yours for 90 days. Nothing else is deleted, and nobody is offered more tools by it."</p>
            {move || needs.get().then(|| view! {
                <div class="field">
                    <label for="replacement">"What uses it now gets"</label>
                    <select class="select" id="replacement" on:change=move |event| replacement.set(event_target_value(&event))>
                        <option value="none">"no tools"</option>
                        {others()}
                    </select>
                </div>
            })}
            <p class="error" role="alert">{move || mistake.get()}</p>
            <div class="dialog-actions">
                <button class="btn" type="button" on:click=move |_| app.profiles.ask.set(None)>"Cancel"</button>
                <button class="btn danger solid" disabled=move || busy.get()>"Delete"</button>
            </div>
        </form>
    }
    .into_any()
}

/// Shows the revisions of a profile, and goes back to one.
#[component]
fn History(profile: Arc<Profile>) -> AnyView {
    let app = use_app();
    let (name, can_edit, current) = (profile.name.clone(), profile.can_edit, profile.revision);
    let versions = RwSignal::new(None::<Result<Vec<ProfileVersion>, String>>);
    let asked = name.clone();
    spawn_local(async move {
        let page = app.api().profile_history(&asked).await;
        versions.try_set(Some(page.map(|page| page.items).map_err(|failure| failure.sentence())));
    });
    let shown = name.clone();
    let row = move |version: ProfileVersion| {
        let (name, revision) = (name.clone(), version.revision);
        let restore = move |_| {
            let name = name.clone();
            spawn_local(async move {
                match app.restore_profile(&name, revision).await {
                    Ok(()) => app.profiles.ask.set(None),
                    Err(failure) => app.toasts.warn(&failure.sentence()),
                }
            });
        };
        let when = version.at.replace('T', " ");
        let when = when.split('.').next().unwrap_or_default().to_owned();
        view! {
            <li>
                <span><b class="num">{format!("#{revision}")}</b>" "{version.name}" · "{count(version.tools.len(), "tool", "tools")}</span>
                <span class="sub">{format!("{} · {when} UTC", version.by.as_deref().unwrap_or("the system"))}</span>
                {(can_edit && revision != current).then(|| view! { <button class="btn small" type="button" on:click=restore>"Restore"</button> })}
                {(revision == current).then(|| view! { <span class="badge ok"><span>"now"</span></span> })}
            </li>
        }
        .into_any()
    };
    view! {
        <div class="dialog-head">
            <h2 id="profile-title">"History of "<code>{shown}</code></h2>
            <button class="btn ghost square small" type="button" aria-label="Close" on:click=move |_| app.profiles.ask.set(None)><Icon name="close" /></button>
        </div>
        {move || match versions.get() {
            None => view! { <p class="sub" role="status">"Loading"</p> }.into_any(),
            Some(Err(sentence)) => view! { <p class="error" role="alert">{sentence}</p> }.into_any(),
            Some(Ok(versions)) => view! { <ul class="versions" role="list">{versions.into_iter().map(row.clone()).collect_view()}</ul> }.into_any(),
        }}
    }
    .into_any()
}
