use std::sync::Arc;

use tokio::task::JoinSet;
use toolshelf_core::NewTools;
use toolshelf_runtime::store::{ProfileRow, ProfileVersionRow, RetiredNameRow, Store, StoreError};

use super::samples::{at, profile, user, with_users};

/// Adds two users, and the profiles.
async fn with_profiles(store: &Arc<dyn Store>, profiles: &[ProfileRow]) {
    with_users(store, &[user("u1", "Anna"), user("u2", "Bert")]).await;
    let mut unit = store.begin().await.unwrap();
    for profile in profiles {
        unit.insert_profile(profile).await.unwrap();
    }
    unit.commit().await.unwrap();
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// The profile at a revision, as Anna made it.
fn version(id: &str, revision: u64) -> ProfileVersionRow {
    let profile =
        ProfileRow { revision, description: format!("Revision {revision}"), ..profile(id, id, "u1") };
    ProfileVersionRow { profile, actor: Some("Anna".to_owned()) }
}

fn retired(name: &str, profile_id: Option<&str>, owner_id: &str) -> RetiredNameRow {
    RetiredNameRow {
        name: name.to_owned(),
        profile_id: profile_id.map(str::to_owned),
        owner_id: owner_id.to_owned(),
        until: at(500),
    }
}

pub(crate) async fn profiles_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    let full = ProfileRow {
        // Neither sorted nor made unique, nor brought to a normal form.
        tools: texts([
            "z.last",
            "a.first",
            "Caf\u{e9}",
            "cafe\u{301}",
            "q\"\\/",
            "\u{0}\u{7}\n",
            "",
            "z.last",
            "✓ 𝄞",
        ]),
        pinned: texts(["z.last", "a.first"]),
        new_tools: NewTools::Hold,
        new_tools_since: 41,
        revision: 7,
        ..profile("p2", "Night jobs ✓", "u2")
    };
    let bare = ProfileRow {
        description: String::new(),
        tools: vec![],
        pinned: vec![],
        new_tools: NewTools::Ignore,
        ..profile("p1", "bare", "u1")
    };
    let open = ProfileRow { new_tools: NewTools::Include, ..profile("p3", "another", "u1") };
    with_profiles(&store, &[full.clone(), open.clone(), bare.clone()]).await;

    let mut unit = store.read().await.unwrap();
    for profile in [&full, &bare, &open] {
        assert_eq!(unit.find_profile(&profile.id).await.unwrap().as_ref(), Some(profile));
    }
    assert_eq!(unit.find_profile("p4").await.unwrap(), None);
    assert_eq!(unit.find_profile("P1").await.unwrap(), None);
    assert_eq!(unit.list_profiles().await.unwrap(), [bare, full, open], "they are listed by id");
}

pub(crate) async fn a_name_is_taken_in_every_letter_case(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "Research", "u1"), profile("p2", "Straße", "u1")]).await;
    let mut unit = store.begin().await.unwrap();
    for name in ["Research", "research", "rESEARCH", "Straße", "STRASSE", "strasse", "STRAẞE"] {
        let error = unit.insert_profile(&profile("p3", name, "u2")).await.unwrap_err();
        assert!(matches!(error, StoreError::Taken("name")), "{name}: {error:?}");
    }
    // A taken name leaves the unit usable.
    unit.insert_profile(&profile("p3", "CAFÉ", "u2")).await.unwrap();
    unit.insert_profile(&profile("p4", "strase", "u2")).await.unwrap();
    let error = unit.insert_profile(&profile("p5", "cafe\u{301}", "u2")).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken("name")), "{error:?}");
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().list_profiles().await.unwrap().len(), 4);
}

pub(crate) async fn a_profile_needs_its_own_id_and_its_owner(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "research", "u1")]).await;
    for refused in [profile("p1", "other", "u1"), profile("p2", "other", "nobody")] {
        let mut unit = store.begin().await.unwrap();
        let error = unit.insert_profile(&refused).await.unwrap_err();
        assert!(matches!(error, StoreError::Database(_)), "{error:?}");
    }
    assert_eq!(store.read().await.unwrap().list_profiles().await.unwrap(), [profile("p1", "research", "u1")]);
}

