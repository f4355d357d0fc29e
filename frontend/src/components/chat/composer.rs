//! The composer: what is written, and which tools go with it.

use leptos::html::Textarea;
use leptos::prelude::*;
use toolshelf_api::{Change, UpdateConversation};
use toolshelf_frontend::model::text::thousands;
use web_sys::KeyboardEvent;

use super::picker::{Picker, ProfileChip};
use crate::components::menu::{close, move_in, place_above};
use crate::components::{Icon, focus_by_id};
use crate::state::use_chat;

const MENU: &str = "plus-menu";
const PLUS: &str = "plus";

#[component]
pub(crate) fn Composer() -> AnyView {
    let chat = use_chat();
    let field = NodeRef::<Textarea>::new();
    // The field is as high as what is in it, up to a limit of the style sheet.
    Effect::new(move |_| {
        chat.text.track();
        if let Some(field) = field.get() {
            let style = web_sys::HtmlElement::style(&field);
            let _ = style.set_property("--height", "0px");
            let _ = style.set_property("--height", &format!("{}px", field.scroll_height()));
        }
    });
    let too_many = move || chat.offer.with(|offer| offer.as_ref().and_then(|offer| offer.over_limit.clone()));
    let can_send =
        move || !chat.text.with(|text| text.trim().is_empty()) && !chat.sending.get() && too_many().is_none();
    let keys = move |event: KeyboardEvent| {
        // While letters are being composed, Enter chooses among them.
        if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
            event.prevent_default();
            if can_send() && !chat.is_running() {
                chat.send();
            }
        }
    };
    let missing = move || {
        chat.only_now.with(Option::is_none)
            && chat.talk.with(|talk| talk.as_ref().is_some_and(|talk| talk.toolset.missing))
    };
    let notices = move || {
        let over = too_many().map(|over| {
            let heaviest: Vec<String> = over.heaviest.iter().map(|heavy| format!("{} ({})", heavy.service, heavy.tools)).collect();
            let what = if over.kind == "max_tools" { "tools" } else { "tokens of tools" };
            let text = format!(
                "{} {what} would be sent, and this model takes {}. Choose a smaller profile; the most come from {}.",
                thousands(over.count), thousands(over.limit), heaviest.join(", ")
            );
            view! { <div class="notice bad" role="alert"><Icon name="alert" /><p>{text}</p></div> }
        });
        let missing = missing().then(|| view! {
            <div class="notice warn" role="alert"><Icon name="alert" /><p>"The profile of this conversation was deleted. No tools are sent. Choose another one."</p></div>
        });
        let mistake = chat.mistake.get().map(|sentence| view! {
            <div class="notice bad" role="alert"><Icon name="alert" /><p>{sentence}</p>
                <button class="btn ghost square small" type="button" aria-label="Close" on:click=move |_| chat.mistake.set(None)><Icon name="close" /></button>
            </div>
        });
        view! { {over} {missing} {mistake} }
    };
    let models = move || {
        chat.models.with(|models| {
            let now = chat.settings().model;
            models.iter().map(|model| {
                let selected = model.name == now;
                view! { <option value=model.name.clone() selected=selected title=model.description.clone()>{model.title.clone()}</option> }
            }).collect_view()
        })
    };
    let choose_model = move |event| {
        chat.set(UpdateConversation {
            model: Some(event_target_value(&event)),
            ..UpdateConversation::default()
        });
    };
    view! {
        <div class="composer">
            {notices}
            <div class="composer-box">
                <textarea
                    id="message"
                    rows="1"
                    node_ref=field
                    aria-label="Message"
                    placeholder="Write a message, or /help"
                    prop:value=move || chat.text.get()
                    on:input=move |event| chat.text.set(event_target_value(&event))
                    on:keydown=keys
                ></textarea>
                <div class="composer-bar">
                    <button class="btn ghost square" type="button" id=PLUS aria-label="Tools and switches" aria-haspopup="menu" popovertarget=MENU on:click=move |_| place_above(PLUS, MENU)><Icon name="plus" /></button>
                    <ProfileChip />
                    <Chips />
                    <span class="composer-gap"></span>
                    <select class="select" aria-label="Model" on:change=choose_model>{models}</select>
                    {move || if chat.is_running() {
                        view! { <button class="btn square send" type="button" aria-label="Stop" title="Stop" on:click=move |_| chat.stop()><Icon name="stop" /></button> }.into_any()
                    } else {
                        view! { <button class="btn primary square send" type="button" aria-label="Send" title="Send (Enter)" disabled=move || !can_send() on:click=move |_| chat.send()><Icon name="send" /></button> }.into_any()
                    }}
                </div>
            </div>
            <PlusMenu />
            <Picker />
        </div>
    }
    .into_any()
}

