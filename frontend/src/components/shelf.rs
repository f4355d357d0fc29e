//! The list of tools: a window over thousands of rows.

use leptos::html::Div;
use leptos::prelude::*;
use toolshelf_frontend::model::shelf::{Show, has_badges};
use toolshelf_frontend::model::window::{Layout, Metrics};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlElement, ResizeObserver};

use super::Icon;
use super::group::{GroupView, drawn_groups};
use super::keyboard::{focus_by_id, keep_active_row, move_by_key, place_of, return_focus};
use crate::state::{App, use_app};

/// Rows this far out of view are drawn too, so that scrolling never shows a gap.
const OVERSCAN: u32 = 132;

/// The scrolling column: what is given as children, then the list.
#[component]
pub(crate) fn Shelf(
    /// Whether the drawer covers the list, which then must not be reached.
    covered: Signal<bool>,
    children: Children,
) -> impl IntoView {
    let app = use_app();
    let scroller = NodeRef::<Div>::new();
    let list = NodeRef::<Div>::new();
    // A first guess that draws enough rows for any screen; the observer mends it before the paint.
    let view_height = RwSignal::new(1_200_u32);
    let scroll = RwSignal::new(0_u32);
    let layout = Memo::new(move |_| layout_of(app));
    let window =
        Memo::new(move |_| layout.with(|layout| layout.window(scroll.get(), view_height.get(), OVERSCAN)));
    let drawn = Memo::new(move |_| window.with(|window| drawn_groups(app, &window.slices)));
    let before = Memo::new(move |_| window.with(|window| window.before));
    let after = Memo::new(move |_| window.with(|window| window.after));

    let measure = move || {
        let (Some(scroller), Some(list)) = (scroller.get_untracked(), list.get_untracked()) else { return };
        scroll.set(unsigned(scroller.scroll_top() - list.offset_top()));
        view_height.set(unsigned(scroller.client_height()));
    };
    observe_size(scroller, measure);
    keep_active_row(app);
    return_focus(app);
    // A filter shows its best matches from the top.
    Effect::new(move |before: Option<()>| {
        app.query.track();
        app.show.track();
        // To ask the browser where the list is would make it lay out the page once more for each letter.
        if before.is_none() || scroll.get_untracked() == 0 {
            return;
        }
        if let (Some(scroller), Some(list)) = (scroller.get_untracked(), list.get_untracked()) {
            scroller.set_scroll_top(list.offset_top() - toolbar_height());
        }
    });
    mark_painted(list);

    // A row that is asked for is scrolled into view, and takes the focus once it is drawn.
    Effect::new(move |_| {
        let Some(name) = app.wanted.get() else { return };
        let (Some(scroller), Some(list)) = (scroller.get_untracked(), list.get_untracked()) else { return };
        if let Some((group, row)) = place_of(app, &name) {
            // The toolbar stays in view and covers the top of the list.
            let bar = toolbar_height();
            let shift = list.offset_top() - bar;
            let visible = unsigned(scroller.client_height() - bar);
            let from = unsigned(scroller.scroll_top() - shift);
            if let Some(to) = layout.with_untracked(|layout| layout.scroll_to(group, row, from, visible)) {
                scroller.set_scroll_top(i32::try_from(to).unwrap_or(i32::MAX).saturating_add(shift));
                measure();
            }
        }
        request_animation_frame(move || focus_by_id(&format!("row-{name}")));
    });

    view! {
        <div class="shelf-main" node_ref=scroller prop:inert=move || covered.get() on:scroll=move |_| measure()>
            {children()}
            <div class="list" node_ref=list on:keydown=move |event| move_by_key(app, &event)>
                <div aria-hidden="true" style:height=move || format!("{}px", before.get())></div>
                <For each=move || drawn.get() key=|group| group.key.clone() children=move |group| view! { <GroupView group drawn /> } />
                <div aria-hidden="true" style:height=move || format!("{}px", after.get())></div>
            </div>
            <Nothing />
        </div>
    }
}

/// What to show when there is no row to show.
#[component]
fn Nothing() -> AnyView {
    let app = use_app();
    let shown = Memo::new(move |_| app.view.with(|view| view.shown));
    let total = Memo::new(move |_| app.catalog.with(|catalog| catalog.tools().len()));
    let clear = move |_| {
        app.clear_filter();
        focus_by_id("filter");
    };
    (move || match (shown.get(), total.get()) {
        (0, 0) => view! {
            <div class="state">
                <Icon name="shelf" />
                <h2>"The shelf is empty"</h2>
                <p class="sub">"No function is registered in this installation. The built-in ones are left out if the server was built without them, or if their registration failed: its log says why."</p>
                <button class="btn" type="button" on:click=move |_| app.reload()><Icon name="retry" />"Look again"</button>
            </div>
        }.into_any(),
        (0, _) => view! {
            <div class="state">
                <Icon name="search" />
                <h2>"No tool matches"</h2>
                <p class="sub">{move || nothing_found(app)}</p>
                <button class="btn" type="button" on:click=clear>"Clear filter"</button>
            </div>
        }.into_any(),
        _ => ().into_any(),
    }).into_any()
}

fn nothing_found(app: App) -> String {
    let query = app.query.get();
    let state = app.show.get();
    match (query.trim(), state) {
        ("", state) => format!("No tool is {}.", state.label().to_lowercase()),
        (query, Show::All) => format!("Nothing in names, descriptions and sources holds “{query}”."),
        (query, state) => format!("No tool that is {} holds “{query}”.", state.label().to_lowercase()),
    }
}

fn layout_of(app: App) -> Layout {
    let metrics = if app.narrow.get() { Metrics::NARROW } else { Metrics::WIDE };
    app.view.with(|view| {
        app.catalog.with(|catalog| {
            let badges = |place: &usize| catalog.tools().get(*place).is_some_and(|tool| has_badges(tool));
            Layout::new(metrics, view.groups.iter().map(|group| group.rows.iter().map(badges)))
        })
    })
}

fn unsigned(pixels: i32) -> u32 {
    u32::try_from(pixels).unwrap_or(0)
}

fn toolbar_height() -> i32 {
    let bar = document().get_element_by_id("toolbar").and_then(|bar| bar.dyn_into::<HtmlElement>().ok());
    bar.map_or(0, |bar| bar.offset_height())
}

/// Calls back when the element is there, and whenever its size changes.
fn observe_size(element: NodeRef<Div>, changed: impl Fn() + 'static) {
    let callback = Closure::<dyn FnMut()>::new(changed);
    let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok();
    let kept = StoredValue::new_local((observer, callback));
    Effect::new(move |_| {
        if let Some(element) = element.get() {
            kept.with_value(|(observer, _)| {
                if let Some(observer) = observer {
                    observer.observe(&element);
                }
            });
        }
    });
    on_cleanup(move || {
        kept.with_value(|(observer, _)| {
            if let Some(observer) = observer {
                observer.disconnect();
            }
        });
    });
}

/// Leaves a mark in the browser's timeline once the first rows are on the screen.
fn mark_painted(list: NodeRef<Div>) {
    Effect::new(move |marked: Option<bool>| {
        if marked == Some(true) || list.get().is_none() {
            return marked.unwrap_or(false);
        }
        // The first frame paints the rows; the second begins after that.
        request_animation_frame(|| {
            request_animation_frame(|| {
                if let Some(performance) = web_sys::window().and_then(|window| window.performance()) {
                    let _ = performance.mark("shelf-painted");
                }
            });
        });
        true
    });
}