pub(crate) async fn an_update_replaces_what_may_change(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "research", "u1"), profile("p2", "other", "u1")]).await;
    let changed = ProfileRow {
        id: "p1".to_owned(),
        name: "Reading".to_owned(),
        description: "To read.".to_owned(),
        tools: texts(["b", "a", "B"]),
        pinned: texts(["B"]),
        new_tools: NewTools::Include,
        new_tools_since: 12,
        revision: 2,
        updated_at: at(60),
        // What an update does not replace.
        owner_id: "u2".to_owned(),
        created_at: at(50),
    };
    let mut unit = store.begin().await.unwrap();
    assert!(unit.update_profile(&changed, 1).await.unwrap());
    unit.commit().await.unwrap();

    let expected = ProfileRow { owner_id: "u1".to_owned(), created_at: at(0), ..changed };
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.list_profiles().await.unwrap(), [expected.clone(), profile("p2", "other", "u1")]);

    // The name of before is free, and its own name is not taken from a profile in another letter case.
    unit.insert_profile(&profile("p3", "RESEARCH", "u2")).await.unwrap();
    let louder = ProfileRow { name: "READING".to_owned(), revision: 3, ..expected };
    assert!(unit.update_profile(&louder, 2).await.unwrap());
    assert_eq!(unit.find_profile("p1").await.unwrap(), Some(louder));
    let error = unit.insert_profile(&profile("p4", "reading", "u2")).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken("name")), "{error:?}");
}

pub(crate) async fn a_stale_revision_changes_nothing(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "research", "u1"), profile("p2", "other", "u1")]).await;
    let second = ProfileRow { tools: texts(["b"]), revision: 2, ..profile("p1", "research", "u1") };
    let mut unit = store.begin().await.unwrap();
    assert!(unit.update_profile(&second, 1).await.unwrap());
    let lost = ProfileRow { tools: vec![], name: "lost".to_owned(), ..second.clone() };
    // Who knows an old state has to look again first, whatever name was asked for.
    let taken = ProfileRow { name: "other".to_owned(), ..lost.clone() };
    for expected in [0, 1, 3, u64::MAX] {
        assert!(!unit.update_profile(&lost, expected).await.unwrap(), "revision {expected}");
        assert!(!unit.update_profile(&taken, expected).await.unwrap(), "revision {expected}");
    }
    assert!(!unit.update_profile(&profile("p9", "lost", "u1"), 1).await.unwrap());
    assert!(!unit.update_profile(&profile("p9", "other", "u1"), 1).await.unwrap());
    unit.commit().await.unwrap();
    assert_eq!(
        store.read().await.unwrap().list_profiles().await.unwrap(),
        [second, profile("p2", "other", "u1")]
    );
}

pub(crate) async fn an_update_to_a_taken_name_changes_nothing(store: Arc<dyn Store>) {
    let before = [profile("p1", "research", "u1"), profile("p2", "Straße", "u2")];
    with_profiles(&store, &before).await;
    let mut unit = store.begin().await.unwrap();
    for name in ["Straße", "STRASSE", "strasse"] {
        let greedy = ProfileRow {
            name: name.to_owned(),
            description: "Changed.".to_owned(),
            tools: vec![],
            revision: 2,
            updated_at: at(60),
            ..profile("p1", "", "u1")
        };
        let error = unit.update_profile(&greedy, 1).await.unwrap_err();
        assert!(matches!(error, StoreError::Taken("name")), "{name}: {error:?}");
        assert_eq!(unit.list_profiles().await.unwrap(), before);
    }
    // The unit can still be used, and the profile changed.
    let modest = ProfileRow { name: "Strase".to_owned(), revision: 2, ..profile("p1", "", "u1") };
    assert!(unit.update_profile(&modest, 1).await.unwrap());
    unit.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().find_profile("p1").await.unwrap(), Some(modest));
}

pub(crate) async fn of_many_at_once_one_takes_the_name(store: Arc<dyn Store>) {
    with_profiles(&store, &[]).await;
    let mut writers = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        writers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            let name = if number % 2 == 0 { "Straße" } else { "STRASSE" };
            match unit.insert_profile(&profile(&format!("p{number}"), name, "u1")).await {
                Ok(()) => unit.commit().await.map(|()| true).unwrap(),
                Err(StoreError::Taken("name")) => false,
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    let taken = writers.join_all().await.into_iter().filter(|taken| *taken).count();
    assert_eq!(taken, 1);
    assert_eq!(store.read().await.unwrap().list_profiles().await.unwrap().len(), 1);
}

pub(crate) async fn versions_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "now", "u1")]).await;
    // A version has its own of everything: the profile is another by now.
    let full = ProfileVersionRow {
        profile: ProfileRow {
            id: "p1".to_owned(),
            name: "Earlier".to_owned(),
            description: "As it was.".to_owned(),
            owner_id: "somebody who is gone".to_owned(),
            tools: texts(["z", "a", "cafe\u{301}", "z"]),
            pinned: texts(["z"]),
            new_tools: NewTools::Hold,
            new_tools_since: 3,
            revision: 4,
            created_at: at(-7),
            updated_at: at(8),
        },
        actor: Some("Anna".to_owned()),
    };
    let by_the_system = ProfileVersionRow { actor: None, ..version("p1", 5) };
    let mut unit = store.begin().await.unwrap();
    unit.put_profile_version(&full).await.unwrap();
    unit.put_profile_version(&by_the_system).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.find_profile_version("p1", 4).await.unwrap(), Some(full.clone()));
    assert_eq!(unit.find_profile_version("p1", 5).await.unwrap(), Some(by_the_system.clone()));
    for (id, revision) in [("p1", 0), ("p1", 6), ("p1", u64::MAX), ("p2", 4)] {
        assert_eq!(unit.find_profile_version(id, revision).await.unwrap(), None, "{id} {revision}");
    }
    assert_eq!(unit.list_profile_versions("p1", None, 10).await.unwrap(), [by_the_system, full]);
    assert_eq!(unit.find_profile("p1").await.unwrap(), Some(profile("p1", "now", "u1")));
}

