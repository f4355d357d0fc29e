//! Parameters as a tree.

use std::sync::Arc;

use leptos::prelude::*;
use serde_json::Value;
use toolshelf_frontend::model::schema::{Param, tree};

use crate::components::Prose;

/// The parameters of a tool.
#[component]
pub(super) fn Params(schema: Arc<Value>) -> AnyView {
    let params = tree(&schema);
    if params.is_empty() {
        return view! { <p class="quiet">"It takes none."</p> }.into_any();
    }
    list(params)
}

fn list(params: Vec<Param>) -> AnyView {
    view! { <ul class="params">{params.into_iter().map(param).collect_view()}</ul> }.into_any()
}

fn param(param: Param) -> AnyView {
    let need = if param.required { "required" } else { "optional" };
    let mut notes = param.limits;
    if let Some(default) = param.default {
        notes.push(format!("default {default}"));
    }
    let choices = (!param.choices.is_empty()).then(|| {
        let choices = param.choices.into_iter().map(|choice| view! { <code>{choice}</code> }).collect_view();
        view! { <p class="param-choices">{choices}</p> }
    });
    view! {
        <li class="param">
            <p class="param-head">
                <code>{param.name}</code>
                <span class="param-kind">{param.kind}</span>
                <span class="param-need" class:required=param.required>{need}</span>
            </p>
            {(!param.description.is_empty()).then(|| view! { <p class="param-text"><Prose text=param.description /></p> })}
            {choices}
            {(!notes.is_empty()).then(|| view! { <p class="param-notes">{notes.join(" · ")}</p> })}
            {param.cut.map(|cut| view! { <p class="param-notes">{cut}</p> })}
            {(!param.children.is_empty()).then(|| list(param.children))}
        </li>
    }
    .into_any()
}
