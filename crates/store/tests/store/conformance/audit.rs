use std::sync::Arc;

use toolshelf_runtime::store::{AuditRow, NewAudit, Store};

use super::samples::{at, entry};

fn targets(entries: &[AuditRow]) -> Vec<&str> {
    entries.iter().map(|entry| entry.target.as_str()).collect()
}

pub(crate) async fn entries_are_paged_newest_first(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.count_audit().await.unwrap(), 0);
    assert_eq!(unit.list_audit(None, 10).await.unwrap(), []);
    for target in ["a", "b", "c", "d"] {
        unit.append_audit(&entry(target)).await.unwrap();
    }
    let by_system = NewAudit { at: at(9), actor: None, key: None, ..entry("e") };
    unit.append_audit(&by_system).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.count_audit().await.unwrap(), 5);
    let page = unit.list_audit(None, 2).await.unwrap();
    assert_eq!(targets(&page), ["e", "d"]);
    assert_eq!((page[0].at, &page[0].actor, &page[0].key), (at(9), &None, &None));
    assert_eq!(
        page[1],
        AuditRow {
            id: page[1].id,
            at: at(5),
            actor: Some("Anna".to_owned()),
            key: Some("CI".to_owned()),
            action: "tool.disabled".to_owned(),
            target: "d".to_owned(),
            detail: "It was slow.".to_owned(),
        }
    );
    assert!(page[0].id > page[1].id);

    let page = unit.list_audit(Some(page[1].id), 2).await.unwrap();
    assert_eq!(targets(&page), ["c", "b"]);
    let page = unit.list_audit(Some(page[1].id), u32::MAX).await.unwrap();
    assert_eq!(targets(&page), ["a"]);
    assert_eq!(unit.list_audit(Some(page[0].id), 2).await.unwrap(), []);
    assert_eq!(unit.list_audit(None, 0).await.unwrap(), []);
}
