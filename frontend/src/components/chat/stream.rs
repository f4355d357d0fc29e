//! What was said, and what is being said.

use leptos::html::Div;
use leptos::prelude::*;
use serde_json::Value;
use toolshelf_api::{Message, MessageRole, NodeKind, RunNode, RunState};
use toolshelf_frontend::model::chat::override_words;
use toolshelf_frontend::model::markdown::{Block, Span, blocks};

use crate::components::Icon;
use crate::state::use_chat;

/// How far from the end the reader may be for the end to stay in view.
const NEAR: i32 = 120;

#[component]
pub(crate) fn Stream() -> AnyView {
    let chat = use_chat();
    let scroller = NodeRef::<Div>::new();
    let at_end = StoredValue::new(true);
    let look = move |_| {
        if let Some(element) = scroller.get_untracked() {
            let left = element.scroll_height() - element.scroll_top() - element.client_height();
            at_end.set_value(left < NEAR);
        }
    };
    // The end stays in view for whoever reads it, and for nobody else.
    Effect::new(move |_| {
        chat.messages.track();
        chat.run.track();
        if at_end.get_value() {
            request_animation_frame(move || {
                if let Some(element) = scroller.get_untracked() {
                    element.set_scroll_top(element.scroll_height());
                }
            });
        }
    });
    Effect::new(move |_| {
        chat.id.track();
        at_end.set_value(true);
    });
    let empty = move || {
        chat.messages.with(Vec::is_empty)
            && chat.run.with(Option::is_none)
            && chat.trouble.with(Option::is_none)
    };
    let trouble = move || {
        chat.trouble.get().map(|sentence| {
            view! { <div class="notice bad" role="alert"><Icon name="alert" /><p>{sentence}</p></div> }
        })
    };
    let ended = move || {
        chat.run.with(|run| {
            let run = run.as_ref()?;
            let detail = run.detail.clone()?;
            (run.state != RunState::Running).then(
                || view! { <div class="notice warn" role="alert"><Icon name="alert" /><p>{detail}</p></div> },
            )
        })
    };
    view! {
        <div class="stream" node_ref=scroller on:scroll=look tabindex="0" role="log" aria-label="Messages">
            <div class="stream-inner">
                {move || chat.older.with(Option::is_some).then(|| view! {
                    <button class="btn small" type="button" on:click=move |_| chat.load_older()>"Older messages"</button>
                })}
                {trouble}
                {move || empty().then(|| view! { <Welcome /> })}
                <For each=move || chat.messages.get() key=|message| message.id.clone() children=move |message| view! { <Said message /> } />
                <Live />
                {ended}
            </div>
        </div>
    }
    .into_any()
}

/// What a new conversation can do.
#[component]
fn Welcome() -> AnyView {
    let chat = use_chat();
    let example = move |text: &'static str, about: &'static str| {
        view! {
            <li>
                <button class="btn mono" type="button" on:click=move |_| chat.say(text.to_owned(), None)>{text}</button>
                <span class="sub">{about}</span>
            </li>
        }
    };
    view! {
        <div class="welcome">
            <h2>"See what a model would see"</h2>
            <p class="sub">"This is the tool console. It is no language model: it shows which tools a message would carry, why others are left out, and runs a tool through every gate."</p>
            <ul role="list">
                {example("/tools", "lists the tools of this conversation")}
                {example("/why web_fetch", "says what was decided about one")}
                {example("/search files", "finds tools among them")}
                {example("/call list {}", "runs one")}
            </ul>
        </div>
    }
    .into_any()
}

#[component]
fn Said(message: Message) -> AnyView {
    let chat = use_chat();
    let said = message.tools_override.as_ref().map(override_words).filter(|words| !words.is_empty());
    match message.role {
        MessageRole::User => {
            let (text, again) = (message.text.clone(), message.tools_override.clone());
            view! {
                <article class="said user" aria-label="You">
                    <p>{message.text}</p>
                    {said.map(|words| view! { <p class="said-tools sub"><Icon name="shelf" />{words}</p> })}
                    <button
                        class="btn ghost small again"
                        type="button"
                        disabled=move || chat.is_running()
                        on:click=move |_| chat.say(text.clone(), again.clone())
                    >"Send again"</button>
                </article>
            }
            .into_any()
        }
        MessageRole::Assistant => {
            let nothing = message.text.is_empty();
            let cut = cut_words(message.state, message.detail);
            view! {
                <article class="said model" aria-label="Answer">
                    {message.calls.into_iter().map(|node| view! { <Card node /> }).collect_view()}
                    <Answer text=message.text />
                    {nothing.then(|| view! { <p class="sub">"It ended without an answer."</p> })}
                    {cut.map(|words| view! { <div class="notice warn"><Icon name="alert" /><p>{words}</p></div> })}
                </article>
            }
            .into_any()
        }
    }
}

