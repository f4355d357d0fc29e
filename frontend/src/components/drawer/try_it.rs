//! The second tab: calls the tool with arguments of the person's own.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};
use toolshelf_api::{Call, Problem, Tool};
use toolshelf_frontend::model::form::{self, Entries, Field, Mistakes};
use toolshelf_frontend::model::text::duration;
use wasm_bindgen::JsCast as _;
use web_sys::{AbortController, HtmlInputElement, KeyboardEvent, SubmitEvent};

use super::conversation::ConversationChoice;
use super::fields::Fields;
use super::result::{Done, ResultPanel};
use crate::api::Failure;
use crate::components::{Icon, focus_by_id};
use crate::state::{Draft, use_app};

/// What became of the last call.
#[derive(Clone, Debug)]
pub(super) enum Run {
    Idle,
    /// Since a time of the browser's clock, in milliseconds.
    Running(f64),
    Done(Done),
}

/// The form, the call and its result.
#[component]
pub(super) fn TryIt(name: String, tool: Memo<Option<Arc<Tool>>>, schema: Arc<Value>) -> impl IntoView {
    let app = use_app();
    let fields = StoredValue::new(form::fields(&schema));
    let draft = app.drafts.with_value(|drafts| drafts.get(&name).cloned());
    let draft = draft
        .unwrap_or_else(|| Draft { entries: fields.with_value(|fields| form::blank(fields)), raw: None });
    let entries = RwSignal::new(draft.entries);
    let raw = RwSignal::new(draft.raw);
    let mistakes = RwSignal::new(Mistakes::new());
    // What is wrong with the whole: raw JSON, or arguments that no field shows.
    let mistake = RwSignal::new(None::<String>);
    let run = RwSignal::new(Run::Idle);
    let abort = StoredValue::new_local(None::<AbortController>);
    let kept = name.clone();
    Effect::new(move |_| {
        let draft = Draft { entries: entries.get(), raw: raw.get() };
        app.drafts.update_value(|drafts| drop(drafts.insert(kept.clone(), draft)));
    });
    // A closed drawer has no place for a result; the server is told not to go on.
    on_cleanup(move || {
        if let Some(abort) = abort.try_update_value(Option::take).flatten() {
            abort.abort();
        }
    });
    let needs_conversation =
        Memo::new(move |_| tool.with(|tool| tool.as_ref().is_some_and(|tool| tool.needs_conversation)));

    let called = StoredValue::new(name);
    let start = move || {
        if matches!(run.get_untracked(), Run::Running(_)) {
            return;
        }
        mistakes.set(Mistakes::new());
        mistake.set(None);
        let arguments = match read_arguments(fields, entries, raw) {
            Ok(arguments) => arguments,
            Err(Wrong::Fields(wrong)) => {
                focus_first(fields, &wrong);
                mistakes.set(wrong);
                return;
            }
            Err(Wrong::Raw(sentence)) => {
                mistake.set(Some(sentence));
                focus_by_id("raw-arguments");
                return;
            }
        };
        let conversation_id =
            if needs_conversation.get_untracked() { app.conversation.get_untracked() } else { None };
        let controller = AbortController::new().ok();
        abort.set_value(controller.clone());
        run.set(Run::Running(now()));
        spawn_local(async move {
            let call = Call { arguments, conversation_id };
            let Some(controller) = controller else { return };
            let answer = app.api().call(&called.get_value(), &call, &controller.signal()).await;
            let done = match answer {
                Ok(result) => Done::Result(result),
                Err(Failure::Refused(problem)) => {
                    let (wrong, rest) = place_mistakes(fields, &problem);
                    if raw.try_get_untracked().flatten().is_none() {
                        focus_first(fields, &wrong);
                    }
                    mistakes.try_set(wrong);
                    mistake.try_set(rest);
                    Done::Refused(problem)
                }
                Err(Failure::Cancelled) => Done::Cancelled,
                Err(failure) => Done::Failed(failure.sentence()),
            };
            run.try_set(Run::Done(done));
        });
    };
    let cancel = move |_| {
        abort.with_value(|abort| {
            if let Some(abort) = abort {
                abort.abort();
            }
        });
    };
    let keys = move |event: KeyboardEvent| {
        // While characters are composed, as in Chinese, Enter belongs to the composition.
        if event.key() != "Enter" || event.is_composing() {
            return;
        }
        let in_one_line = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
            .is_some_and(|input| input.type_() != "checkbox");
        if in_one_line || event.ctrl_key() || event.meta_key() {
            event.prevent_default();
            start();
        }
    };
    let works_on_files =
        Memo::new(move |_| tool.with(|tool| tool.as_ref().is_some_and(|tool| tool.service == "files")));
    let running = Memo::new(move |_| matches!(run.get(), Run::Running(_)));
    view! {
        // No button submits: Cancel turns into Run in place, and the browser would submit by the same click.
        <form class="try" on:submit=move |event: SubmitEvent| event.prevent_default() on:keydown=keys novalidate autocomplete="off">
            {move || needs_conversation.get().then(|| view! { <ConversationChoice /> })}
            {move || works_on_files.get().then(|| match app.workspace.get_value() {
                Some(path) => view! { <p class="quiet small try-place">"It works on your files in "<code>{path}</code></p> }.into_any(),
                None => view! { <p class="quiet small">"It works on the files of your workspace."</p> }.into_any(),
            })}
            <div class="try-mode">
                <h3>"Arguments"</h3>
                <RawSwitch fields entries raw mistake />
            </div>
            {move || {
                if raw.with(Option::is_some) {
                    view! { <RawField raw mistake mistakes /> }.into_any()
                } else {
                    view! { <Fields fields entries mistakes /> }.into_any()
                }
            }}
            {move || (raw.with(Option::is_none)).then(|| mistake.get()).flatten().map(|text| view! {
                <p class="error" role="alert"><Icon name="alert" /><span>{text}</span></p>
            })}
            <div class="try-run">
                {move || if running.get() {
                    view! { <button class="btn" type="button" on:click=cancel><Icon name="close" />"Cancel"</button> }.into_any()
                } else {
                    view! { <button class="btn primary" type="button" on:click=move |_| start()><Icon name="play" />"Run"</button> }.into_any()
                }}
                {move || if running.get() {
                    view! { <Elapsed run /> }.into_any()
                } else {
                    view! { <span class="quiet small try-hint"><kbd>"Enter"</kbd></span> }.into_any()
                }}
            </div>
        </form>
        <ResultPanel run />
    }
}

