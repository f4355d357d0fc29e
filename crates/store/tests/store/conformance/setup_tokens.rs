use std::sync::Arc;

use tokio::task::JoinSet;
use toolshelf_runtime::store::Store;

use super::samples::{at, hash};

pub(crate) async fn a_new_token_replaces_the_old(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.find_setup_token().await.unwrap(), None);
    assert!(!unit.take_setup_token(&hash(1)).await.unwrap());

    unit.put_setup_token(&hash(1), at(10)).await.unwrap();
    unit.put_setup_token(&hash(2), at(20)).await.unwrap();
    assert_eq!(unit.find_setup_token().await.unwrap(), Some((hash(2), at(20))));
    assert!(!unit.take_setup_token(&hash(1)).await.unwrap());
    assert_eq!(unit.find_setup_token().await.unwrap(), Some((hash(2), at(20))));

    assert!(unit.take_setup_token(&hash(2)).await.unwrap());
    assert!(!unit.take_setup_token(&hash(2)).await.unwrap());
    assert_eq!(unit.find_setup_token().await.unwrap(), None);
}

pub(crate) async fn of_many_at_once_one_takes_the_token(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    unit.put_setup_token(&hash(1), at(10)).await.unwrap();
    unit.commit().await.unwrap();

    let mut takers = JoinSet::new();
    for _ in 0..20 {
        let store = store.clone();
        takers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            let taken = unit.take_setup_token(&hash(1)).await.unwrap();
            unit.commit().await.unwrap();
            taken
        });
    }
    let taken = takers.join_all().await;
    assert_eq!(taken.len(), 20);
    assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
}
