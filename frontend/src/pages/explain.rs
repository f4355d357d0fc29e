//! Why a tool is here, or not: one tool, one place, every layer.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{Conversation, Outcome, Resolve, Verdict};
use toolshelf_frontend::model::explain::{outcome, outcomes};
use toolshelf_frontend::model::route::{NEW, Route};
use toolshelf_frontend::model::text::thousands;

use crate::components::{Go, Icon, ToolChoice, Waterfall};
use crate::state::use_app;

/// What is known about the place.
#[derive(Clone, PartialEq)]
enum Asked {
    Loading,
    Known(Arc<Vec<Verdict>>),
    Failed(String),
}

/// The question above, the answer below.
#[component]
pub(crate) fn ExplainPage() -> AnyView {
    let app = use_app();
    let asked_for = Memo::new(move |before: Option<&(Option<String>, String)>| {
        app.route.with(|route| match route {
            Route::Explain { tool, place } => (tool.clone(), place.clone()),
            // Just before the page goes it is asked once more; it then stays as it was.
            _ => before.cloned().unwrap_or_default(),
        })
    });
    let tool = Memo::new(move |_| asked_for.with(|(tool, _)| tool.clone()));
    let place = Memo::new(move |_| asked_for.with(|(_, place)| place.clone()));
    let talks = RwSignal::new(Vec::<Conversation>::new());
    spawn_local(async move {
        if let Ok(page) = app.api().conversations().await {
            talks.try_set(page.items);
        }
    });
    let known = RwSignal::new(Asked::Loading);
    Effect::new(move |_| {
        // What was decided before may be decided otherwise now.
        app.catalog.track();
        let place = place.get();
        let (new_conversation, conversation_id) = match place.as_str() {
            "" => (false, None),
            NEW => (true, None),
            id => (false, Some(id.to_owned())),
        };
        let resolve = Resolve { new_conversation, conversation_id, ..Resolve::default() };
        spawn_local(async move {
            let answer = match app.api().offer(&resolve).await {
                Ok(offer) => Asked::Known(Arc::new(offer.verdicts)),
                Err(failure) => Asked::Failed(failure.sentence()),
            };
            // Another place may have been chosen in the meantime.
            if asked_for.try_with_untracked(|(_, now)| *now == place) == Some(true) {
                known.try_set(answer);
            }
        });
    });
    let verdict = Memo::new(move |_| {
        let name = tool.get()?;
        known.with(|known| match known {
            Asked::Known(verdicts) => {
                verdicts.iter().find(|verdict| *verdict.tool == *name).cloned().map(Arc::new)
            }
            Asked::Loading | Asked::Failed(_) => None,
        })
    });
    let title = move || {
        let outcome = verdict.with(|verdict| verdict.as_ref().map(|verdict| verdict.outcome));
        let after = match outcome {
            Some(Outcome::Removed) => " missing?",
            Some(Outcome::Deferred) => " deferred?",
            Some(Outcome::Offered) => " here?",
            None => " here, or not?",
        };
        match tool.get() {
            Some(name) => view! { "Why is "<code>{name}</code>{after} }.into_any(),
            None => "Why is a tool here, or not?".into_any(),
        }
    };
    let choose = Callback::new(move |name: String| {
        app.go(Route::Explain { tool: Some(name), place: place.get_untracked() });
    });
    let go = move |event| {
        known.set(Asked::Loading);
        app.go(Route::Explain { tool: tool.get_untracked(), place: event_target_value(&event) });
    };
    let options = move || {
        let place = place.get();
        let listed = talks.with(|talks| talks.iter().any(|talk| talk.id == place));
        let own = (!listed && !place.is_empty() && place != NEW)
            .then(|| view! { <option value=place.clone() selected=true>"This conversation"</option> });
        let talk = |talk: &Conversation| {
            view! { <option value=talk.id.clone() prop:selected=talk.id == place>{talk.title.clone()}</option> }.into_any()
        };
        view! {
            <option value="" prop:selected=place.is_empty()>"Outside of a conversation"</option>
            <option value=NEW prop:selected=place == NEW>"In a new conversation"</option>
            {own}
            {talks.with(|talks| talks.iter().map(talk).collect_view())}
        }
        .into_any()
    };
    let answer = move || {
        match (known.get(), tool.get()) {
        (Asked::Failed(sentence), _) => {
            view! { <div class="notice bad" role="alert"><Icon name="alert" /><p>{sentence}</p></div> }.into_any()
        }
        (_, None) => view! { <p class="sub">"Choose a tool. Each layer then says what it did, who decided, and what would change it."</p> }.into_any(),
        (Asked::Loading, Some(_)) => {
            view! { <div class="skeleton short" role="status" aria-label="Loading"><i></i><i></i><i></i></div> }.into_any()
        }
        (Asked::Known(_), Some(name)) => match verdict.get() {
            Some(verdict) => view! { <Answer name verdict /> }.into_any(),
            None => view! { <NoVerdict name /> }.into_any(),
        },
    }
    };
    let all = move || {
        known.with(|known| match known {
            Asked::Known(verdicts) => {
                let [offered, deferred, removed] = outcomes(verdicts).map(|number| thousands(number as u64));
                let total = thousands(verdicts.len() as u64);
                Some(format!(
                    "All {total} tools there: {offered} offered, {deferred} deferred, {removed} missing."
                ))
            }
            Asked::Loading | Asked::Failed(_) => None,
        })
    };
    view! {
        <main class="content explain-page" id="main" tabindex="-1">
            <div class="explain">
                <h1>{title}</h1>
                <div class="explain-asked">
                    <ToolChoice tool choose />
                    <div class="field">
                        <label for="explain-place">"Where"</label>
                        <select class="select" id="explain-place" on:change=go>{options}</select>
                    </div>
                </div>
                <p class="quiet small">"For you, over the web."</p>
                <div aria-live="polite" class="explain-answer">{answer}</div>
                <p class="quiet small num">{all}</p>
            </div>
        </main>
    }
    .into_any()
}

