//! The fields of a server, for a new one and for changes.

use leptos::prelude::*;
use toolshelf_api::FieldError;
use toolshelf_frontend::model::server_form::{Pair, Part, ServerForm};
use toolshelf_frontend::model::text::count;
use toolshelf_frontend::model::upstream::split_command;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::api::Failure;
use crate::components::{Icon, focus_by_id};

/// What is wrong with fields, and what is wrong at all.
#[derive(Clone, Copy)]
pub(super) struct Mistakes {
    pub(super) fields: RwSignal<Vec<FieldError>>,
    pub(super) whole: RwSignal<Option<String>>,
}

impl Mistakes {
    pub(super) fn new() -> Self {
        Self { fields: RwSignal::new(Vec::new()), whole: RwSignal::new(None) }
    }

    pub(super) fn clear(self) {
        self.fields.try_set(Vec::new());
        self.whole.try_set(None);
    }

    /// Shows what a request was refused for. What the person cancelled is no mistake.
    pub(super) fn take(self, failure: Failure) {
        let sentence = failure.sentence();
        match failure {
            Failure::Refused(problem) => {
                self.fields.try_set(problem.errors);
                self.whole.try_set(Some(sentence));
            }
            Failure::Offline => drop(self.whole.try_set(Some(sentence))),
            Failure::Cancelled => {}
        }
        focus_mistake();
    }