pub(crate) async fn versions_are_paged_newest_first(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "one", "u1"), profile("p2", "two", "u1")]).await;
    let mut unit = store.begin().await.unwrap();
    // As text, 10 would come before 9.
    for revision in [9, 2, 10, 1] {
        unit.put_profile_version(&version("p1", revision)).await.unwrap();
    }
    unit.put_profile_version(&version("p2", 3)).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.read().await.unwrap();
    for (before, limit, expected) in [
        (None, 50, &[10, 9, 2, 1][..]),
        (None, 2, &[10, 9]),
        (Some(9), 2, &[2, 1]),
        (Some(10), 1, &[9]),
        (Some(5), 50, &[2, 1]),
        (Some(1), 50, &[]),
        (Some(0), 50, &[]),
        (Some(u64::MAX), 1, &[10]),
        (None, 0, &[]),
    ] {
        let page = unit.list_profile_versions("p1", before, limit).await.unwrap();
        let expected: Vec<ProfileVersionRow> =
            expected.iter().map(|revision| version("p1", *revision)).collect();
        assert_eq!(page, expected, "{limit} before {before:?}");
    }
    assert_eq!(unit.list_profile_versions("p2", None, 50).await.unwrap(), [version("p2", 3)]);
    assert_eq!(unit.list_profile_versions("p9", None, 50).await.unwrap(), []);

    assert_eq!(unit.count_profile_versions("p1").await.unwrap(), 4);
    assert_eq!(unit.count_profile_versions("p2").await.unwrap(), 1);
    assert_eq!(unit.count_profile_versions("p9").await.unwrap(), 0);
}

pub(crate) async fn a_version_replaces_the_one_of_its_revision(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "one", "u1"), profile("p2", "two", "u1")]).await;
    let mut unit = store.begin().await.unwrap();
    for (id, revision) in [("p1", 1), ("p1", 2), ("p2", 2)] {
        unit.put_profile_version(&version(id, revision)).await.unwrap();
    }
    let other = ProfileVersionRow {
        profile: ProfileRow {
            id: "p1".to_owned(),
            name: "Mended".to_owned(),
            description: "Anew.".to_owned(),
            owner_id: "u2".to_owned(),
            tools: texts(["m"]),
            pinned: vec![],
            new_tools: NewTools::Include,
            new_tools_since: 9,
            revision: 2,
            created_at: at(70),
            updated_at: at(80),
        },
        actor: None,
    };
    unit.put_profile_version(&other).await.unwrap();
    assert_eq!(unit.list_profile_versions("p1", None, 10).await.unwrap(), [other, version("p1", 1)]);
    assert_eq!(unit.list_profile_versions("p2", None, 10).await.unwrap(), [version("p2", 2)]);
    assert_eq!(unit.count_profile_versions("p1").await.unwrap(), 2);
}

pub(crate) async fn a_version_needs_its_profile(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let error = unit.put_profile_version(&version("p1", 1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error:?}");
}

pub(crate) async fn deleting_a_profile_takes_its_history(store: Arc<dyn Store>) {
    let kept = profile("p2", "two", "u1");
    with_profiles(&store, &[profile("p1", "one", "u1"), kept.clone()]).await;
    let mut unit = store.begin().await.unwrap();
    for (id, revision) in [("p1", 1), ("p1", 2), ("p2", 1)] {
        unit.put_profile_version(&version(id, revision)).await.unwrap();
    }
    unit.put_retired_name(&retired("uno", Some("p1"), "u1")).await.unwrap();
    unit.put_retired_name(&retired("due", Some("p2"), "u1")).await.unwrap();
    unit.delete_profile("p1").await.unwrap();
    unit.delete_profile("p9").await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.list_profiles().await.unwrap(), [kept]);
    assert_eq!(unit.count_profile_versions("p1").await.unwrap(), 0);
    assert_eq!(unit.find_profile_version("p1", 1).await.unwrap(), None);
    assert_eq!(unit.list_profile_versions("p2", None, 10).await.unwrap(), [version("p2", 1)]);
    // Names stay kept, but those of the deleted profile lead nowhere.
    assert_eq!(
        unit.list_retired_names().await.unwrap(),
        [retired("due", Some("p2"), "u1"), retired("uno", None, "u1")]
    );

    // What comes later with the same id and name begins without a past.
    unit.insert_profile(&profile("p1", "ONE", "u2")).await.unwrap();
    assert_eq!(unit.list_profile_versions("p1", None, 10).await.unwrap(), []);
}

