//! What admins say about a server and its tools.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{Hold, ServerLimits, UpdateMcpServer, UpdateServerSettings};
use toolshelf_frontend::model::upstream::Server;
use web_sys::SubmitEvent;

use crate::state::use_app;

/// A switch: its name, what it means, and what it reads and sets.
struct Setting {
    id: &'static str,
    name: &'static str,
    hint: &'static str,
    read: fn(&Server) -> bool,
    set: fn(bool) -> UpdateServerSettings,
}

const SWITCHES: [Setting; 3] = [
    Setting {
        id: "set-expose",
        name: "Models may see its tools",
        hint: "Off hides them everywhere (L2).",
        read: |server| server.settings.expose,
        set: |on| UpdateServerSettings { expose: Some(on), ..UpdateServerSettings::default() },
    },
    Setting {
        id: "set-defer",
        name: "Schemas on demand",
        hint: "Models see names first and load a schema when they need it (L6).",
        read: |server| server.settings.defer,
        set: |on| UpdateServerSettings { defer: Some(on), ..UpdateServerSettings::default() },
    },
    Setting {
        id: "set-trust",
        name: "Trust what it says about effects",
        hint: "Off: every tool counts as one whose effect nobody knows.",
        read: |server| server.settings.trust_annotations,
        set: |on| UpdateServerSettings { trust_annotations: Some(on), ..UpdateServerSettings::default() },
    },
];

const HOLDS: [(Hold, &str); 3] =
    [(Hold::Off, "None"), (Hold::Changed, "Changed"), (Hold::NewAndChanged, "New and changed")];

/// The settings. Switches show what is in force and not what was clicked, so a refused change needs no undoing.
#[component]
pub(super) fn Settings(server: Memo<Option<Arc<Server>>>) -> AnyView {
    let app = use_app();
    let set = Callback::new(move |settings: UpdateServerSettings| {
        if let Some(server) = server.get_untracked() {
            app.set_server(&server, settings);
        }
    });
    let switch = |setting: Setting| {
        let Setting { id, name, hint, read, set: change } = setting;
        let on = Memo::new(move |_| server.with(|server| server.as_deref().is_some_and(read)));
        let hint_id = format!("{id}-hint");
        view! {
            <div class="setting">
                <p id=id>{name}</p>
                <p class="hint" id=hint_id.clone()>{hint}</p>
                <button
                    class="switch"
                    type="button"
                    role="switch"
                    aria-labelledby=id
                    aria-describedby=hint_id
                    aria-checked=move || if on.get() { "true" } else { "false" }
                    on:click=move |_| set.run(change(!on.get_untracked()))
                >
                    <span class="switch-knob"></span>
                </button>
            </div>
        }
        .into_any()
    };
    let hold = Memo::new(move |_| server.with(|server| server.as_ref().map(|server| server.settings.hold)));
    let choice = |(value, name): (Hold, &'static str)| {
        let settings = UpdateServerSettings { hold: Some(value), ..UpdateServerSettings::default() };
        view! {
            <button type="button" aria-pressed=move || if hold.get() == Some(value) { "true" } else { "false" } on:click=move |_| set.run(settings.clone())>{name}</button>
        }
        .into_any()
    };
    view! {
        <section>
            <h3>"Settings"</h3>
            <div class="settings">
                {SWITCHES.map(switch).into_iter().collect_view()}
                <div class="setting">
                    <p id="set-hold">"Tools that wait for an admin"</p>
                    <p class="hint">"A tool that waits is refused until its definition is accepted (L5)."</p>
                    <div class="segments small" role="group" aria-labelledby="set-hold">{HOLDS.map(choice).into_iter().collect_view()}</div>
                </div>
                <Entered server />
            </div>
        </section>
    }
    .into_any()
}

/// What is entered and then saved: channels and limits.
#[component]
fn Entered(server: Memo<Option<Arc<Server>>>) -> AnyView {
    let app = use_app();
    let now = Memo::new(move |_| {
        let server = server.get()?;
        Some((server.settings.unsafe_in.join(", "), server.settings.limits))
    });
    let texts = move || {
        now.get().map_or_else(Default::default, |(channels, limits)| {
            [channels, limits.call_timeout_seconds.to_string(), limits.max_result_chars.to_string()]
        })
    };
    let entered = RwSignal::new(<[String; 3]>::default());
    // What is in force takes the place of what was entered, when it changes.
    Effect::new(move |_| entered.set(texts()));
    let changed = move || entered.with(|entered| *entered != texts());
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let Some(server) = server.get_untracked().filter(|_| !busy.get_untracked()) else { return };
        let [channels, seconds, characters] = entered.get_untracked();
        let (Ok(call_timeout_seconds), Ok(max_result_chars)) =
            (seconds.trim().parse(), characters.trim().parse())
        else {
            mistake.set(Some("Enter the limits as whole numbers.".to_owned()));
            return;
        };
        let channels = channels.split([',', ' ', '，']).filter(|channel| !channel.is_empty());
        let settings = UpdateServerSettings {
            unsafe_in: Some(channels.map(str::to_owned).collect()),
            limits: Some(ServerLimits { call_timeout_seconds, max_result_chars }),
            ..UpdateServerSettings::default()
        };
        let change = UpdateMcpServer { settings: Some(settings), ..UpdateMcpServer::default() };
        busy.set(true);
        mistake.set(None);
        spawn_local(async move {
            match app.update_server(&server.name, server.revision, &change).await {
                Ok(()) => app.toasts.say(&format!("{}: saved.", server.name)),
                Err(failure) => drop(mistake.try_set(Some(failure.beside()))),
            }
            busy.try_set(false);
        });
    };
    let row = move |place: usize, id: &'static str, name: &'static str, hint: &'static str, number: bool| {
        view! {
            <div class="field">
                <label for=id>{name}</label>
                <input
                    class="input"
                    id=id
                    inputmode=number.then_some("numeric")
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    aria-describedby=format!("{id}-hint")
                    prop:value=move || entered.with(|entered| entered[place].clone())
                    on:input=move |event| entered.update(|entered| entered[place] = event_target_value(&event))
                />
                <p class="hint" id=format!("{id}-hint")>{hint}</p>
            </div>
        }
        .into_any()
    };
    view! {
        <form class="setting-form" on:submit=save novalidate>
            {row(0, "set-channels", "Channels without its tools", "Names with commas, such as api, plan (L3).", false)}
            {row(1, "set-timeout", "Seconds for a call", "1 to 3,600.", true)}
            {row(2, "set-result", "Characters of a result", "1,000 to 1,000,000.", true)}
            <p class="error" role="alert">{move || mistake.get()}</p>
            {move || changed().then(|| view! { <button class="btn small" disabled=move || busy.get()>"Save"</button> })}
        </form>
    }
    .into_any()
}
