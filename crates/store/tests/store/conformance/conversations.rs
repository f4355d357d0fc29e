use std::sync::Arc;

use tokio::task::JoinSet;
use toolshelf_runtime::store::{
    ConversationRow, ConversationUse, FallbackOrigin, Store, StoreError, TodoRow, TodoStatus,
};

use super::samples::{at, conversation, user, with_users};

/// Adds a user and a conversation of the user.
async fn with_conversation(store: &Arc<dyn Store>) {
    with_users(store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    unit.commit().await.unwrap();
}

fn todo(conversation_id: &str, number: u32, text: &str) -> TodoRow {
    TodoRow {
        conversation_id: conversation_id.to_owned(),
        number,
        text: text.to_owned(),
        status: TodoStatus::Pending,
        created_at: at(30),
    }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

pub(crate) async fn conversations_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    with_conversation(&store).await;
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_conversation("c1").await.unwrap(), Some(conversation("c1", "u1")));
    assert_eq!(unit.find_conversation("c2").await.unwrap(), None);
}

pub(crate) async fn conversations_are_paged_newest_first(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let id = |number: u8| format!("0193f2a0-0000-7000-8000-0000000000{number:02x}");
    let mut unit = store.begin().await.unwrap();
    for (number, owner) in [(0x0a, "u1"), (0x01, "u1"), (0x0b, "u2"), (0x10, "u1"), (0x09, "u1")] {
        unit.insert_conversation(&conversation(&id(number), owner)).await.unwrap();
    }
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    let ids = |rows: Vec<ConversationRow>| -> Vec<String> { rows.into_iter().map(|row| row.id).collect() };
    let page = unit.list_conversations("u1", None, None, 2).await.unwrap();
    assert_eq!(page[0], conversation(&id(0x10), "u1"));
    assert_eq!(ids(page), [id(0x10), id(0x0a)]);
    let page = unit.list_conversations("u1", None, Some(&id(0x0a)), 2).await.unwrap();
    assert_eq!(ids(page), [id(0x09), id(0x01)]);
    assert_eq!(unit.list_conversations("u1", None, Some(&id(0x01)), 2).await.unwrap(), []);
    assert_eq!(ids(unit.list_conversations("u2", None, None, 50).await.unwrap()), [id(0x0b)]);
    assert_eq!(unit.list_conversations("nobody", None, None, 50).await.unwrap(), []);

    assert_eq!(unit.count_conversations("u1", None).await.unwrap(), 4);
    assert_eq!(unit.count_conversations("u2", None).await.unwrap(), 1);
    assert_eq!(unit.count_conversations("nobody", None).await.unwrap(), 0);
}

pub(crate) async fn conversations_are_found_by_title_in_any_letter_case(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    for (id, title) in [("a", "50% off"), ("b", "Straße"), ("c", "50 offers_now!"), ("d", "数据库")] {
        let row = ConversationRow { title: title.to_owned(), ..conversation(id, "u1") };
        unit.insert_conversation(&row).await.unwrap();
    }
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    for (query, found) in [
        ("50", &["c", "a"][..]),
        ("50%", &["a"]),
        ("_", &["c"]),
        ("!", &["c"]),
        ("STRASSE", &["b"]),
        ("据", &["d"]),
        ("x", &[]),
    ] {
        let rows = unit.list_conversations("u1", Some(query), None, 50).await.unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, found, "{query}");
        let count = unit.count_conversations("u1", Some(query)).await.unwrap();
        assert_eq!(count, found.len() as u64, "{query}");
    }
}

pub(crate) async fn a_conversation_changes_from_the_revision_that_is_stored(store: Arc<dyn Store>) {
    with_conversation(&store).await;
    let changed = ConversationRow {
        title: "Other".to_owned(),
        pick: None,
        tools_enabled: true,
        web_search: None,
        attended: true,
        model: "other".to_owned(),
        revision: 2,
        updated_at: at(9),
        ..conversation("c1", "u1")
    };
    let mut unit = store.begin().await.unwrap();
    assert!(!unit.update_conversation(&changed, 2).await.unwrap(), "it is at revision 1");
    assert_eq!(unit.find_conversation("c1").await.unwrap(), Some(conversation("c1", "u1")));
    assert!(unit.update_conversation(&changed, 1).await.unwrap());
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_conversation("c1").await.unwrap(), Some(changed.clone()));
    assert_eq!(unit.list_conversations("u1", Some("oTHER"), None, 5).await.unwrap(), [changed]);
}

