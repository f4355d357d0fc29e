//! The conversation in which a tool that needs one is tried.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolshelf_api::Conversation;

use crate::components::Icon;
use crate::state::use_app;

/// A choice among the user's conversations, and a button that makes one.
#[component]
pub(super) fn ConversationChoice() -> AnyView {
    let app = use_app();
    let list = RwSignal::new(Vec::<Conversation>::new());
    let mistake = RwSignal::new(None::<String>);
    let busy = RwSignal::new(true);
    spawn_local(async move {
        match app.api().conversations().await {
            Ok(page) => {
                let chosen = app.conversation.get_untracked();
                let still_there =
                    page.items.iter().any(|conversation| Some(&conversation.id) == chosen.as_ref());
                if !still_there {
                    app.conversation.set(page.items.first().map(|conversation| conversation.id.clone()));
                }
                list.try_set(page.items);
            }
            Err(failure) => drop(mistake.try_set(Some(failure.sentence()))),
        }
        busy.try_set(false);
    });
    let create = move |_| {
        busy.set(true);
        spawn_local(async move {
            match app.api().create_conversation("Tried tools").await {
                Ok(made) => {
                    app.conversation.set(Some(made.id.clone()));
                    list.try_update(|list| list.insert(0, made));
                    mistake.try_set(None);
                }
                Err(failure) => drop(mistake.try_set(Some(failure.sentence()))),
            }
            busy.try_set(false);
        });
    };
    let options = move || {
        let chosen = app.conversation.get();
        list.get()
            .into_iter()
            .map(|conversation| {
                let selected = Some(&conversation.id) == chosen.as_ref();
                view! { <option value=conversation.id prop:selected=selected>{conversation.title}</option> }
            })
            .collect_view()
    };
    let none = move || list.with(Vec::is_empty);
    view! {
        <div class="field">
            <label for="conversation">"Conversation"</label>
            <div class="try-conversation">
                <select
                    class="select"
                    id="conversation"
                    disabled=none
                    aria-describedby="conversation-hint"
                    on:change=move |event| app.conversation.set(Some(event_target_value(&event)))
                >
                    {move || none().then(|| view! { <option value="">"None yet"</option> })}
                    {options}
                </select>
                <button class="btn" type="button" disabled=move || busy.get() on:click=create><Icon name="plus" />"New"<span class="visually-hidden">" conversation"</span></button>
            </div>
            <p class="hint" id="conversation-hint">"This tool works only inside a conversation."</p>
            {move || mistake.get().map(|text| view! { <p class="error" role="alert"><Icon name="alert" /><span>{text}</span></p> })}
        </div>
    }
    .into_any()
}
