//! One server: whether it answers, what it brings, what waits, and what it says.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use toolshelf_api::{ServerState, Tool, UpdateMcpServer};
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::text::{count, summary, thousands};
use toolshelf_frontend::model::upstream::{Server, visible};

use super::changes::Changes;
use super::settings::Settings;
use super::{Dot, ONE_ACCOUNT, StatusLine, Untrusted};
use crate::components::{Badges, Copy, Go, Icon, Time, focus_by_id};
use crate::state::{ServerAsk, use_app};

/// More tools than these are looked at among the functions, where the list is windowed and has a filter.
const SHOWN_TOOLS: usize = 60;

/// A server that is followed; none while the list holds no such server.
type Followed = Memo<Option<Arc<Server>>>;

/// The panel beside the list; on phones it covers the page.
#[component]
pub(crate) fn ServerDetails(name: String) -> AnyView {
    let app = use_app();
    let server = app.server(name.clone());
    let panel = NodeRef::<Div>::new();
    Effect::new(move |_| {
        if panel.get().is_some() {
            focus_by_id("server-title");
        }
    });
    let exists = Memo::new(move |_| server.with(Option::is_some));
    let known = app.upstreams.known;
    let heading = {
        let name = name.clone();
        move || {
            server.with(|server| server.as_ref().map_or_else(|| name.clone(), |server| server.title.clone()))
        }
    };
    let body = move || {
        match (exists.get(), known.get()) {
        (true, _) => view! { <Body name=name.clone() server /> }.into_any(),
        (false, false) => {
            view! { <div class="skeleton short" role="status" aria-label="Loading"><i></i><i></i><i></i></div> }.into_any()
        }
        (false, true) => view! {
            <div class="state">
                <Icon name="search" />
                <h3>"There is no server of this name"</h3>
                <p class="sub">"It may have been removed."</p>
            </div>
        }
        .into_any(),
    }
    };
    view! {
        <div
            class="drawer server-drawer"
            role="dialog"
            aria-modal=move || if app.narrow.get() { "true" } else { "false" }
            aria-labelledby="server-title"
            node_ref=panel
        >
            <header class="drawer-head">
                <h2 id="server-title" tabindex="-1" dir="auto">{heading}</h2>
                <button class="btn ghost square small" type="button" aria-label="Close" title="Close (Esc)" on:click=move |_| app.open_server(None)>
                    <Icon name="close" />
                </button>
            </header>
            {body}
        </div>
    }
    .into_any()
}

#[component]
fn Body(name: String, server: Followed) -> AnyView {
    let app = use_app();
    let admin = app.is_admin();
    // Each part is drawn again only when what it shows changed, so that neither focus nor scrolling is lost.
    let status = Memo::new(move |_| {
        let server = server.get()?;
        Some((server.status.clone(), server.tool_count, server.settings.expose, server.settings.defer))
    });
    let told = Memo::new(move |_| {
        let server = server.get()?;
        Some((server.connection.clone(), server.info.clone(), server.rejected.clone()))
    });
    let log = Memo::new(move |_| server.get().map(|server| server.log.clone()).unwrap_or_default());
    let summary = move || {
        // A memo that is only tracked is never made.
        status.with(|_| ());
        server.get_untracked().map(|server| view! { <Summary server /> })
    };
    let facts = move || {
        told.with(|_| ());
        server
            .get_untracked()
            .map(|server| view! { <Rejected server=Arc::clone(&server) /> <Facts server /> })
    };
    let log = move || {
        let lines = log.get();
        (!lines.is_empty()).then(|| view! { <Log text=lines.join("\n") /> })
    };
    view! {
        <div class="drawer-sum">{summary}</div>
        <div class="drawer-bar server-bar">{admin.then(|| view! { <Actions server /> })}</div>
        <div class="drawer-body" tabindex="0" role="region" aria-label="Details">
            <p class="fix"><Icon name="info" /><span>{ONE_ACCOUNT}</span></p>
            <Changes name=name.clone() server />
            <Tools name server />
            {admin.then(|| view! { <Settings server /> })}
            {facts}
            {log}
        </div>
    }
    .into_any()
}