enum Wrong {
    Fields(Mistakes),
    Raw(String),
}

fn read_arguments(
    fields: StoredValue<Vec<Field>>,
    entries: RwSignal<Entries>,
    raw: RwSignal<Option<String>>,
) -> Result<Map<String, Value>, Wrong> {
    if let Some(text) = raw.get_untracked() {
        return form::parse_raw(&text).map_err(Wrong::Raw);
    }
    let entries = entries.get_untracked();
    fields.with_value(|fields| form::arguments(fields, &entries)).map_err(Wrong::Fields)
}

/// Puts the server's complaints beside the fields that they name; the rest is one sentence.
fn place_mistakes(fields: StoredValue<Vec<Field>>, problem: &Problem) -> (Mistakes, Option<String>) {
    let mut mistakes = Mistakes::new();
    let mut rest = Vec::new();
    for error in &problem.errors {
        let field = form::parameter_of(&error.pointer);
        let known = |name: &String| {
            fields.try_with_value(|fields| fields.iter().any(|f| f.name == *name)) == Some(true)
        };
        match field.filter(known) {
            Some(name) => drop(mistakes.entry(name).or_insert_with(|| error.message.clone())),
            None => rest.push(error.message.as_str()),
        }
    }
    (mistakes, (!rest.is_empty()).then(|| rest.join(" ")))
}

