//! The upstream servers, with one open or none.

use leptos::prelude::*;
use toolshelf_frontend::model::route::Route;

use crate::components::{Icon, ServerDetails, ServerList, focus_by_id};
use crate::state::{Load, ServerAsk, use_app};

/// The list on the left, the open server on the right.
#[component]
pub(crate) fn UpstreamsPage() -> AnyView {
    let app = use_app();
    app.upstreams.tick();
    let open = Memo::new(move |_| {
        app.route.with(|route| match route {
            Route::Upstreams { name } => name.clone(),
            _ => None,
        })
    });
    // The focus goes back to the row whose server was open.
    Effect::new(move |before: Option<Option<String>>| {
        let now = open.get();
        if let (Some(Some(name)), None) = (before, &now) {
            request_animation_frame(move || focus_by_id(&format!("server-{name}")));
        }
        now
    });
    let failed = move || match app.upstreams.load.get() {
        Load::Current => None,
        Load::Failed(sentence) => Some(view! {
            <div class="notice bad shelf-note" role="alert">
                <Icon name="alert" />
                <p>{format!("The list may be out of date. {sentence}")}</p>
                <button class="btn small" type="button" on:click=move |_| app.load_servers()><Icon name="retry" />"Retry"</button>
            </div>
        }),
    };
    let some = move || app.upstreams.list.with(|list| !list.is_empty());
    let add = move || {
        (app.is_admin() && some()).then(|| view! {
            <button class="btn primary" type="button" on:click=move |_| app.upstreams.ask.set(Some(ServerAsk::Add { by_form: false }))><Icon name="plus" />"Add server"</button>
        })
    };
    view! {
        <main class="content shelf-page servers-page" class:with-drawer=move || open.with(Option::is_some) id="main" tabindex="-1">
            <div class="shelf-main" prop:inert=move || app.narrow.get() && open.with(Option::is_some)>
                <header class="shelf-head servers-head">
                    <h1>"Servers"</h1>
                    {move || some().then(|| view! { <p class="sub">"MCP servers whose tools are among the functions."</p> })}
                    {add}
                </header>
                {failed}
                <ServerList open />
            </div>
            {move || open.get().map(|name| view! { <ServerDetails name /> })}
        </main>
    }
    .into_any()
}
