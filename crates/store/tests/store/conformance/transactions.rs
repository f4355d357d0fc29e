use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use chrono::{TimeDelta, Timelike};
use tokio::task::JoinSet;
use toolshelf_runtime::store::{Store, StoreError, UserRow};

use super::samples::{at, entry, session, user, with_users};

pub(crate) async fn what_is_dropped_is_rolled_back(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    unit.insert_user(&user("u1", "Anna")).await.unwrap();
    unit.append_audit(&entry("Anna")).await.unwrap();
    assert_eq!(unit.raise_snapshot_revision().await.unwrap(), 1);
    drop(unit);

    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.count_users().await.unwrap(), 0);
    assert_eq!(unit.count_audit().await.unwrap(), 0);
    assert_eq!(unit.snapshot_revision().await.unwrap(), 0);
    unit.insert_user(&user("u1", "Anna")).await.unwrap();
}

pub(crate) async fn what_is_committed_is_seen(store: Arc<dyn Store>) {
    for expected in 1..=3 {
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.raise_snapshot_revision().await.unwrap(), expected);
        assert_eq!(unit.snapshot_revision().await.unwrap(), expected, "a unit sees its own changes");
        unit.commit().await.unwrap();
        assert_eq!(store.read().await.unwrap().snapshot_revision().await.unwrap(), expected);
    }
    store.read().await.unwrap().commit().await.unwrap();
}

pub(crate) async fn a_reader_sees_one_state_and_does_not_wait(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut writer = store.begin().await.unwrap();
    writer.insert_user(&user("u2", "Bert")).await.unwrap();
    writer.raise_snapshot_revision().await.unwrap();

    // The writer holds its transaction open, and this completes.
    let mut early = store.read().await.unwrap();
    assert_eq!(early.count_users().await.unwrap(), 1);

    // The reader holds its transaction open, and this completes.
    writer.commit().await.unwrap();
    assert_eq!(early.count_users().await.unwrap(), 1);
    assert_eq!(early.find_user("u2").await.unwrap(), None);
    assert_eq!(early.snapshot_revision().await.unwrap(), 0);

    let mut late = store.read().await.unwrap();
    assert_eq!(late.count_users().await.unwrap(), 2);
    assert_eq!(late.snapshot_revision().await.unwrap(), 1);
    assert_eq!(early.count_users().await.unwrap(), 1);
}

pub(crate) async fn a_reader_does_not_write(store: Arc<dyn Store>) {
    let mut unit = store.read().await.unwrap();
    let error = unit.insert_user(&user("u1", "Anna")).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
    drop(unit);
    assert_eq!(store.read().await.unwrap().count_users().await.unwrap(), 0);
}

pub(crate) async fn writers_wait_for_each_other(store: Arc<dyn Store>) {
    let mut first = store.begin().await.unwrap();
    first.insert_user(&user("u1", "Anna")).await.unwrap();
    let second = tokio::spawn({
        let store = store.clone();
        async move {
            let mut unit = store.begin().await.unwrap();
            unit.count_users().await.unwrap()
        }
    });
    for number in 2..20 {
        first.insert_user(&user(&format!("u{number}"), &format!("user{number}"))).await.unwrap();
        assert!(!second.is_finished());
    }
    first.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), 19, "it began after the first was through");
}

pub(crate) async fn concurrent_writers_lose_no_update(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut writers = JoinSet::new();
    for _ in 0..20 {
        let store = store.clone();
        writers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            let now = unit.find_user("u1").await.unwrap().unwrap();
            let next = UserRow { revision: now.revision + 1, ..now.clone() };
            assert!(unit.update_user(&next, now.revision).await.unwrap());
            let revision = unit.raise_snapshot_revision().await.unwrap();
            unit.commit().await.unwrap();
            revision
        });
    }
    let mut revisions = writers.join_all().await;
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=20).collect::<Vec<u64>>());
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.snapshot_revision().await.unwrap(), 20);
    assert_eq!(unit.find_user("u1").await.unwrap().unwrap().revision, 21);
}

pub(crate) async fn a_writer_that_gives_up_waiting_leaves_no_trace(store: Arc<dyn Store>) {
    let mut first = store.begin().await.unwrap();
    first.raise_snapshot_revision().await.unwrap();
    {
        let mut given_up = pin!(store.begin());
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(given_up.as_mut().poll(&mut context), Poll::Pending));
    }
    first.commit().await.unwrap();
    let mut next = store.begin().await.unwrap();
    assert_eq!(next.raise_snapshot_revision().await.unwrap(), 2);
    next.commit().await.unwrap();
}

pub(crate) async fn a_taken_name_leaves_the_unit_usable(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    assert!(matches!(unit.insert_user(&user("u2", "ANNA")).await, Err(StoreError::Taken(_))));
    unit.insert_user(&user("u2", "Bert")).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().count_users().await.unwrap(), 2);
}

pub(crate) async fn a_failed_statement_spoils_the_unit(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    unit.insert_user(&user("u1", "Anna")).await.unwrap();
    assert!(matches!(unit.insert_session(&session(1, "nobody")).await, Err(StoreError::Database(_))));
    assert!(matches!(unit.count_users().await, Err(StoreError::Database(_))));
    assert!(matches!(unit.commit().await, Err(StoreError::Database(_))));
    assert_eq!(store.begin().await.unwrap().count_users().await.unwrap(), 0);
}

pub(crate) async fn times_keep_microseconds(store: Arc<dyn Store>) {
    assert_eq!(at(0).nanosecond() % 1_000_000, 456_000, "the samples have microseconds");
    let given = UserRow {
        created_at: at(0) + TimeDelta::nanoseconds(999),
        updated_at: at(-4_000_000_000) + TimeDelta::nanoseconds(999),
        ..user("u1", "Anna")
    };
    with_users(&store, &[given]).await;
    let kept = store.read().await.unwrap().find_user("u1").await.unwrap().unwrap();
    assert_eq!(kept.created_at, at(0));
    assert_eq!(kept.updated_at, at(-4_000_000_000), "also before 1970");
}