/// The outcome, the way through the layers with every reason, and where to go on.
#[component]
fn Answer(name: String, verdict: Arc<Verdict>) -> AnyView {
    let app = use_app();
    let (class, icon) = match verdict.outcome {
        Outcome::Offered => ("notice ok", "check"),
        Outcome::Deferred => ("notice", "later"),
        Outcome::Removed => ("notice bad", "stop"),
    };
    let tool = app.tool(name.clone());
    let enable = move || {
        let tool = tool.get().filter(|tool| app.is_admin() && tool.disabled.is_some())?;
        Some(
            view! { <button class="btn small" type="button" on:click=move |_| app.enable(&tool)>"Enable for everyone"</button> },
        )
    };
    let server = move || {
        let name = tool.get()?.source.strip_prefix("mcp:")?.to_owned();
        Some(view! { <Go route=Route::Upstreams { name: Some(name) } class="btn small">"Its server"</Go> })
    };
    let text = outcome(&verdict);
    view! {
        <div class=class><Icon name=icon /><p dir="auto">{text}</p></div>
        <Waterfall verdict whole=true />
        <p class="actions">
            {enable}
            <Go route=Route::Functions { tool: Some(name) } class="btn small">"Open the tool"</Go>
            {server}
        </p>
    }
    .into_any()
}

/// The tool has no verdict: it did not enter the registry, or there is none of this name.
#[component]
fn NoVerdict(name: String) -> AnyView {
    let app = use_app();
    let reason = app.catalog.with(|catalog| {
        let found = catalog.not_registered.iter().find(|tool| *tool.name == *name);
        found.map(|tool| tool.reason.to_string())
    });
    let text = match reason {
        Some(reason) => format!("{name} was declared but not registered (L1): {reason}"),
        None => format!(
            "There is no tool called {name}. It may have been renamed, or its server is not connected."
        ),
    };
    view! { <div class="notice bad"><Icon name="stop" /><p dir="auto">{text}</p></div> }.into_any()
}
