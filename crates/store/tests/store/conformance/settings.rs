use std::sync::Arc;

use toolshelf_runtime::store::{ActiveRow, Store};

use super::samples::{user, with_users};

pub(crate) async fn the_active_toolset_is_one_and_changes(store: Arc<dyn Store>) {
    let row = |reference: &str, revision| ActiveRow { reference: reference.to_owned(), revision };
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_active_toolset().await.unwrap(), None);
    unit.put_active_toolset(&row("profile:p1", 1)).await.unwrap();
    unit.put_active_toolset(&row("none", 2)).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().find_active_toolset().await.unwrap(), Some(row("none", 2)));
}

pub(crate) async fn each_user_starts_with_their_own(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_start_toolset("u1").await.unwrap(), None);
    unit.put_start_toolset("u1", Some("profile:p1")).await.unwrap();
    unit.put_start_toolset("u2", Some("default")).await.unwrap();
    unit.put_start_toolset("u2", Some("profile:p1")).await.unwrap();
    let both = [("u1", "profile:p1"), ("u2", "profile:p1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(unit.list_start_toolsets().await.unwrap(), both);
    unit.put_start_toolset("u2", None).await.unwrap();
    unit.repoint_start_toolsets("profile:p1", "none").await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_start_toolset("u1").await.unwrap().as_deref(), Some("none"));
    assert_eq!(unit.find_start_toolset("u2").await.unwrap(), None);
}
