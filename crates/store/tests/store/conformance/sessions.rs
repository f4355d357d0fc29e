use std::sync::Arc;

use toolshelf_runtime::store::{SessionRow, Store, StoreError, UserRow};

use super::samples::{at, hash, session, user, with_users};

pub(crate) async fn a_session_is_found_with_its_user(store: Arc<dyn Store>) {
    let bert = UserRow { disabled: true, ..user("u2", "Bert") };
    with_users(&store, &[user("u1", "Anna"), bert.clone()]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_session(&session(1, "u1")).await.unwrap();
    unit.insert_session(&session(2, "u2")).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_session(&hash(1)).await.unwrap(), Some((session(1, "u1"), user("u1", "Anna"))));
    assert_eq!(unit.find_session(&hash(2)).await.unwrap(), Some((session(2, "u2"), bert)));
    assert_eq!(unit.find_session(&hash(3)).await.unwrap(), None);
}

pub(crate) async fn sessions_end_one_by_one_or_all(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let mut unit = store.begin().await.unwrap();
    for (number, owner) in [(1, "u1"), (2, "u1"), (3, "u1"), (4, "u2")] {
        unit.insert_session(&session(number, owner)).await.unwrap();
    }
    unit.delete_session(&hash(1)).await.unwrap();
    unit.delete_session(&hash(9)).await.unwrap();
    assert_eq!(unit.find_session(&hash(1)).await.unwrap(), None);
    assert!(unit.find_session(&hash(2)).await.unwrap().is_some());

    unit.delete_sessions_of("u1").await.unwrap();
    unit.delete_sessions_of("nobody").await.unwrap();
    assert_eq!(unit.find_session(&hash(2)).await.unwrap(), None);
    assert_eq!(unit.find_session(&hash(3)).await.unwrap(), None);
    assert!(unit.find_session(&hash(4)).await.unwrap().is_some());
}

pub(crate) async fn expired_sessions_are_forgotten(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    for (number, expires_at) in [(1, at(99)), (2, at(100)), (3, at(101))] {
        unit.insert_session(&SessionRow { expires_at, ..session(number, "u1") }).await.unwrap();
    }
    assert!(unit.find_session(&hash(1)).await.unwrap().is_some(), "expired or not");
    unit.delete_sessions_expired_at(at(100)).await.unwrap();
    assert_eq!(unit.find_session(&hash(1)).await.unwrap(), None);
    assert_eq!(unit.find_session(&hash(2)).await.unwrap(), None, "it ends at this time, not after it");
    assert!(unit.find_session(&hash(3)).await.unwrap().is_some());
}

pub(crate) async fn a_session_needs_its_user(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let error = unit.insert_session(&session(1, "nobody")).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}
