//! The list of servers.

use std::sync::Arc;

use leptos::prelude::*;
use toolshelf_frontend::model::route::Route;
use toolshelf_frontend::model::text::count;
use toolshelf_frontend::model::upstream::{Server, visible};

use super::{Dot, StatusLine};
use crate::components::Icon;
use crate::components::link::goes_to;
use crate::state::{ServerAsk, use_app};

/// An `mcp.json` to begin with.
const EXAMPLE: &str = r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/shared"]
    }
  }
}"#;

/// All servers, one row for each; or what a server is, while there is none.
#[component]
pub(crate) fn ServerList(open: Memo<Option<String>>) -> AnyView {
    let app = use_app();
    let names = Memo::new(move |_| {
        app.upstreams.list.with(|list| list.iter().map(|server| server.name.clone()).collect::<Vec<_>>())
    });
    // Each row follows its own server, so the list is drawn again only when servers come or go.
    let rows = move || {
        let rows = names.get().into_iter().map(|name| view! { <Row name open /> }).collect_view();
        view! { <ul class="servers" role="list">{rows}</ul> }.into_any()
    };
    let known = app.upstreams.known;
    (move || match (names.with(Vec::is_empty), known.get()) {
        (false, _) => rows(),
        (true, true) => view! { <Empty /> }.into_any(),
        (true, false) => {
            view! { <div class="skeleton" role="status" aria-label="Loading the servers"><i></i><i></i><i></i></div> }.into_any()
        }
    })
    .into_any()
}

#[component]
fn Row(name: String, open: Memo<Option<String>>) -> AnyView {
    let app = use_app();
    let server = app.server(name.clone());
    let is_open = {
        let name = name.clone();
        Memo::new(move |_| open.with(|open| open.as_deref() == Some(&name)))
    };
    let route = Route::Upstreams { name: Some(name.clone()) };
    let href = route.path();
    let title = move || server.with(|server| server.as_ref().map(|server| server.title.clone()));
    let differs = {
        let name = name.clone();
        move || title().filter(|title| *title != name).map(|_| name.clone())
    };
    let body = move || server.get().map(|server| view! { <Facts server /> });
    view! {
        <li class="server" class:open=move || is_open.get() data-testid="server-row" data-server=name.clone()>
            <p class="server-name">
                <a class="server-link" id=format!("server-{name}") href=href aria-current=move || is_open.get().then_some("true") on:click=goes_to(app, route)>
                    <bdi>{title}</bdi>
                </a>
                {move || differs().map(|name| view! { <code class="quiet">{name}</code> })}
            </p>
            {body}
        </li>
    }
    .into_any()
}

/// What stands beside a server's name.
#[component]
fn Facts(server: Arc<Server>) -> AnyView {
    let waiting = usize::try_from(server.change_count).unwrap_or(usize::MAX);
    let waiting = (waiting > 0).then(|| {
        let text = count(waiting, "change waits", "changes wait");
        view! { <span class="badge warn"><Icon name="alert" /><span>{text}</span></span> }
    });
    let rejected = server.rejected.len();
    let rejected = (rejected > 0).then(|| {
        let text = count(rejected, "tool rejected", "tools rejected");
        view! { <span class="badge bad"><Icon name="stop" /><span>{text}</span></span> }
    });
    let hidden = (!server.settings.expose)
        .then(|| view! { <span class="badge"><span>"hidden from models"</span></span> });
    let place = server.connection.as_ref().map(|connection| {
        let kind = if connection.is_http() { "HTTP" } else { "program" };
        let line = visible(&connection.line());
        view! { <p class="server-place"><span class="badge"><span>{kind}</span></span><code title=line.clone()>{line.clone()}</code></p> }
    });
    let tools = count(usize::try_from(server.tool_count).unwrap_or(usize::MAX), "tool", "tools");
    let state = server.status.state;
    view! {
        <Dot state />
        <p class="server-status"><StatusLine server /></p>
        <p class="server-tools num">{tools}</p>
        <p class="server-badges">{waiting}{rejected}{hidden}</p>
        {place}
    }
    .into_any()
}

/// What a server is, while there is none.
#[component]
fn Empty() -> AnyView {
    let app = use_app();
    let admin = app.is_admin();
    let how = if admin {
        "Paste the mcp.json of another program, or fill in a form."
    } else {
        "An admin of this installation can add one."
    };
    view! {
        <div class="state servers-empty">
            <Icon name="plug" />
            <h2>"No server is connected"</h2>
            <p class="sub">"A server brings tools of its own: a program that Toolshelf starts on this machine, or an address that speaks the Model Context Protocol. Its tools appear among the functions within seconds, and every profile can hold them."</p>
            <p class="sub">{how}</p>
            {admin.then(|| view! {
                <div class="example">
                    <p class="hint">"An example that shares one folder:"</p>
                    <pre class="code" tabindex="0" role="group" aria-label="An example of an mcp.json">{EXAMPLE}</pre>
                </div>
                <p class="dialog-actions">
                    <button class="btn" type="button" on:click=move |_| {
                        app.upstreams.document.set(EXAMPLE.to_owned());
                        app.upstreams.ask.set(Some(ServerAsk::Add { by_form: false }));
                    }>"Start with the example"</button>
                    <button class="btn" type="button" on:click=move |_| app.upstreams.ask.set(Some(ServerAsk::Add { by_form: true }))>"Fill in a form"</button>
                    <button class="btn primary" type="button" on:click=move |_| app.upstreams.ask.set(Some(ServerAsk::Add { by_form: false }))>"Paste mcp.json"</button>
                </p>
            })}
        </div>
    }
    .into_any()
}
