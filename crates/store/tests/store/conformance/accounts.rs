use std::sync::Arc;

use toolshelf_core::Role;
use toolshelf_runtime::store::{Store, StoreError, UserRow};

use super::samples::{at, user, with_users};

pub(crate) async fn users_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.count_users().await.unwrap(), 0);
    assert_eq!(unit.find_user("u1").await.unwrap(), None);
    assert_eq!(unit.find_user_by_name("anna").await.unwrap(), None);

    let anna = user("u1", "Anna");
    let admin = UserRow { role: Role::Admin, disabled: true, revision: 7, ..user("u2", "Bert") };
    unit.insert_user(&anna).await.unwrap();
    unit.insert_user(&admin).await.unwrap();
    assert_eq!(unit.count_users().await.unwrap(), 2);
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_user("u1").await.unwrap().as_ref(), Some(&anna));
    assert_eq!(unit.find_user("u2").await.unwrap().as_ref(), Some(&admin));
    assert_eq!(unit.find_user("U1").await.unwrap(), None);
    for name in ["Anna", "anna", "ANNA"] {
        assert_eq!(unit.find_user_by_name(name).await.unwrap().as_ref(), Some(&anna), "{name}");
    }
    assert_eq!(unit.find_user_by_name("Ann").await.unwrap(), None);
    assert_eq!(unit.find_user_by_name("ann%").await.unwrap(), None);
}

pub(crate) async fn a_name_is_taken_in_every_letter_case(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Örs")]).await;
    let mut unit = store.begin().await.unwrap();
    for name in ["Anna", "anna", "aNNA", "örs", "ÖRS"] {
        let error = unit.insert_user(&user("u3", name)).await.unwrap_err();
        assert!(matches!(error, StoreError::Taken("username")), "{name}: {error:?}");
    }
    assert_eq!(unit.find_user_by_name("ÖRS").await.unwrap().unwrap().id, "u2");
    unit.insert_user(&user("u3", "Ann")).await.unwrap();
    unit.insert_user(&user("u4", "ors")).await.unwrap();
    assert_eq!(unit.count_users().await.unwrap(), 4);
}

pub(crate) async fn users_are_listed_by_name(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "cleo"), user("u2", "Bert"), user("u3", "anna"), user("u4", "Dora")])
        .await;
    let users = store.read().await.unwrap().list_users().await.unwrap();
    let names: Vec<&str> = users.iter().map(|user| user.username.as_str()).collect();
    assert_eq!(names, ["anna", "Bert", "cleo", "Dora"]);
    assert_eq!(users[1], user("u2", "Bert"));
}

pub(crate) async fn an_update_replaces_what_may_change(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let changed = UserRow {
        // What an update does not replace.
        username: "Somebody".to_owned(),
        created_at: at(50),
        role: Role::Admin,
        disabled: true,
        password_hash: "$argon2id$other".to_owned(),
        revision: 2,
        updated_at: at(60),
        ..user("u1", "")
    };
    let mut unit = store.begin().await.unwrap();
    assert!(unit.update_user(&changed, 1).await.unwrap());
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    let expected = UserRow { username: "Anna".to_owned(), created_at: at(0), ..changed };
    assert_eq!(unit.find_user("u1").await.unwrap(), Some(expected));
    assert_eq!(unit.find_user("u2").await.unwrap(), Some(user("u2", "Bert")));
}

pub(crate) async fn a_stale_revision_changes_nothing(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "Anna")]).await;
    let second = UserRow { disabled: true, revision: 2, ..user("u1", "Anna") };
    let mut unit = store.begin().await.unwrap();
    assert!(unit.update_user(&second, 1).await.unwrap());
    let lost = UserRow { role: Role::Admin, ..second.clone() };
    for expected in [0, 1, 3] {
        assert!(!unit.update_user(&lost, expected).await.unwrap(), "revision {expected}");
    }
    assert!(!unit.update_user(&user("nobody", "Anna"), 1).await.unwrap());
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().find_user("u1").await.unwrap(), Some(second));
}

pub(crate) async fn active_admins_are_counted(store: Arc<dyn Store>) {
    let admin = |id: &str, disabled| UserRow { role: Role::Admin, disabled, ..user(id, id) };
    with_users(&store, &[admin("u1", false), admin("u2", true), admin("u3", false), user("u4", "u4")]).await;
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.count_active_admins().await.unwrap(), 2);
    assert!(unit.update_user(&admin("u1", true), 1).await.unwrap());
    assert_eq!(unit.count_active_admins().await.unwrap(), 1);
    assert_eq!(unit.count_users().await.unwrap(), 4);
}
