//! Values that no version wrote, as a failing disk or a hand in the database leaves them.

use std::fs;
use std::future::Future;
use std::path::PathBuf;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use toolshelf_core::Disable;
use toolshelf_runtime::store::{ProfileVersionRow, RetiredNameRow, Store, StoreError, ToolStateRow};
use toolshelf_store::{OpenError, SqliteStore};

use crate::conformance::samples::{
    api_key, at, conversation, entry, hash, message, profile, run, run_node, session, user,
};
use crate::sqlite::OnDisk;

/// A store with one row in each table.
async fn filled() -> OnDisk {
    let on_disk = OnDisk::new().await;
    let mut unit = on_disk.store.begin().await.unwrap();
    unit.insert_user(&user("u1", "Anna")).await.unwrap();
    unit.insert_session(&session(1, "u1")).await.unwrap();
    unit.insert_api_key(&api_key(1, "u1")).await.unwrap();
    unit.put_setup_token(&hash(1), at(1)).await.unwrap();
    unit.append_audit(&entry("t")).await.unwrap();
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    unit.append_todos("c1", &["sow".to_owned()], at(1)).await.unwrap();
    unit.insert_run(&run("r1", "c1")).await.unwrap();
    unit.put_run_node(&run_node("r1", 1)).await.unwrap();
    unit.append_message(&message("m1", "c1", 1, "r1")).await.unwrap();
    let disable = Disable { by: "Anna".into(), reason: "slow".into(), at: "2026-12-01T00:00:00Z".into() };
    unit.put_tool_state(&ToolStateRow { tool: "t".to_owned(), disable: Some(disable), revision: 1 })
        .await
        .unwrap();
    let profile = profile("p1", "research", "u1");
    unit.insert_profile(&profile).await.unwrap();
    unit.put_profile_version(&ProfileVersionRow { profile, actor: None }).await.unwrap();
    let retired = RetiredNameRow {
        name: "Reading".to_owned(),
        profile_id: Some("p1".to_owned()),
        owner_id: "u1".to_owned(),
        until: at(1),
    };
    unit.put_retired_name(&retired).await.unwrap();
    unit.add_tool_sightings(&["t".to_owned()]).await.unwrap();
    unit.commit().await.unwrap();
    on_disk
}