fn set_tools(on: bool) -> UpdateConversation {
    UpdateConversation { tools_enabled: Some(on), ..UpdateConversation::default() }
}

fn set_web(web: Option<bool>) -> UpdateConversation {
    UpdateConversation { web_search: web.map_or(Change::Clear, Change::Set), ..UpdateConversation::default() }
}

fn set_attended(attended: bool) -> UpdateConversation {
    UpdateConversation { attended: Some(attended), ..UpdateConversation::default() }
}

/// What is switched from its usual way, each with a way back.
#[component]
fn Chips() -> AnyView {
    let chat = use_chat();
    let chip = move |label: String, undo: UpdateConversation| {
        let name = format!("{label}: switch back");
        view! {
            <span class="chip">{label}
                <button class="chip-close" type="button" aria-label=name on:click=move |_| { chat.set(undo.clone()); focus_by_id("message"); }><Icon name="close" /></button>
            </span>
        }
        .into_any()
    };
    (move || {
        let settings = chat.settings();
        let mut chips = Vec::new();
        if !settings.tools {
            chips.push(chip("Tools off".to_owned(), set_tools(true)));
        }
        if let Some(web) = settings.web {
            chips.push(chip(format!("Web search {}", if web { "on" } else { "off" }), set_web(None)));
        }
        if !settings.attended {
            chips.push(chip("Unattended".to_owned(), set_attended(true)));
        }
        if chat.only_now.with(Option::is_some) {
            chips.push(view! {
                <span class="chip">"Next message only"
                    <button class="chip-close" type="button" aria-label="Next message only: take back" on:click=move |_| { chat.only_now.set(None); focus_by_id("message"); }><Icon name="close" /></button>
                </span>
            }.into_any());
        }
        chips
    })
    .into_any()
}

/// The menu of switches.
#[component]
fn PlusMenu() -> AnyView {
    let chat = use_chat();
    let item = move |role: &'static str,
                     id: &'static str,
                     label: &'static str,
                     about: &'static str,
                     checked: Signal<bool>,
                     change: Callback<()>| {
        view! {
            <button class="item" type="button" role=role id=id tabindex="-1" aria-checked=move || if checked.get() { "true" } else { "false" } on:click=move |_| { close(MENU, PLUS); change.run(()); }>
                <Icon name="check" /><span>{label}</span><span class="sub">{about}</span>
            </button>
        }
        .into_any()
    };
    let web = move |id: &'static str, label: &'static str, about: &'static str, to: Option<bool>| {
        item(
            "menuitemradio",
            id,
            label,
            about,
            Signal::derive(move || chat.settings().web == to),
            Callback::new(move |()| chat.set(set_web(to))),
        )
    };
    view! {
        <div class="over menu" id=MENU popover="auto" role="menu" aria-label="Tools and switches"
            on:keydown=move |event: KeyboardEvent| match event.key().as_str() {
                "Tab" => close(MENU, PLUS),
                _ => move_in(&event, "[role^=menuitem]"),
            }
            on:toggle=move |_| focus_by_id("menu-tools")
        >
            {item("menuitemcheckbox", "menu-tools", "Tools", "send tools with messages", Signal::derive(move || chat.settings().tools),
                Callback::new(move |()| chat.set(set_tools(!chat.settings().tools))))}
            <div role="group" aria-label="Web search">
                <p class="menu-title" aria-hidden="true">"Web search"</p>
                {web("menu-web-default", "As the profile says", "", None)}
                {web("menu-web-on", "On", "added, even with tools off", Some(true))}
                {web("menu-web-off", "Off", "taken away", Some(false))}
            </div>
            {item("menuitemcheckbox", "menu-unattended", "Unattended", "nobody is asked, and nobody can approve", Signal::derive(move || !chat.settings().attended),
                Callback::new(move |()| chat.set(set_attended(!chat.settings().attended))))}
        </div>
    }
    .into_any()
}
