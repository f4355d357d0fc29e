//! The conversations: the list, what was said, and the composer.

use leptos::prelude::*;

use crate::components::{Composer, Icon, Stream, TalkList};
use crate::state::{Chat, use_app};

#[component]
pub(crate) fn ChatPage() -> AnyView {
    let chat = Chat::new(use_app());
    provide_context(chat);
    let title = move || {
        chat.talk.with(|talk| {
            talk.as_ref().map_or_else(|| "New conversation".to_owned(), |talk| talk.title.clone())
        })
    };
    view! {
        <main class="content shelf-page chat-page" id="main" tabindex="-1">
            <TalkList />
            <div class="chat-main">
                <header class="chat-head">
                    <button class="btn square talks-button" type="button" popovertarget="talks" aria-label="Conversations"><Icon name="talk" /></button>
                    <h1 title=title>{title}</h1>
                </header>
                <Stream />
                <Composer />
            </div>
        </main>
    }
    .into_any()
}