/// Changes a database behind the store's back, past all checks.
async fn damage(on_disk: &OnDisk, sql: &'static str) {
    let options = SqliteConnectOptions::new()
        .filename(on_disk.path())
        .foreign_keys(false)
        .pragma("ignore_check_constraints", "ON");
    let mut connection: SqliteConnection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Reads everything of the area; returns the first error.
async fn read_all(store: &dyn Store, area: &str) -> Result<(), StoreError> {
    let mut unit = store.read().await?;
    match area {
        "users" => unit.list_users().await.map(drop),
        "sessions" => unit.find_session(&hash(1)).await.map(drop),
        "api_keys" => unit.list_api_keys(None).await.map(drop),
        "setup_tokens" => unit.find_setup_token().await.map(drop),
        "tool_states" => unit.list_tool_states().await.map(drop),
        "snapshot_revision" => unit.snapshot_revision().await.map(drop),
        "conversations" => unit.list_conversations("u1", None, None, 10).await.map(drop),
        "todos" => unit.list_todos("c1").await.map(drop),
        "runs" => unit.find_run("r1").await.map(drop),
        "run_nodes" => unit.list_run_nodes("r1").await.map(drop),
        "messages" => unit.list_messages("c1", None, 10).await.map(drop),
        "audit" => unit.list_audit(None, 10).await.map(drop),
        "profiles" => unit.list_profiles().await.map(drop),
        "profile_versions" => unit.list_profile_versions("p1", None, 10).await.map(drop),
        "retired_names" => unit.list_retired_names().await.map(drop),
        "tool_sightings" => unit.list_tool_sightings().await.map(drop),
        other => panic!("unknown area {other}"),
    }
}

async fn corruption<T>(result: impl Future<Output = Result<T, StoreError>>) -> String {
    match result.await {
        Err(StoreError::Corrupt(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was read"),
    }
}

/// Damages one value at a time; each error must begin with what is expected.
async fn assert_reported(cases: &[(&'static str, &str)]) {
    let intact = filled().await;
    for (sql, expected) in cases {
        let area = expected.split(['.', ' ']).next().unwrap_or_default();
        read_all(&intact.store, area).await.unwrap();
        let on_disk = filled().await;
        damage(&on_disk, sql).await;
        let text = corruption(read_all(&on_disk.store, area)).await;
        assert!(text.starts_with(expected), "{sql}: {text}");
    }
}

#[tokio::test]
async fn damage_is_reported_with_table_column_and_row() {
    // The largest number of microseconds lies beyond the last year that a time can have.
    let cases = [
        ("UPDATE users SET role = 'owner'", "users.role where users.id = u1: \"owner\" is no role"),
        ("UPDATE users SET revision = -1", "users.revision where users.id = u1: -1 is out of range"),
        (
            "UPDATE users SET created_at = 9223372036854775807",
            "users.created_at where users.id = u1: 9223372036854775807 is no time",
        ),
        ("UPDATE users SET updated_at = -9223372036854775808", "users.updated_at where users.id = u1: "),
        ("UPDATE users SET username = CAST(x'ff' AS TEXT)", "users.username where users.id = u1: "),
        ("UPDATE users SET password_hash = CAST(x'c3' AS TEXT)", "users.password_hash where users.id = u1: "),
        ("UPDATE users SET role = 'x', id = CAST(x'ff' AS TEXT)", "users.id where users.id = (unreadable): "),
        (
            "UPDATE sessions SET expires_at = 9223372036854775807",
            "sessions.expires_at where sessions.user_id = u1: ",
        ),
        (
            "UPDATE api_keys SET token_hash = x'00'",
            "api_keys.token_hash where api_keys.id = key-1: it has 1 bytes",
        ),
        ("UPDATE api_keys SET scopes = 'tools:read'", "api_keys.scopes where api_keys.id = key-1: "),
        ("UPDATE api_keys SET scopes = '[1]'", "api_keys.scopes where api_keys.id = key-1: "),
        (
            "UPDATE api_keys SET revoked_at = 9223372036854775807",
            "api_keys.revoked_at where api_keys.id = key-1: ",
        ),
        (
            "UPDATE setup_tokens SET token_hash = x''",
            "setup_tokens.token_hash where setup_tokens.singleton = 1: ",
        ),
        ("UPDATE tool_states SET disabled_by = NULL", "tool_states.disabled_by where tool_states.tool = t: "),
        (
            "UPDATE tool_states SET disabled_reason = NULL",
            "tool_states.disabled_reason where tool_states.tool = t: ",
        ),
        ("UPDATE tool_states SET disabled_at = NULL", "tool_states.disabled_at where tool_states.tool = t: "),
        ("UPDATE tool_states SET revision = -5", "tool_states.revision where tool_states.tool = t: "),
        (
            "UPDATE snapshot_revision SET revision = -1",
            "snapshot_revision.revision where snapshot_revision.singleton = 1: ",
        ),
        ("DELETE FROM snapshot_revision", "snapshot_revision has no row"),
        ("UPDATE conversations SET revision = -1", "conversations.revision where conversations.id = c1: "),
        (
            "UPDATE todos SET status = 'lost'",
            "todos.status where todos.conversation_id = c1 and todos.number = 1: \"lost\" is no status",
        ),
        (
            "UPDATE todos SET number = 4294967296",
            "todos.number where todos.conversation_id = c1 and todos.number = 4294967296: ",
        ),
        ("UPDATE audit SET at = 9223372036854775807", "audit.at where audit.id = 1: "),
    ];
    assert_reported(&cases).await;
}

#[tokio::test]
async fn damage_to_runs_is_reported_with_table_column_and_row() {
    let cases = [
        ("UPDATE runs SET state = 'lost'", "runs.state where runs.id = r1: \"lost\" is no state"),
        ("UPDATE runs SET snapshot_revision = -1", "runs.snapshot_revision where runs.id = r1: "),
        ("UPDATE runs SET finished_at = 9223372036854775807", "runs.finished_at where runs.id = r1: "),
        (
            "UPDATE run_nodes SET kind = 'x'",
            "run_nodes.kind where run_nodes.run_id = r1 and run_nodes.number = 1: \"x\" is no kind",
        ),
        (
            "UPDATE run_nodes SET state = ''",
            "run_nodes.state where run_nodes.run_id = r1 and run_nodes.number = 1: \"\" is no state",
        ),
        (
            "UPDATE run_nodes SET parent = -1",
            "run_nodes.parent where run_nodes.run_id = r1 and run_nodes.number = 1: ",
        ),
        (
            "UPDATE run_nodes SET arguments = '{'",
            "run_nodes.arguments where run_nodes.run_id = r1 and run_nodes.number = 1: ",
        ),
        (
            "UPDATE run_nodes SET verdict = 'no'",
            "run_nodes.verdict where run_nodes.run_id = r1 and run_nodes.number = 1: ",
        ),
        (
            "UPDATE messages SET role = 'system'",
            "messages.role where messages.conversation_id = c1 and messages.number = 1: \"system\" is no role",
        ),
        (
            "UPDATE messages SET tools_override = '['",
            "messages.tools_override where messages.conversation_id = c1 and messages.number = 1: ",
        ),
    ];
    assert_reported(&cases).await;
}

#[tokio::test]
async fn damage_to_profiles_is_reported_with_table_column_and_row() {
    let cases = [
        ("UPDATE profiles SET name = CAST(x'ff' AS TEXT)", "profiles.name where profiles.id = p1: "),
        ("UPDATE profiles SET tools = 'web.search'", "profiles.tools where profiles.id = p1: "),
        ("UPDATE profiles SET tools = '[\"a\", 1]'", "profiles.tools where profiles.id = p1: "),
        ("UPDATE profiles SET tools = '[\"a\"'", "profiles.tools where profiles.id = p1: "),
        ("UPDATE profiles SET pinned = 'null'", "profiles.pinned where profiles.id = p1: "),
        (
            "UPDATE profiles SET new_tools = 'Hold'",
            "profiles.new_tools where profiles.id = p1: \"Hold\" says nothing about new tools",
        ),
        (
            "UPDATE profiles SET new_tools_since = -1",
            "profiles.new_tools_since where profiles.id = p1: -1 is out of range",
        ),
        ("UPDATE profiles SET revision = -1", "profiles.revision where profiles.id = p1: "),
        (
            "UPDATE profiles SET created_at = 9223372036854775807",
            "profiles.created_at where profiles.id = p1: ",
        ),
        (
            "UPDATE profile_versions SET tools = '{}'",
            "profile_versions.tools where profile_versions.profile_id = p1 and profile_versions.revision = 1: ",
        ),
        (
            "UPDATE profile_versions SET new_tools = ''",
            "profile_versions.new_tools where profile_versions.profile_id = p1 and \
             profile_versions.revision = 1: \"\" says nothing about new tools",
        ),
        (
            "UPDATE profile_versions SET revision = -2",
            "profile_versions.revision where profile_versions.profile_id = p1 and \
             profile_versions.revision = -2: -2 is out of range",
        ),
        (
            "UPDATE profile_versions SET actor = CAST(x'ff' AS TEXT)",
            "profile_versions.actor where profile_versions.profile_id = p1 and profile_versions.revision = 1: ",
        ),
        (
            "UPDATE retired_names SET until = 9223372036854775807",
            "retired_names.until where retired_names.name_key = reading: ",
        ),
        (
            "UPDATE retired_names SET profile_id = CAST(x'ff' AS TEXT)",
            "retired_names.profile_id where retired_names.name_key = reading: ",
        ),
        (
            "UPDATE tool_sightings SET sighting = -1",
            "tool_sightings.sighting where tool_sightings.tool = t: -1 is out of range",
        ),
    ];
    assert_reported(&cases).await;
}

#[tokio::test]
async fn damaged_profiles_are_found_one_by_one_too() {
    let on_disk = filled().await;
    damage(&on_disk, "UPDATE profiles SET tools = ''; UPDATE profile_versions SET pinned = ''").await;
    let mut unit = on_disk.store.read().await.unwrap();
    assert!(corruption(unit.find_profile("p1")).await.starts_with("profiles.tools "));
    assert!(corruption(unit.find_profile_version("p1", 1)).await.starts_with("profile_versions.pinned "));
}

#[tokio::test]
async fn there_is_no_sighting_after_the_largest() {
    let on_disk = filled().await;
    damage(&on_disk, "UPDATE tool_sightings SET sighting = 9223372036854775807").await;
    let mut unit = on_disk.store.begin().await.unwrap();
    let text = corruption(unit.add_tool_sightings(&["new".to_owned()])).await;
    assert!(text.starts_with("tool_sightings.sighting: "), "{text}");
}

#[tokio::test]
async fn a_damaged_user_is_found_through_each_join() {
    let on_disk = filled().await;
    damage(&on_disk, "UPDATE users SET role = 'owner'").await;
    let mut unit = on_disk.store.read().await.unwrap();
    let expected = "users.role where users.id = u1: ";
    assert!(corruption(unit.find_user("u1")).await.starts_with(expected));
    assert!(corruption(unit.find_user_by_name("Anna")).await.starts_with(expected));
    assert!(corruption(unit.find_session(&hash(1))).await.starts_with(expected));
    assert!(corruption(unit.find_api_key_by_token(&hash(1))).await.starts_with(expected));
    // The names of owners can still be read, so an admin still sees the keys.
    assert_eq!(unit.list_api_keys(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_damaged_hash_does_not_reach_the_log() {
    let on_disk = filled().await;
    damage(&on_disk, "UPDATE sessions SET created_at = 9223372036854775807").await;
    let mut unit = on_disk.store.read().await.unwrap();
    let text = corruption(unit.find_session(&hash(1))).await;
    assert_eq!(text, "sessions.created_at where sessions.user_id = u1: 9223372036854775807 is no time");
}

/// Closes the store and overwrites all pages from one to another, counted from 1.
async fn overwrite_pages(on_disk: OnDisk, first: usize, last: Option<usize>) -> (TempDir, PathBuf) {
    let path = on_disk.path();
    on_disk.store.close().await;
    let mut bytes = fs::read(&path).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let end = last.map_or(bytes.len(), |last| last * size);
    bytes[(first - 1) * size..end].fill(0xee);
    fs::write(&path, bytes).unwrap();
    (on_disk.folder, path)
}

#[tokio::test]
async fn damaged_pages_are_reported_as_corrupt() {
    let on_disk = filled().await;
    let mut connection = SqliteConnectOptions::new().filename(on_disk.path()).connect().await.unwrap();
    let page: i64 = sqlx::query_scalar("SELECT rootpage FROM sqlite_master WHERE name = 'audit'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let page = usize::try_from(page).unwrap();
    let (_folder, path) = overwrite_pages(on_disk, page, Some(page)).await;

    let store = SqliteStore::open(&path).await.unwrap();
    read_all(&store, "users").await.unwrap();
    let text = corruption(read_all(&store, "audit")).await;
    assert!(text.starts_with("the database file: "), "{text}");
}

#[tokio::test]
async fn a_file_damaged_all_over_is_not_opened() {
    // The first page stays as it is, so the file still looks like a database.
    let (_folder, path) = overwrite_pages(filled().await, 2, None).await;
    let error = SqliteStore::open(&path).await.unwrap_err();
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
    assert!(error.to_string().contains("put a backup in its place"), "{error}");
}
