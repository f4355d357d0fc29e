//! Why a tool is here or missing: its way through the layers.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::explain::{Passage, fix_sentence, layer_title, waterfall};
use toolshelf_api::{Layer, Outcome, Tool, Verdict};
use toolshelf_frontend::model::explain::{Reason, reasons};
use toolshelf_frontend::model::route::Route;

use crate::components::{Go, Icon};
use crate::state::use_app;

/// The waterfall of a tool's verdict, for a call outside of a conversation.
#[component]
pub(super) fn Why(name: String, tool: Memo<Option<Arc<Tool>>>) -> impl IntoView {
    let app = use_app();
    let route = Route::Explain { tool: Some(name.clone()), place: String::new() };
    let verdict = app.verdict(name);
    let title = move || {
        let outcome = verdict.with(|verdict| verdict.as_ref().map(|verdict| verdict.outcome));
        match outcome {
            Some(Outcome::Removed) => "Why it is missing",
            Some(Outcome::Deferred) => "Why it is deferred",
            Some(Outcome::Offered) | None => "Why it is here",
        }
    };
    let needs_conversation =
        move || tool.with(|tool| tool.as_ref().is_some_and(|tool| tool.needs_conversation));
    let scope = move || {
        if needs_conversation() {
            "For you, over the web, outside of a conversation. Inside of one it is offered unless another layer stops it."
        } else {
            "For you, over the web, outside of a conversation."
        }
    };
    let body = move || match verdict.get() {
        Some(verdict) => view! { <Waterfall verdict /> }.into_any(),
        None => view! { <p class="quiet">"There is no verdict yet."</p> }.into_any(),
    };
    view! {
        <section>
            <div class="section-head"><h3>{title}</h3><Go route class="small">"Open as a page"</Go></div>
            <p class="quiet small">{scope}</p>
            {body}
        </section>
    }
}

/// The way through all layers, and what would change it.
#[component]
pub(crate) fn Waterfall(
    verdict: Arc<Verdict>,
    /// Whether each layer gives all of its reasons, with who decided and what would change it. Otherwise each gives one,
    /// and what would change it is said below.
    #[prop(optional)]
    whole: bool,
) -> AnyView {
    let deferred = verdict.outcome == Outcome::Deferred;
    let all = if whole { reasons(&verdict) } else { Vec::new() };
    let steps = waterfall(&verdict).into_iter().map(|step| {
        let (class, icon, said) = match step.passage {
            Passage::Passed => ("step passed", "check", "passed"),
            Passage::Stopped if deferred => ("step deferred", "later", "deferred"),
            Passage::Stopped => ("step stopped", "stop", "stopped here"),
            Passage::AlsoStops => ("step stopped also", "stop", "would stop it too"),
            Passage::NotReached => ("step after", "dash", "not reached"),
        };
        let here: Vec<_> = all.iter().filter(|reason| reason.layer == step.layer).map(cause).collect();
        let text = if here.is_empty() { step.text.into_any() } else { here.into_any() };
        view! {
            <li class=class>
                <span class="step-layer">{short(step.layer)}</span>
                <span class="step-text"><b>{layer_title(step.layer)}</b><span dir="auto">{text}</span></span>
                <Icon name=icon />
                <span class="visually-hidden">{said}</span>
            </li>
        }
    });
    let fix = (!whole).then(|| {
        let mut fixes: Vec<String> =
            verdict.fix.iter().chain(verdict.also.iter().map(|cause| &cause.fix)).map(fix_sentence).collect();
        fixes.dedup();
        (!fixes.is_empty()).then(|| {
            view! { <p class="fix"><Icon name="info" /><span>{fixes.join(" ")}</span></p> }
        })
    });
    view! { <ol class="waterfall">{steps.collect_view()}</ol> {fix} }.into_any()
}

/// One reason of a layer.
fn cause(reason: &Reason) -> AnyView {
    let who = if reason.who.is_empty() { String::new() } else { format!("Decided by {}. ", reason.who) };
    let more = who + reason.fix.as_deref().unwrap_or_default();
    view! { <span class="cause">{reason.text.clone()}<small>{more}</small></span> }.into_any()
}

fn short(layer: Layer) -> &'static str {
    match layer {
        Layer::L1 => "L1",
        Layer::L2 => "L2",
        Layer::L2b => "L2b",
        Layer::L3 => "L3",
        Layer::L4 => "L4",
        Layer::L5 => "L5",
        Layer::Retention => "Ret.",
        Layer::L6 => "L6",
    }
}