/// What to say below an answer that did not come to its end.
fn cut_words(state: RunState, detail: Option<String>) -> Option<String> {
    match state {
        RunState::Running | RunState::Done => None,
        RunState::Cancelled => Some(detail.unwrap_or_else(|| "It was stopped before its end.".to_owned())),
        RunState::Failed | RunState::Interrupted => {
            Some(detail.unwrap_or_else(|| "It did not come to its end.".to_owned()))
        }
    }
}

/// The run that goes on.
#[component]
fn Live() -> AnyView {
    let chat = use_chat();
    (move || {
        chat.run.with(|run| {
            let run = run.as_ref()?;
            let calls = run.nodes.iter().filter(|node| node.kind == NodeKind::ToolCall).cloned();
            let calls = calls.map(|node| view! { <Card node /> }).collect_view();
            let text = run.nodes.iter().rev().find(|node| node.kind == NodeKind::ModelCall);
            let text = text.map(|node| node.text.clone()).unwrap_or_default();
            let running = run.state == RunState::Running;
            Some(view! {
                <article class="said model" aria-label="Answer" aria-busy=if running { "true" } else { "false" }>
                    {calls}
                    <Answer text />
                    {running.then(|| view! { <p class="working" role="status"><i></i>"Working"</p> })}
                </article>
            })
        })
    })
    .into_any()
}

/// A text of a model. Everything in it is text; nothing is markup.
#[component]
fn Answer(text: String) -> AnyView {
    blocks(&text).into_iter().map(|block| match block {
        Block::Text(spans) => view! { <p>{inline(spans)}</p> }.into_any(),
        Block::List(items) => {
            view! { <ul>{items.into_iter().map(|item| view! { <li>{inline(item)}</li> }).collect_view()}</ul> }.into_any()
        }
        Block::Code(code) => view! { <pre class="code" tabindex="0">{code}</pre> }.into_any(),
    }).collect_view().into_any()
}

fn inline(spans: Vec<Span>) -> AnyView {
    spans
        .into_iter()
        .map(|span| match span {
            Span::Plain(text) => text.into_any(),
            Span::Code(text) => view! { <code>{text}</code> }.into_any(),
            Span::Strong(text) => view! { <strong>{text}</strong> }.into_any(),
        })
        .collect_view()
        .into_any()
}

/// A call of a tool.
#[component]
fn Card(node: RunNode) -> AnyView {
    let (class, icon, state) = match (node.state, &node.code) {
        (RunState::Running, _) => ("badge info", "later", "running".to_owned()),
        (RunState::Done, None) => ("badge ok", "check", "done".to_owned()),
        (RunState::Cancelled, _) => ("badge warn", "stop", "stopped".to_owned()),
        (RunState::Interrupted, _) => ("badge warn", "alert", "interrupted".to_owned()),
        (_, code) => {
            ("badge bad", "alert", code.clone().unwrap_or_else(|| "failed".to_owned()).replace('_', " "))
        }
    };
    let arguments = node
        .arguments
        .as_ref()
        .filter(|arguments| arguments.as_object().is_none_or(|object| !object.is_empty()));
    let arguments = arguments.and_then(|arguments: &Value| serde_json::to_string_pretty(arguments).ok());
    view! {
        <section class="card" aria-label=format!("Call of {}", node.name) data-testid="tool-card">
            <header><code>{node.name.clone()}</code><span class=class><Icon name=icon /><span>{state}</span></span></header>
            {arguments.map(|arguments| view! { <pre class="code" tabindex="0">{arguments}</pre> })}
            {(!node.text.is_empty()).then(|| view! { <details open=node.code.is_some()><summary>"Result"</summary><pre class="code" tabindex="0">{node.text.clone()}</pre></details> })}
        </section>
    }
    .into_any()
}
