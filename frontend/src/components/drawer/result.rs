//! What a call returned.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::{CallResult, Problem};
use toolshelf_frontend::model::form::pretty;
use toolshelf_frontend::model::text::duration;

use super::try_it::Run;
use super::why::Waterfall;
use crate::components::{Copy, Icon, show_by_id};

/// How a call ended.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// The tool ran; it may have failed.
    Result(CallResult),
    /// The tool did not run.
    Refused(Box<Problem>),
    /// No answer came.
    Failed(String),
    /// The person cancelled.
    Cancelled,
}

/// The result of the last call, or nothing.
#[component]
pub(super) fn ResultPanel(run: RwSignal<Run>) -> AnyView {
    let content = move || {
        match run.get() {
        Run::Idle | Run::Running(_) => ().into_any(),
        Run::Done(Done::Result(result)) => returned(result),
        Run::Done(Done::Refused(problem)) => refused(*problem),
        Run::Done(Done::Failed(sentence)) => {
            view! { <div class="notice bad"><Icon name="alert" /><p>{sentence}</p></div> }.into_any()
        }
        Run::Done(Done::Cancelled) => {
            view! { <div class="notice"><Icon name="info" /><p>"Cancelled. The tool may have done part of its work."</p></div> }.into_any()
        }
    }
    };
    // The answer can be below the fold; whoever asked wants to see it.
    Effect::new(move |_| {
        if matches!(run.get(), Run::Done(_)) {
            request_animation_frame(|| show_by_id("result"));
        }
    });
    view! { <div class="result" id="result" role="status" aria-label="Result" data-testid="result">{content}</div> }
        .into_any()
}

fn returned(result: CallResult) -> AnyView {
    let text = result.text.clone();
    let code = result.code.map(|code| view! { <code>{code}</code> });
    let data = result.data.map(|data| {
        let data = pretty(&data);
        let copied = data.clone();
        view! {
            <details class="more">
                <summary>"Data"</summary>
                <div class="result-head"><Copy what="the data" text=Signal::derive(move || copied.clone()) /></div>
                <pre class="code" tabindex="0" role="group" aria-label="Data">{data}</pre>
            </details>
        }
    });
    let badge = if result.is_error {
        view! { <span class="badge bad">"the tool failed"</span> }.into_any()
    } else {
        view! { <span class="badge ok"><Icon name="check" />"done"</span> }.into_any()
    };
    let empty = result.text.is_empty();
    view! {
        <div class="result-head">
            {badge}
            {code}
            <span class="quiet small num">{duration(result.duration_ms)}</span>
            {(!empty).then(|| view! { <Copy what="the result" text=Signal::derive(move || text.clone()) /> })}
        </div>
        {if empty {
            view! { <p class="quiet">"It returned no text."</p> }.into_any()
        } else {
            view! { <pre class="code" class:bad=result.is_error tabindex="0" role="group" aria-label="Text">{result.text}</pre> }.into_any()
        }}
        {data}
    }
    .into_any()
}

fn refused(problem: Problem) -> AnyView {
    let id = (!problem.request_id.is_empty()).then(|| {
        view! { <p class="small quiet">"Request "<code>{problem.request_id}</code></p> }
    });
    let verdict = problem.verdict.map(|verdict| view! { <Waterfall verdict=Arc::new(verdict) /> });
    view! {
        <div class="notice bad">
            <Icon name="stop" />
            <div><p>{problem.detail}</p>{id}</div>
        </div>
        {verdict}
    }
    .into_any()
}