    /// What is wrong with a field, or with a part of it.
    pub(super) fn at(self, pointer: &str) -> Option<String> {
        self.fields.with(|fields| {
            let here = |error: &&FieldError| {
                let rest = error.pointer.strip_prefix(pointer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            fields.iter().find(here).map(|error| error.message.clone())
        })
    }

    /// The message about the form as a whole.
    pub(super) fn view(self) -> AnyView {
        (move || {
            self.whole.get().map(|text| {
                view! { <div class="notice bad" role="alert"><Icon name="alert" /><p>{text}</p></div> }
                    .into_any()
            })
        })
        .into_any()
    }
}

/// Gives the focus to the first field that is wrong, once it is marked. If none is, the message about the whole is shown.
pub(super) fn focus_mistake() {
    request_animation_frame(|| {
        let field = document().query_selector("dialog[open] [aria-invalid=true]").ok().flatten();
        match field.and_then(|field| field.dyn_into::<HtmlElement>().ok()) {
            Some(field) => drop(field.focus()),
            None => show("dialog[open] .notice.bad[role=alert]"),
        }
    });
}

/// Scrolls a part of a dialog into view, above its buttons.
pub(super) fn show(selector: &str) {
    if let Some(part) = document().query_selector(selector).ok().flatten() {
        part.scroll_into_view_with_bool(false);
    }
}

/// How a field looks.
struct Look {
    id: &'static str,
    label: &'static str,
    hint: &'static str,
    placeholder: &'static str,
    /// Whether it has several lines.
    long: bool,
}

/// Everything that says how a server is called and reached.
#[component]
pub(super) fn ServerFields(form: RwSignal<ServerForm>, mistakes: Mistakes, is_new: bool) -> AnyView {
    let row = move |part: Part, look: Look| text_row(form, part, mistakes, look);
    let http = Memo::new(move |_| form.with(|form| form.http));
    let name = is_new.then(|| {
        row(
            Part::Name,
            Look {
                id: "server-name",
                label: "Name",
                hint: "Small letters, digits and hyphens. Its tools' names begin with it.",
                placeholder: "github",
                long: false,
            },
        )
    });
    let transport = move |is_http: bool, label: &'static str, hint: &'static str| {
        view! {
            <label class="check">
                <input type="radio" name="transport" prop:checked=move || http.get() == is_http on:change=move |_| form.update(|form| form.http = is_http) />
                <span>{label}<span class="hint">{hint}</span></span>
            </label>
        }
        .into_any()
    };
    let place = move || {
        if http.get() {
            row(
                Part::Url,
                Look {
                    id: "server-url",
                    label: "Address",
                    hint: "",
                    placeholder: "https://example.com/mcp",
                    long: false,
                },
            )
        } else {
            view! {
                {row(Part::Command, Look { id: "server-command", label: "Command", hint: "A path, or a name that is found in PATH. No shell reads it.", placeholder: "npx", long: false })}
                <Split form />
                {row(Part::Args, Look { id: "server-args", label: "Arguments", hint: "One on each line, as it is: no quotes.", placeholder: "", long: true })}
            }
            .into_any()
        }
    };
    view! {
        {name}
        {row(Part::Title, Look { id: "server-title-field", label: "Title for people", hint: "", placeholder: "The same as the name", long: false })}
        <fieldset class="choices">
            <legend class="label">"How it is reached"</legend>
            {transport(false, "A program", "Toolshelf starts it on this machine (stdio).")}
            {transport(true, "An address", "Streamable HTTP.")}
        </fieldset>
        {place}
        {move || view! { <Secrets form mistakes http=http.get() /> }}
    }
    .into_any()
}

fn text_row(form: RwSignal<ServerForm>, part: Part, mistakes: Mistakes, look: Look) -> AnyView {
    let Look { id, label, hint, placeholder, long } = look;
    let mistake = Memo::new(move |_| mistakes.at(part.pointer()));
    let invalid = move || mistake.with(Option::is_some).then_some("true");
    let value = Memo::new(move |_| form.with(|form| form.text(part).to_owned()));
    let enter = move |event| form.update(|form| form.enter(part, event_target_value(&event)));
    let about = format!("{id}-hint {id}-mistake");
    let control = if long {
        view! { <textarea class="textarea mono" id=id rows="3" spellcheck="false" autocapitalize="none" aria-invalid=invalid aria-describedby=about prop:value=move || value.get() on:input=enter></textarea> }.into_any()
    } else {
        let mono = part != Part::Title;
        view! { <input class="input" class:mono=mono id=id placeholder=placeholder autocomplete="off" autocapitalize="none" spellcheck="false" aria-invalid=invalid aria-describedby=about prop:value=move || value.get() on:input=enter /> }.into_any()
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {control}
            <p class="hint" id=format!("{id}-hint")>{hint}</p>
            <p class="error" id=format!("{id}-mistake")>{move || mistake.get()}</p>
        </div>
    }
    .into_any()
}

/// Offers to take a whole command line apart that was pasted in the program's place.
#[component]
fn Split(form: RwSignal<ServerForm>) -> AnyView {
    let parts = Memo::new(move |_| {
        form.with(|form| split_command(form.text(Part::Command))).filter(|parts| parts.len() > 1)
    });
    (move || {
        parts.get().map(|parts| {
            let text = format!("Make it a program and {}", count(parts.len() - 1, "argument", "arguments"));
            let split = move |_| {
                form.update(|form| form.take_apart(parts.clone()));
                focus_by_id("server-args");
            };
            view! { <p><button class="btn small" type="button" on:click=split>{text}</button></p> }.into_any()
        })
    })
    .into_any()
}

/// Variables or headers, whose values nobody reads back.
#[component]
fn Secrets(form: RwSignal<ServerForm>, mistakes: Mistakes, http: bool) -> AnyView {
    let (title, add, list) = if http {
        ("Headers", "Add a header", "/connection/headers")
    } else {
        ("Environment variables", "Add a variable", "/connection/env")
    };
    let ids =
        Memo::new(move |_| form.with(|form| form.pairs().iter().map(|pair| pair.id).collect::<Vec<_>>()));
    let whole = move || {
        mistakes.fields.with(|fields| {
            fields.iter().find(|error| error.pointer == list).map(|error| error.message.clone())
        })
    };
    let add_one = move |_| {
        let id = form.try_update(ServerForm::add_pair).unwrap_or_default();
        request_animation_frame(move || focus_by_id(&format!("secret-{id}")));
    };
    view! {
        <fieldset class="secrets">
            <legend class="label">{title}</legend>
            {move || ids.get().into_iter().map(|id| view! { <Secret form mistakes id /> }).collect_view()}
            <p class="error">{whole}</p>
            <button class="btn small" type="button" on:click=add_one><Icon name="plus" />{add}</button>
            <p class="hint">"Values are kept encrypted and are never shown again."</p>
        </fieldset>
    }
    .into_any()
}

#[component]
fn Secret(form: RwSignal<ServerForm>, mistakes: Mistakes, id: u32) -> AnyView {
    // Just before a pair leaves it is asked for once more; it is then as good as empty.
    let pair = Memo::new(move |_| {
        form.with(|form| form.pairs().iter().find(|pair| pair.id == id).cloned()).unwrap_or_default()
    });
    let change = move |change: fn(&mut Pair, String), value: String| {
        form.update(|form| form.change_pair(id, |pair| change(pair, value)));
    };
    // What was there is recognised by its name, which therefore stays; what is new can be called anything.
    let was_there = pair.with_untracked(|pair| !pair.name.is_empty() && pair.value.is_empty());
    let keeps = Memo::new(move |_| pair.with(|pair| pair.keeps));
    let mistake = Memo::new(move |_| {
        let pointer = form.with(|form| pair.with(|pair| form.secret_pointer(&pair.name)));
        // A bare list is no field of its own.
        mistakes.fields.with(|fields| {
            fields.iter().find(|error| error.pointer == pointer).map(|error| error.message.clone())
        })
    });
    let invalid = move || mistake.with(Option::is_some).then_some("true");
    let remove = move |_| form.update(|form| form.remove_pair(id));
    let value = move || {
        if keeps.get() {
            let replace = move |_| {
                change(|pair, _| pair.keeps = false, String::new());
                request_animation_frame(move || focus_by_id(&format!("secret-value-{id}")));
            };
            view! { <span class="secret-set"><Icon name="lock" />"set"<button class="btn small" type="button" on:click=replace>"Replace"</button></span> }.into_any()
        } else {
            view! {
                <input
                    class="input mono"
                    type="password"
                    id=format!("secret-value-{id}")
                    placeholder="Value"
                    autocomplete="off"
                    aria-label="Value"
                    aria-invalid=invalid
                    aria-describedby=format!("secret-mistake-{id}")
                    prop:value=move || pair.with(|pair| pair.value.clone())
                    on:input=move |event| change(|pair, value| pair.value = value, event_target_value(&event))
                    on:keydown=stay
                />
            }
            .into_any()
        }
    };
    view! {
        <div class="secret">
            <input
                class="input mono"
                id=format!("secret-{id}")
                placeholder="NAME"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                aria-label="Name"
                readonly=was_there
                prop:value=move || pair.with(|pair| pair.name.clone())
                on:input=move |event| change(|pair, name| pair.name = name, event_target_value(&event))
                on:keydown=stay
            />
            {value}
            <button class="btn ghost square small" type="button" aria-label="Remove" title="Remove" on:click=remove><Icon name="close" /></button>
            <p class="error" id=format!("secret-mistake-{id}")>{move || mistake.get()}</p>
        </div>
    }
    .into_any()
}

/// Enter in a row of secrets does not send the form: another row may be meant to follow.
fn stay(event: KeyboardEvent) {
    if event.key() == "Enter" {
        event.prevent_default();
    }
}
