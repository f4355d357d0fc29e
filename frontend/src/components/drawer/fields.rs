//! The form that a tool's schema makes.

use leptos::prelude::*;
use toolshelf_frontend::model::form::{Entries, Field, Input, Mistakes};
use toolshelf_frontend::model::schema::plain;

use crate::components::{Icon, Prose};

/// All fields.
#[component]
pub(super) fn Fields(
    fields: StoredValue<Vec<Field>>,
    entries: RwSignal<Entries>,
    mistakes: RwSignal<Mistakes>,
) -> AnyView {
    let fields = fields.get_value();
    if fields.is_empty() {
        return view! { <p class="quiet">"It takes none."</p> }.into_any();
    }
    let one = move |(index, field): (usize, Field)| view! { <FieldView index field entries mistakes /> };
    let (needed, optional): (Vec<_>, Vec<_>) =
        fields.into_iter().enumerate().partition(|(_, field)| field.required);
    if needed.is_empty() || optional.len() < 2 {
        return needed.into_iter().chain(optional).map(one).collect_view().into_any();
    }
    // What is needed, the button and the answer fit on one screen; the rest is a click away, or open when it is wrong.
    let names: Vec<String> = optional.iter().map(|(_, field)| field.name.clone()).collect();
    let wrong = move || mistakes.with(|mistakes| names.iter().any(|name| mistakes.contains_key(name)));
    view! {
        {needed.into_iter().map(one).collect_view()}
        <details class="more" open=wrong>
            <summary>{format!("{} more arguments", optional.len())}</summary>
            <div class="more-body">{optional.into_iter().map(one).collect_view()}</div>
        </details>
    }
    .into_any()
}

/// The parts of a field that its input needs.
#[derive(Clone)]
struct Wire {
    id: String,
    described: String,
    name: String,
    entries: RwSignal<Entries>,
    mistakes: RwSignal<Mistakes>,
}

impl Wire {
    fn value(&self) -> String {
        self.entries.with(|entries| entries.get(&self.name).cloned().unwrap_or_default())
    }

    fn enter(&self, text: String) {
        self.entries.update(|entries| drop(entries.insert(self.name.clone(), text)));
        // A complaint about what is not there any more would mislead.
        if self.mistakes.with_untracked(|mistakes| mistakes.contains_key(&self.name)) {
            self.mistakes.update(|mistakes| drop(mistakes.remove(&self.name)));
        }
    }

    fn invalid(&self) -> Option<&'static str> {
        self.mistakes.with(|mistakes| mistakes.contains_key(&self.name)).then_some("true")
    }
}

#[component]
fn FieldView(
    index: usize,
    field: Field,
    entries: RwSignal<Entries>,
    mistakes: RwSignal<Mistakes>,
) -> AnyView {
    let id = format!("argument-{index}");
    let (about, wrong) = (format!("{id}-about"), format!("{id}-wrong"));
    let wire = Wire {
        id: id.clone(),
        described: format!("{about} {wrong}"),
        name: field.name.clone(),
        entries,
        mistakes,
    };
    let toggle = matches!(field.input, Input::Toggle { .. });
    let input = match &field.input {
        Input::Text => line(wire, "text", "text", field.required),
        Input::Integer => line(wire, "text", "numeric", field.required),
        Input::Number => line(wire, "text", "decimal", field.required),
        Input::Toggle { .. } => check(wire),
        Input::Choice(values) => choice(wire, values.iter().map(plain).collect(), field.required),
        Input::Lines => area(wire, "One for each line", false, field.required),
        Input::Json => area(wire, "JSON", true, field.required),
    };
    let name = field.name.clone();
    let mistake = move || {
        mistakes.with(|mistakes| mistakes.get(&name).cloned()).map(|text| {
            view! { <Icon name="alert" /><span>{text}</span> }
        })
    };
    let need = (field.required && !toggle).then(|| view! { <span class="need">"required"</span> });
    let kind = (!field.kind.is_empty()).then(|| view! { <span class="kind">{field.kind}</span> });
    let label = view! { <label for=id><span><code>{field.name}</code>{kind}</span>{need}</label> };
    let about_view = view! {
        <p class="hint" id=about>
            {(!field.description.is_empty()).then(|| view! { <span><Prose text=field.description /></span> })}
            {(!field.note.is_empty()).then(|| view! { <span class="note">{field.note}</span> })}
        </p>
    };
    let mistake = view! { <p class="error" id=wrong role="alert">{mistake}</p> };
    if toggle {
        view! { <div class="field"><div class="check">{input}{label}</div>{about_view}{mistake}</div> }
            .into_any()
    } else {
        view! { <div class="field">{label}{input}{about_view}{mistake}</div> }.into_any()
    }
}

fn line(wire: Wire, kind: &'static str, mode: &'static str, required: bool) -> AnyView {
    let (value, invalid) = (wire.clone(), wire.clone());
    view! {
        <input
            class="input"
            type=kind
            inputmode=mode
            id=wire.id.clone()
            spellcheck="false"
            autocapitalize="none"
            aria-required=if required { "true" } else { "false" }
            aria-describedby=wire.described.clone()
            aria-invalid=move || invalid.invalid()
            prop:value=move || value.value()
            on:input=move |event| wire.enter(event_target_value(&event))
        />
    }
    .into_any()
}

fn area(wire: Wire, placeholder: &'static str, code: bool, required: bool) -> AnyView {
    let (value, invalid) = (wire.clone(), wire.clone());
    view! {
        <textarea
            class="textarea"
            class:mono=code
            rows="3"
            id=wire.id.clone()
            placeholder=placeholder
            spellcheck="false"
            autocapitalize="none"
            aria-required=if required { "true" } else { "false" }
            aria-describedby=wire.described.clone()
            aria-invalid=move || invalid.invalid()
            prop:value=move || value.value()
            on:input=move |event| wire.enter(event_target_value(&event))
        ></textarea>
    }
    .into_any()
}

fn check(wire: Wire) -> AnyView {
    let (value, invalid) = (wire.clone(), wire.clone());
    view! {
        <input
            type="checkbox"
            id=wire.id.clone()
            aria-describedby=wire.described.clone()
            aria-invalid=move || invalid.invalid()
            prop:checked=move || value.value() == "true"
            on:change=move |event| wire.enter(if event_target_checked(&event) { "true".to_owned() } else { String::new() })
        />
    }
    .into_any()
}

fn choice(wire: Wire, values: Vec<String>, required: bool) -> AnyView {
    let (chosen, invalid) = (wire.clone(), wire.clone());
    let options = values.into_iter().enumerate().map(|(index, text)| {
        let wire = chosen.clone();
        let value = index.to_string();
        let own = value.clone();
        view! { <option value=value prop:selected=move || wire.value() == own>{text}</option> }
    });
    view! {
        <select
            class="select"
            id=wire.id.clone()
            aria-required=if required { "true" } else { "false" }
            aria-describedby=wire.described.clone()
            aria-invalid=move || invalid.invalid()
            on:change=move |event| wire.enter(event_target_value(&event))
        >
            <option value="">"Not set"</option>
            {options.collect_view()}
        </select>
    }
    .into_any()
}
