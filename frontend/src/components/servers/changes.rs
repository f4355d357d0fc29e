//! Tools of a server that wait for a decision, with what would change.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::{DiffChange, DiffLine, ToolChange, ToolChangeKind};
use toolshelf_frontend::model::text::count;
use toolshelf_frontend::model::upstream::{Server, visible};

use crate::components::{Icon, Time};
use crate::state::use_app;

/// What waits; nothing where nothing does.
#[component]
pub(super) fn Changes(name: String, server: Memo<Option<Arc<Server>>>) -> AnyView {
    let app = use_app();
    let waiting = Memo::new(move |_| server.get().map_or(0, |server| server.change_count));
    let changes = RwSignal::new(Vec::<ToolChange>::new());
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    {
        let name = name.clone();
        Effect::new(move |_| {
            app.upstreams.heard.track();
            if waiting.get() == 0 {
                changes.set(Vec::new());
                return;
            }
            let name = name.clone();
            spawn_local(async move {
                match app.api().changes(&name).await {
                    // What stays as it was is not drawn again: somebody may be reading it.
                    Ok(found) if changes.try_with_untracked(|now| *now != found) == Some(true) => {
                        changes.try_set(found);
                    }
                    Ok(_) => {}
                    Err(failure) => drop(mistake.try_set(Some(failure.sentence()))),
                }
            });
        });
    }
    // One tool, or all that are shown.
    let accept = Callback::new(move |accepted: Vec<ToolChange>| {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        mistake.set(None);
        let name = name.clone();
        spawn_local(async move {
            let done = match accepted.as_slice() {
                [change] => app.api().accept(&name, change).await,
                changes => app.api().accept_all(&name, changes).await,
            };
            match done {
                Ok(()) => {
                    let text = match accepted.as_slice() {
                        [change] => format!("{} is accepted.", change.tool),
                        changes => format!("{} are accepted.", count(changes.len(), "tool", "tools")),
                    };
                    app.toasts.say(&text);
                }
                Err(failure) => drop(mistake.try_set(Some(failure.sentence()))),
            }
            // Another definition may wait by now, which is then shown.
            app.read_server(name);
            busy.try_set(false);
        });
    });
    let admin = app.is_admin();
    let head = move || {
        let number = changes.with(Vec::len);
        let all = (admin && number > 1).then(|| {
            let text = format!("Accept all {number}");
            view! { <button class="btn small" type="button" disabled=move || busy.get() on:click=move |_| accept.run(changes.get_untracked())>{text}</button> }
        });
        (number > 0).then(|| view! {
            <div class="section-head"><h3>{count(number, "tool waits", "tools wait")}" for a decision"</h3>{all}</div>
            <p class="quiet small">"Until an admin accepts, a waiting tool is refused in every profile, conversation and agent."</p>
        })
    };
    let list = move || {
        changes.with(|changes| {
            changes.iter().map(|change| view! { <Change change=change.clone() accept busy /> }).collect_view()
        })
    };
    view! {
        <section class="changes" id="changes">
            {head}
            {move || mistake.get().map(|text| view! { <div class="notice bad" role="alert"><Icon name="alert" /><p>{text}</p></div> })}
            {list}
        </section>
    }
    .into_any()
}

#[component]
fn Change(change: ToolChange, accept: Callback<Vec<ToolChange>>, busy: RwSignal<bool>) -> AnyView {
    let app = use_app();
    let kind = match change.kind {
        ToolChangeKind::New => "new",
        ToolChangeKind::Changed => "changed",
        ToolChangeKind::Moved => "the server is reached in another way",
    };
    let diff = if change.diff.is_empty() {
        view! { <p class="same quiet small">"Its definition is as it was."</p> }.into_any()
    } else {
        let lines = change.diff.iter().map(line).collect_view();
        let label = format!("What changes in {}", change.tool);
        view! { <div class="diff" tabindex="0" role="group" aria-label=label>{lines}</div> }.into_any()
    };
    let button = app.is_admin().then(|| {
        let change = change.clone();
        let label = format!("Accept {}", change.tool);
        view! {
            <button class="btn small primary" type="button" aria-label=label disabled=move || busy.get() on:click=move |_| accept.run(vec![change.clone()])>"Accept"</button>
        }
    });
    view! {
        <article class="change">
            <header>
                <div class="change-name"><code>{change.tool.clone()}</code><span class="badge warn"><span>{kind}</span></span><span class="quiet small">"since "<Time at=change.since /></span></div>
                {button}
            </header>
            {diff}
        </article>
    }
    .into_any()
}

/// A line with its mark. The elements say to a screen reader what the colours say to the eye.
fn line(line: &DiffLine) -> AnyView {
    let text = visible(&line.text);
    match line.change {
        DiffChange::Added => view! { <ins><i aria-hidden="true">"+"</i><bdi>{text}</bdi></ins> }.into_any(),
        DiffChange::Removed => view! { <del><i aria-hidden="true">"−"</i><bdi>{text}</bdi></del> }.into_any(),
        DiffChange::Same => view! { <p><i></i><bdi>{text}</bdi></p> }.into_any(),
        DiffChange::Skipped => {
            view! { <p class="skipped"><i></i><span>"⋯ lines that stay"</span></p> }.into_any()
        }
    }
}