fn focus_first(fields: StoredValue<Vec<Field>>, mistakes: &Mistakes) {
    let first =
        fields.try_with_value(|fields| fields.iter().position(|field| mistakes.contains_key(&field.name)));
    if let Some(Some(index)) = first {
        focus_by_id(&format!("argument-{index}"));
    }
}

/// Between the form and raw JSON; what was entered goes along.
#[component]
fn RawSwitch(
    fields: StoredValue<Vec<Field>>,
    entries: RwSignal<Entries>,
    raw: RwSignal<Option<String>>,
    mistake: RwSignal<Option<String>>,
) -> AnyView {
    let as_json = move |_| {
        if raw.with_untracked(Option::is_some) {
            return;
        }
        mistake.set(None);
        // What the form cannot turn into arguments yet is left out, and stays in the form.
        let entered = entries.get_untracked();
        let sent = fields.with_value(|fields| {
            let whole = form::arguments(fields, &entered);
            whole.unwrap_or_else(|wrong| {
                let good: Vec<Field> =
                    fields.iter().filter(|field| !wrong.contains_key(&field.name)).cloned().collect();
                form::arguments(&good, &entered).unwrap_or_default()
            })
        });
        raw.set(Some(form::pretty(&Value::Object(sent))));
    };
    let as_form = move |_| {
        let Some(text) = raw.get_untracked() else { return };
        let read = form::parse_raw(&text)
            .and_then(|arguments| fields.with_value(|fields| form::entries(fields, &arguments)));
        match read {
            Ok(read) => {
                mistake.set(None);
                entries.set(read);
                raw.set(None);
            }
            Err(sentence) => mistake.set(Some(sentence)),
        }
    };
    let pressed = move |json: bool| move || if raw.with(Option::is_some) == json { "true" } else { "false" };
    view! {
        <div class="segments small" role="group" aria-label="Enter arguments as">
            <button type="button" aria-pressed=pressed(false) on:click=as_form>"Form"</button>
            <button type="button" aria-pressed=pressed(true) on:click=as_json>"JSON"</button>
        </div>
    }
    .into_any()
}

#[component]
fn RawField(
    raw: RwSignal<Option<String>>,
    mistake: RwSignal<Option<String>>,
    mistakes: RwSignal<Mistakes>,
) -> AnyView {
    // In JSON there is no field to stand beside, so each complaint names its own.
    let complaints = move || {
        let whole = mistake.get();
        let each = mistakes.get().into_iter().map(|(name, text)| format!("{name}: {text}"));
        whole.into_iter().chain(each).collect::<Vec<_>>().join(" ")
    };
    let invalid = move || mistake.with(Option::is_some) || mistakes.with(|mistakes| !mistakes.is_empty());
    view! {
        <div class="field">
            <textarea
                class="textarea mono"
                id="raw-arguments"
                rows="8"
                spellcheck="false"
                autocapitalize="none"
                aria-label="Arguments as JSON"
                aria-invalid=move || invalid().then_some("true")
                aria-describedby="raw-mistake"
                prop:value=move || raw.get().unwrap_or_default()
                on:input=move |event| raw.set(Some(event_target_value(&event)))
            ></textarea>
            <p class="error" id="raw-mistake" role="alert">{complaints}</p>
        </div>
    }
    .into_any()
}

/// How long the call has been running.
#[component]
fn Elapsed(run: RwSignal<Run>) -> AnyView {
    let text = RwSignal::new(String::new());
    let tick = move || {
        if let Some(Run::Running(since)) = run.try_get_untracked() {
            // A difference of two times of one clock is small and not negative.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "milliseconds of one call"
            )]
            let elapsed = (now() - since).max(0.0) as u64;
            text.try_set(duration(elapsed / 100 * 100));
        }
    };
    tick();
    let interval = set_interval_with_handle(tick, Duration::from_millis(100)).ok();
    on_cleanup(move || {
        if let Some(interval) = interval {
            interval.clear();
        }
    });
    view! {
        <span class="running"><span class="pulse" aria-hidden="true"></span><span role="status">"Running"</span><span class="num" aria-hidden="true">{text}</span></span>
    }
    .into_any()
}

fn now() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}