pub(crate) async fn uses_of_a_profile_are_counted_once_and_re_pointed_together(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let (one, two) = ("profile:p1".to_owned(), "profile:p2".to_owned());
    let row =
        |id: &str, owner: &str, pick: Option<&String>, fallback: Option<&String>, pin: Option<&String>| {
            ConversationRow {
                pick: pick.cloned(),
                fallback: fallback.map(|reference| (reference.clone(), FallbackOrigin::Start)),
                pin: pin.cloned(),
                ..conversation(id, owner)
            }
        };
    let mut unit = store.begin().await.unwrap();
    for row in [
        row("a", "u1", Some(&one), Some(&one), None),
        row("b", "u1", None, Some(&one), Some(&two)),
        row("c", "u2", None, None, Some(&one)),
        row("d", "u2", None, None, None),
    ] {
        unit.insert_conversation(&row).await.unwrap();
    }
    unit.commit().await.unwrap();
    let uses = |reference: &str, user_id: &str, conversations| ConversationUse {
        reference: reference.to_owned(),
        user_id: user_id.to_owned(),
        conversations,
    };
    let mut unit = store.begin().await.unwrap();
    let mut found = unit.list_conversation_uses(Some(&one)).await.unwrap();
    found.sort_by(|a, b| a.user_id.cmp(&b.user_id));
    assert_eq!(found, [uses(&one, "u1", 2), uses(&one, "u2", 1)]);
    assert_eq!(unit.list_conversation_uses(None).await.unwrap().len(), 3);
    unit.repoint_conversations(&one, "none").await.unwrap();
    assert_eq!(unit.list_conversation_uses(Some(&one)).await.unwrap(), []);
    assert_eq!(unit.list_conversation_uses(Some(&two)).await.unwrap(), [uses(&two, "u1", 1)]);
    let row = unit.find_conversation("a").await.unwrap().unwrap();
    assert_eq!((row.pick.as_deref(), row.fallback.unwrap().0.as_str()), (Some("none"), "none"));
    assert_eq!(unit.find_conversation("c").await.unwrap().unwrap().pin.as_deref(), Some("none"));
}

pub(crate) async fn todos_are_numbered_in_their_conversation(store: Arc<dyn Store>) {
    with_conversation(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_conversation(&conversation("c2", "u1")).await.unwrap();
    assert_eq!(unit.list_todos("c1").await.unwrap(), []);
    assert_eq!(unit.append_todos("c1", &[], at(30)).await.unwrap(), Vec::<u32>::new());
    assert_eq!(unit.append_todos("c1", &texts(["sow", "water"]), at(30)).await.unwrap(), [1, 2]);
    assert_eq!(unit.append_todos("c2", &texts(["rest"]), at(30)).await.unwrap(), [1]);
    assert_eq!(unit.append_todos("c1", &texts(["reap"]), at(30)).await.unwrap(), [3]);
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    assert_eq!(
        unit.list_todos("c1").await.unwrap(),
        [todo("c1", 1, "sow"), todo("c1", 2, "water"), todo("c1", 3, "reap")]
    );
    assert_eq!(unit.list_todos("c2").await.unwrap(), [todo("c2", 1, "rest")]);
    assert_eq!(unit.list_todos("c3").await.unwrap(), []);
}

pub(crate) async fn many_at_once_number_without_gaps(store: Arc<dyn Store>) {
    with_conversation(&store).await;
    let mut writers = JoinSet::new();
    for _ in 0..10 {
        let store = store.clone();
        writers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            let numbers = unit.append_todos("c1", &texts(["sow", "reap"]), at(30)).await.unwrap();
            unit.commit().await.unwrap();
            numbers
        });
    }
    let mut given: Vec<u32> = writers.join_all().await.into_iter().flatten().collect();
    given.sort_unstable();
    assert_eq!(given, (1..=20).collect::<Vec<u32>>());
    assert_eq!(store.read().await.unwrap().list_todos("c1").await.unwrap().len(), 20);
}

pub(crate) async fn deleting_a_conversation_takes_its_todos(store: Arc<dyn Store>) {
    with_conversation(&store).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_conversation(&conversation("c2", "u1")).await.unwrap();
    unit.append_todos("c1", &texts(["sow", "reap"]), at(30)).await.unwrap();
    unit.append_todos("c2", &texts(["rest"]), at(30)).await.unwrap();
    unit.delete_conversation("c1").await.unwrap();
    unit.delete_conversation("c9").await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_conversation("c1").await.unwrap(), None);
    assert_eq!(unit.list_todos("c1").await.unwrap(), []);
    assert_eq!(unit.list_todos("c2").await.unwrap().len(), 1);
    assert_eq!(unit.count_conversations("u1", None).await.unwrap(), 1);
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    assert_eq!(unit.append_todos("c1", &texts(["sow"]), at(30)).await.unwrap(), [1]);
}

pub(crate) async fn todos_need_their_conversation(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let error = unit.append_todos("c1", &texts(["sow"]), at(30)).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}