/// The state with its reason, since when, and the figures.
#[component]
fn Summary(server: Arc<Server>) -> AnyView {
    let state = server.status.state;
    let since = server.status.since.clone();
    let badge = |shown: bool, text: &'static str| {
        shown.then(|| view! { <span class="badge"><span>{text}</span></span> })
    };
    let tools = count(usize::try_from(server.tool_count).unwrap_or(usize::MAX), "tool", "tools");
    view! {
        <div class=if state == ServerState::Down { "server-state down" } else { "server-state" }>
            <Dot state />
            <p role="status"><StatusLine server=Arc::clone(&server) /><span class="quiet small">"since "<Time at=since /></span></p>
        </div>
        <div class="drawer-badges">
            <code class="badge">{server.name.clone()}</code>
            <span class="badge num">{tools}</span>
            {badge(server.settings.defer, "deferred")}
            {badge(!server.settings.expose, "hidden from models")}
        </div>
    }
    .into_any()
}

/// What an admin can do with the server.
#[component]
fn Actions(server: Followed) -> AnyView {
    let app = use_app();
    let state = Memo::new(move |_| server.get().map(|server| server.status.state));
    let enabled = Memo::new(move |_| server.get().is_some_and(|server| server.enabled));
    let now = move || server.get_untracked();
    let refresh = move |_| {
        if let Some(server) = now() {
            app.refresh_server(server.name.clone());
        }
    };
    let turn = move |_| {
        if let Some(server) = now() {
            let change = UpdateMcpServer { enabled: Some(!server.enabled), ..UpdateMcpServer::default() };
            app.change_server(&server, change, if server.enabled { "disabled." } else { "enabled." });
        }
    };
    view! {
        <div class="actions">
            {move || enabled.get().then(|| view! {
                <button class="btn small" type="button" disabled=move || state.get() == Some(ServerState::Connecting) on:click=refresh>
                    <Icon name="retry" />{move || if state.get() == Some(ServerState::Ready) { "Refresh" } else { "Connect now" }}
                </button>
            })}
            <button class="btn small" type="button" on:click=move |_| app.upstreams.ask.set(now().map(ServerAsk::Edit))>"Edit"</button>
            <button class="btn small" type="button" on:click=turn>{move || if enabled.get() { "Disable" } else { "Enable" }}</button>
            <button class="btn small danger" type="button" on:click=move |_| app.upstreams.ask.set(now().map(ServerAsk::Remove))>"Remove"</button>
        </div>
    }
    .into_any()
}

/// The first tools, and the way to all of them.
#[component]
fn Tools(name: String, server: Followed) -> AnyView {
    let app = use_app();
    let tools = {
        let name = name.clone();
        Memo::new(move |_| app.catalog.with(|catalog| catalog.of_server(&name).cloned().collect::<Vec<_>>()))
    };
    let filter = format!("mcp:{name}");
    let href = format!("/functions?q=mcp%3A{name}");
    let show_all = move |event: web_sys::MouseEvent| {
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            app.profiles.open.set(None);
            app.clear_filter();
            app.query.set(filter.clone());
            app.go(Route::Functions { tool: None });
        }
    };
    let rows = move || {
        tools.with(|tools| {
            let row = |tool: Arc<Tool>| {
                let (method, about) = (tool.method.clone(), summary(&tool.description));
                let route = Route::Functions { tool: Some(tool.name.clone()) };
                view! {
                    <li>
                        <span class="server-tool"><Go route class="mono">{method}</Go><span class="row-badges"><Badges tool /></span></span>
                        <span class="quiet small" dir="auto">{about}</span>
                    </li>
                }
                .into_any()
            };
            tools.iter().take(SHOWN_TOOLS).cloned().map(row).collect_view()
        })
    };
    let more = move || {
        let more = tools.with(Vec::len).saturating_sub(SHOWN_TOOLS);
        (more > 0)
            .then(|| view! { <p class="quiet small">{format!("And {} more.", thousands(more as u64))}</p> })
    };
    let down = Memo::new(move |_| {
        server.with(|server| server.as_ref().is_some_and(|server| server.status.state != ServerState::Ready))
    });
    let none = move || tools.with(Vec::is_empty);
    view! {
        <section>
            <div class="section-head">
                <h3>{move || count(tools.with(Vec::len), "tool", "tools")}</h3>
                {move || (!none()).then(|| view! { <a class="small" href=href.clone() on:click=show_all.clone()>"Show among the functions"</a> })}
            </div>
            {move || none().then(|| view! { <p class="quiet">"None of its tools is in the catalog."</p> })}
            <ul class="server-tool-list" class:down=move || down.get() role="list">{rows}</ul>
            {more}
        </section>
    }
    .into_any()
}

