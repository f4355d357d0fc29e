//! The first tab: description, parameters, schema, source, and why.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_api::Tool;
use toolshelf_frontend::model::form::pretty;

use super::params::Params;
use super::place::Place;
use super::why::Why;
use super::{Retry, Schema, Skeleton};
use crate::components::{Copy, Icon, Prose, Time};

/// Everything there is to know about a tool.
#[component]
pub(super) fn Details(
    name: String,
    tool: Memo<Option<Arc<Tool>>>,
    schema: RwSignal<Schema>,
    retry: Callback<()>,
) -> impl IntoView {
    let disabled = move || {
        let disabled = tool.get()?.disabled.clone()?;
        Some(view! {
            <div class="notice bad">
                <Icon name="stop" />
                <div>
                    <p>{format!("{} disabled it for everyone", disabled.by)}</p>
                    <p class="small">{disabled.reason}</p>
                    <p class="small quiet"><Time at=disabled.at /></p>
                </div>
            </div>
        })
    };
    let unavailable = move || {
        let tool = tool.get()?;
        (!tool.available.ok).then(|| {
            let reason = tool.available.reason.clone().unwrap_or_else(|| "Its check gives no reason.".to_owned());
            view! { <div class="notice warn"><Icon name="alert" /><div><p>"It cannot run now"</p><p class="small">{reason}</p></div></div> }
        })
    };
    let description = move || tool.with(|tool| tool.as_ref().map(|tool| tool.description.trim().to_owned()));
    let parameters = move || match schema.get() {
        Schema::Loading => view! { <Skeleton /> }.into_any(),
        Schema::Known(schema) => {
            view! { <Params schema=Arc::clone(&schema) /> <RawSchema text=pretty(&schema) /> }.into_any()
        }
        Schema::Unknown { sentence, .. } => view! { <Retry sentence retry /> }.into_any(),
    };
    view! {
        {disabled}
        {unavailable}
        <p class="prose">{move || description().map(|text| view! { <Prose text /> })}</p>
        <section>
            <h3>"Parameters"</h3>
            {parameters}
        </section>
        <Why name tool />
        <section>
            <h3>"Source"</h3>
            {move || tool.get().map(|tool| view! { <Place tool /> })}
        </section>
    }
}

#[component]
fn RawSchema(text: String) -> AnyView {
    let open = RwSignal::new(false);
    let copied = text.clone();
    view! {
        <div class="raw">
            <div class="raw-head">
                <button
                    class="btn small ghost disclosure"
                    type="button"
                    aria-expanded=move || if open.get() { "true" } else { "false" }
                    aria-controls="raw-schema"
                    on:click=move |_| open.update(|open| *open = !*open)
                >
                    <Icon name="down" />"Schema"
                </button>
                {move || open.get().then(|| {
                    let text = copied.clone();
                    view! { <Copy what="the schema" text=Signal::derive(move || text.clone()) /> }
                })}
            </div>
            <pre class="code" id="raw-schema" tabindex="0" role="group" aria-label="Schema" hidden=move || !open.get()>{text}</pre>
        </div>
    }
    .into_any()
}
