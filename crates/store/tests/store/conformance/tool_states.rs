use std::sync::Arc;

use toolshelf_core::Disable;
use toolshelf_runtime::store::{Store, ToolStateRow};

fn state(tool: &str, reason: Option<&str>, revision: u64) -> ToolStateRow {
    let disable = reason.map(|reason| Disable {
        by: "Anna".into(),
        reason: reason.into(),
        at: "2026-12-01T03:04:05.678901Z".into(),
    });
    ToolStateRow { tool: tool.to_owned(), disable, revision }
}

pub(crate) async fn states_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_tool_state("web.search").await.unwrap(), None);
    let steps = [
        state("web.search", Some("It was slow."), 1),
        state("web.search", Some(""), 2),
        state("web.search", None, 3),
        state("web.search", Some("Again."), 4),
    ];
    for step in steps {
        unit.put_tool_state(&step).await.unwrap();
        assert_eq!(unit.find_tool_state("web.search").await.unwrap(), Some(step));
    }
    assert_eq!(unit.find_tool_state("Web.Search").await.unwrap(), None);
}

pub(crate) async fn states_are_listed_by_name(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.list_tool_states().await.unwrap(), []);
    let states = [state("a.one", None, 1), state("b.two", Some("Broken."), 9), state("c.three", None, 2)];
    for index in [2, 0, 1] {
        unit.put_tool_state(&states[index]).await.unwrap();
    }
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().list_tool_states().await.unwrap(), states);
}