/// Tools that did not enter the registry.
#[component]
fn Rejected(server: Arc<Server>) -> AnyView {
    if server.rejected.is_empty() {
        return ().into_any();
    }
    let title = count(server.rejected.len(), "rejected tool", "rejected tools");
    let row = |(name, reason): (String, String)| {
        view! { <li><code dir="auto">{visible(&name)}</code><span dir="auto">{visible(&reason)}</span></li> }
            .into_any()
    };
    let rows =
        server.rejected.iter().map(|tool| row((tool.name.clone(), tool.reason.clone()))).collect_view();
    view! {
        <section>
            <h3>{title}</h3>
            <ul class="rejected" role="list" tabindex="0">{rows}</ul>
        </section>
    }
    .into_any()
}

/// How it is reached, and what it says of itself.
#[component]
fn Facts(server: Arc<Server>) -> AnyView {
    let row = |name: &'static str, value: String| {
        view! { <div><dt>{name}</dt><dd dir="auto">{visible(&value)}</dd></div> }.into_any()
    };
    let reached = server.connection.as_ref().map(|connection| {
        let secrets = connection.secrets();
        let names = connection.secret_names();
        let closed: Vec<&str> =
            secrets.iter().filter(|(_, readable)| !readable).map(|(name, _)| name.as_str()).collect();
        let (line, list) =
            if connection.is_http() { ("Address", "Headers") } else { ("Command", "Variables") };
        let closed = (!closed.is_empty()).then(|| {
            let text = format!(
                "The values of {} cannot be opened with this installation's key. Enter them again.",
                closed.join(", ")
            );
            view! { <div class="notice bad"><Icon name="alert" /><p>{text}</p></div> }
        });
        view! {
            {closed}
            <dl class="facts">
                {row(line, connection.line())}
                {(!names.is_empty()).then(|| row(list, names.join(", ")))}
            </dl>
        }
        .into_any()
    });
    let says = server.info.as_ref().map(|info| {
        let has: Vec<&str> = [(info.resources, "resources"), (info.prompts, "prompts")]
            .into_iter()
            .filter_map(|(has, what)| has.then_some(what))
            .collect();
        let instructions = info.instructions.clone().filter(|text| !text.trim().is_empty());
        view! {
            <section>
                <h3>"What it says of itself"</h3>
                <dl class="facts">
                    {row("Name", format!("{} {}", info.name, info.version))}
                    {row("Protocol", info.protocol.clone())}
                    {(!has.is_empty()).then(|| row("Has also", has.join(", ")))}
                </dl>
                {instructions.map(|text| view! {
                    <p class="quiet small">"Its instructions to models. They are never sent to one."</p>
                    <Untrusted label="Instructions of the server" text />
                })}
            </section>
        }
        .into_any()
    });
    let reached = reached.map(|view| view! { <section><h3>"How it is reached"</h3>{view}</section> });
    view! { {reached} {says} }.into_any()
}

/// The last lines of its standard error.
#[component]
fn Log(text: String) -> AnyView {
    let copied = text.clone();
    view! {
        <section>
            <div class="section-head">
                <h3>"Log"</h3>
                <Copy what="the log" text=Signal::derive(move || copied.clone()) />
            </div>
            <Untrusted label="The last lines of its standard error" text />
        </section>
    }
    .into_any()
}
