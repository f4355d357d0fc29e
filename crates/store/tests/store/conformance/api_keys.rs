use std::sync::Arc;

use toolshelf_runtime::store::{ApiKeyRow, Store, StoreError};

use super::samples::{api_key, at, hash, user, with_users};

pub(crate) async fn keys_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let full = ApiKeyRow { revoked_at: Some(at(77)), ..api_key(1, "u1") };
    let bare = ApiKeyRow { scopes: vec![], pinned: None, expires_at: None, ..api_key(2, "u2") };
    let mut unit = store.begin().await.unwrap();
    unit.insert_api_key(&full).await.unwrap();
    unit.insert_api_key(&bare).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    for (key, owner) in [(full, user("u1", "Anna")), (bare, user("u2", "Bert"))] {
        let by_token = unit.find_api_key_by_token(&key.token_hash).await.unwrap();
        assert_eq!(by_token, Some((key.clone(), owner.clone())));
        assert_eq!(unit.find_api_key(&key.id).await.unwrap(), Some((key, owner.username)));
    }
    assert_eq!(unit.find_api_key_by_token(&hash(3)).await.unwrap(), None);
    assert_eq!(unit.find_api_key("key-3").await.unwrap(), None);
}

pub(crate) async fn keys_are_listed_newest_first(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let mut unit = store.begin().await.unwrap();
    for (number, owner) in [(2, "u1"), (4, "u2"), (1, "u1"), (3, "u1")] {
        unit.insert_api_key(&api_key(number, owner)).await.unwrap();
    }
    // Of keys made at one time, the one with the larger id is the newer.
    unit.insert_api_key(&ApiKeyRow { created_at: at(3), ..api_key(5, "u1") }).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    let ids = |keys: Vec<(ApiKeyRow, String)>| -> Vec<String> {
        keys.into_iter().map(|(key, owner)| format!("{} of {owner}", key.id)).collect()
    };
    let of_one = unit.list_api_keys(Some("u1")).await.unwrap();
    assert_eq!(of_one[1].0, api_key(3, "u1"));
    assert_eq!(ids(of_one), ["key-5 of Anna", "key-3 of Anna", "key-2 of Anna", "key-1 of Anna"]);
    let of_all = unit.list_api_keys(None).await.unwrap();
    assert_eq!(
        ids(of_all),
        ["key-4 of Bert", "key-5 of Anna", "key-3 of Anna", "key-2 of Anna", "key-1 of Anna"]
    );
    assert_eq!(unit.list_api_keys(Some("nobody")).await.unwrap(), []);
}

pub(crate) async fn a_key_is_revoked_once(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_api_key(&api_key(1, "u1")).await.unwrap();
    unit.insert_api_key(&api_key(2, "u1")).await.unwrap();
    unit.revoke_api_key("key-1", at(70)).await.unwrap();
    unit.revoke_api_key("key-1", at(80)).await.unwrap();
    unit.revoke_api_key("key-9", at(80)).await.unwrap();

    let (first, _) = unit.find_api_key_by_token(&hash(1)).await.unwrap().unwrap();
    assert_eq!(first, ApiKeyRow { revoked_at: Some(at(70)), ..api_key(1, "u1") });
    let (second, _) = unit.find_api_key("key-2").await.unwrap().unwrap();
    assert_eq!(second.revoked_at, None);
}

pub(crate) async fn keys_of_one_pin_are_pinned_to_another(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let pinned = |number, owner, pin: Option<&str>| ApiKeyRow {
        pinned: pin.map(str::to_owned),
        ..api_key(number, owner)
    };
    let mut unit = store.begin().await.unwrap();
    for key in [
        pinned(1, "u1", Some("profile:a")),
        ApiKeyRow { revoked_at: Some(at(7)), ..pinned(2, "u2", Some("profile:a")) },
        pinned(3, "u1", Some("profile:A")),
        pinned(4, "u1", Some("profile:ab")),
        pinned(5, "u1", None),
        pinned(6, "u1", Some("none")),
    ] {
        unit.insert_api_key(&key).await.unwrap();
    }
    unit.repoint_api_keys("profile:a", "default").await.unwrap();
    unit.repoint_api_keys("profile:nobody", "default").await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    for (number, expected) in [
        (1, Some("default")),
        (2, Some("default")),
        (3, Some("profile:A")),
        (4, Some("profile:ab")),
        (5, None),
        (6, Some("none")),
    ] {
        let (key, _) = unit.find_api_key(&format!("key-{number}")).await.unwrap().unwrap();
        assert_eq!(key.pinned.as_deref(), expected, "{number}");
        // Nothing else of it changes.
        assert_eq!(key.scopes, api_key(1, "u1").scopes);
        assert_eq!(key.revoked_at, (number == 2).then(|| at(7)));
    }
}

pub(crate) async fn a_token_belongs_to_one_key(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_api_key(&api_key(1, "u1")).await.unwrap();
    let same_token = ApiKeyRow { token_hash: hash(1), ..api_key(2, "u1") };
    let error = unit.insert_api_key(&same_token).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}