pub(crate) async fn a_retired_name_is_replaced_in_every_letter_case(store: Arc<dyn Store>) {
    with_profiles(&store, &[profile("p1", "one", "u1"), profile("p2", "two", "u2")]).await;
    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.list_retired_names().await.unwrap(), []);
    let over = RetiredNameRow { until: at(-500), ..retired("Old ✓", None, "u1") };
    unit.put_retired_name(&retired("Straße", Some("p1"), "u1")).await.unwrap();
    unit.put_retired_name(&over).await.unwrap();
    assert_eq!(
        unit.list_retired_names().await.unwrap(),
        [over.clone(), retired("Straße", Some("p1"), "u1")],
        "also those whose time is over"
    );

    let newer = RetiredNameRow { until: at(900), ..retired("STRASSE", Some("p2"), "u2") };
    unit.put_retired_name(&newer).await.unwrap();
    assert_eq!(unit.list_retired_names().await.unwrap(), [over.clone(), newer]);
    let deleted = retired("strasse", None, "u1");
    unit.put_retired_name(&deleted).await.unwrap();
    unit.commit().await.unwrap();

    let mut unit = store.begin().await.unwrap();
    assert_eq!(unit.list_retired_names().await.unwrap(), [over.clone(), deleted]);
    // A name that is kept is not taken: whether its owner may have it is not for the store to say.
    unit.insert_profile(&profile("p3", "Straße", "u1")).await.unwrap();
    unit.delete_retired_name("straß").await.unwrap();
    assert_eq!(unit.list_retired_names().await.unwrap().len(), 2);
    unit.delete_retired_name("sTRASSE").await.unwrap();
    assert_eq!(unit.list_retired_names().await.unwrap(), [over]);
}

pub(crate) async fn tools_keep_the_number_of_their_first_sighting(store: Arc<dyn Store>) {
    let seen = |tools: &[(&str, u64)]| -> Vec<(String, u64)> {
        tools.iter().map(|(tool, sighting)| ((*tool).to_owned(), *sighting)).collect()
    };
    let mut unit = store.begin().await.unwrap();
    unit.add_tool_sightings(&[]).await.unwrap();
    assert_eq!(unit.list_tool_sightings().await.unwrap(), []);

    unit.add_tool_sightings(&texts(["web.search", "time.now", "web.search"])).await.unwrap();
    assert_eq!(unit.list_tool_sightings().await.unwrap(), seen(&[("time.now", 1), ("web.search", 1)]));

    // Neither of these uses up a number.
    unit.add_tool_sightings(&[]).await.unwrap();
    unit.add_tool_sightings(&texts(["time.now"])).await.unwrap();
    unit.add_tool_sightings(&texts(["time.now", "a.new", "Time.Now"])).await.unwrap();
    unit.commit().await.unwrap();
    let second = [("time.now", 1), ("web.search", 1), ("Time.Now", 2), ("a.new", 2)];
    assert_eq!(store.read().await.unwrap().list_tool_sightings().await.unwrap(), seen(&second));

    // What is rolled back uses up none either.
    let mut unit = store.begin().await.unwrap();
    unit.add_tool_sightings(&texts(["lost"])).await.unwrap();
    drop(unit);
    let mut unit = store.begin().await.unwrap();
    unit.add_tool_sightings(&texts(["b.new"])).await.unwrap();
    assert_eq!(unit.list_tool_sightings().await.unwrap()[4..], seen(&[("b.new", 3)]));
}

pub(crate) async fn sightings_at_once_get_numbers_without_gaps(store: Arc<dyn Store>) {
    let mut writers = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        writers.spawn(async move {
            let mut unit = store.begin().await.unwrap();
            unit.add_tool_sightings(&[format!("tool.{number}"), "shared".to_owned()]).await.unwrap();
            unit.commit().await.unwrap();
        });
    }
    writers.join_all().await;
    let sightings = store.read().await.unwrap().list_tool_sightings().await.unwrap();
    let numbers: Vec<u64> =
        sightings.iter().filter(|(tool, _)| tool != "shared").map(|(_, number)| *number).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<u64>>());
    assert!(sightings.contains(&("shared".to_owned(), 1)));
}
