use std::sync::Arc;

use tokio::task::JoinSet;
use toolshelf_runtime::store::{ConversationRow, Store, StoreError, TodoRow, TodoStatus};

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
    let page = unit.list_conversations("u1", None, 2).await.unwrap();
    assert_eq!(page[0], conversation(&id(0x10), "u1"));
    assert_eq!(ids(page), [id(0x10), id(0x0a)]);
    let page = unit.list_conversations("u1", Some(&id(0x0a)), 2).await.unwrap();
    assert_eq!(ids(page), [id(0x09), id(0x01)]);
    assert_eq!(unit.list_conversations("u1", Some(&id(0x01)), 2).await.unwrap(), []);
    assert_eq!(ids(unit.list_conversations("u2", None, 50).await.unwrap()), [id(0x0b)]);
    assert_eq!(unit.list_conversations("nobody", None, 50).await.unwrap(), []);

    assert_eq!(unit.count_conversations("u1").await.unwrap(), 4);
    assert_eq!(unit.count_conversations("u2").await.unwrap(), 1);
    assert_eq!(unit.count_conversations("nobody").await.unwrap(), 0);
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
    assert_eq!(unit.count_conversations("u1").await.unwrap(), 1);
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    assert_eq!(unit.append_todos("c1", &texts(["sow"]), at(30)).await.unwrap(), [1]);
}

pub(crate) async fn todos_need_their_conversation(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let error = unit.append_todos("c1", &texts(["sow"]), at(30)).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}
