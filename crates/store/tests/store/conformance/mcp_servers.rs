//! Upstream MCP servers, what is known of their tools, and the deferred tools that conversations loaded.

use std::collections::HashMap;
use std::sync::Arc;

use toolshelf_runtime::store::{LoadedToolRow, McpServerRow, Store, StoreError, UpstreamToolRow};

use super::samples::{at as time, conversation, session, user, with_users};

fn server(name: &str) -> McpServerRow {
    McpServerRow {
        name: name.to_owned(),
        title: format!("{name} 服务器"),
        connection: "{\"transport\":\"http\"}".to_owned(),
        secrets: Some(vec![0, 1, 255]),
        enabled: true,
        settings: "{}".to_owned(),
        info: None,
        generation: 7,
        revision: 1,
        created_at: time(1),
        updated_at: time(1),
    }
}

fn tool(server: &str, original: &str) -> UpstreamToolRow {
    UpstreamToolRow {
        server: server.to_owned(),
        original: original.to_owned(),
        accepted: Some("{\"name\":\"x\"}".to_owned()),
        accepted_generation: 7,
        pending: None,
        pending_since: None,
        listed: true,
    }
}

pub(crate) async fn servers_are_kept_as_they_were_given(store: Arc<dyn Store>) {
    let (first, second) = (server("b"), McpServerRow { secrets: None, enabled: false, ..server("a") });
    let mut unit = store.begin().await.unwrap();
    unit.insert_mcp_server(&first).await.unwrap();
    unit.insert_mcp_server(&second).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = store.read().await.unwrap();
    assert_eq!(unit.list_mcp_servers().await.unwrap(), [second, first.clone()]);
    assert_eq!(unit.find_mcp_server("b").await.unwrap(), Some(first));
    assert_eq!(unit.find_mcp_server("B").await.unwrap(), None);
}

pub(crate) async fn a_servers_name_is_taken_once(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    unit.insert_mcp_server(&server("a")).await.unwrap();
    let again = unit.insert_mcp_server(&McpServerRow { title: "Other".to_owned(), ..server("a") }).await;
    assert!(matches!(again, Err(StoreError::Taken(_))), "{again:?}");
    assert_eq!(unit.list_mcp_servers().await.unwrap(), [server("a")]);
}

pub(crate) async fn a_server_changes_from_the_revision_that_is_stored(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    unit.insert_mcp_server(&server("a")).await.unwrap();
    let changed = McpServerRow {
        title: "Changed".to_owned(),
        connection: "{}".to_owned(),
        secrets: None,
        enabled: false,
        settings: "{\"defer\":false}".to_owned(),
        generation: 8,
        revision: 2,
        updated_at: time(2),
        ..server("a")
    };
    assert!(!unit.update_mcp_server(&changed, 5).await.unwrap());
    assert_eq!(unit.find_mcp_server("a").await.unwrap(), Some(server("a")));
    assert!(unit.update_mcp_server(&changed, 1).await.unwrap());
    assert_eq!(unit.find_mcp_server("a").await.unwrap(), Some(changed.clone()));
    unit.put_mcp_server_info("a", "{\"name\":\"x\"}").await.unwrap();
    let info = Some("{\"name\":\"x\"}".to_owned());
    assert_eq!(unit.find_mcp_server("a").await.unwrap(), Some(McpServerRow { info, ..changed }));
}

pub(crate) async fn what_is_known_of_tools_outlives_their_server(store: Arc<dyn Store>) {
    let waits = UpstreamToolRow {
        accepted: None,
        accepted_generation: 0,
        pending: Some("{}".to_owned()),
        pending_since: Some(time(3)),
        listed: false,
        ..tool("a", "搜索 \u{202E}")
    };
    let mut unit = store.begin().await.unwrap();
    unit.insert_mcp_server(&server("a")).await.unwrap();
    unit.put_upstream_tools(&[tool("b", "x"), waits.clone(), tool("a", "x")]).await.unwrap();
    assert_eq!(unit.list_upstream_tools(Some("a")).await.unwrap(), [tool("a", "x"), waits.clone()]);
    assert_eq!(unit.list_upstream_tools(None).await.unwrap().len(), 3);
    let changed = UpstreamToolRow { accepted_generation: 9, listed: false, ..tool("a", "x") };
    unit.put_upstream_tools(std::slice::from_ref(&changed)).await.unwrap();
    unit.delete_mcp_server("a").await.unwrap();
    assert_eq!(unit.find_mcp_server("a").await.unwrap(), None);
    assert_eq!(unit.list_upstream_tools(Some("a")).await.unwrap(), [changed, waits]);
}

pub(crate) async fn a_tool_without_any_definition_is_refused(store: Arc<dyn Store>) {
    let mut unit = store.begin().await.unwrap();
    let empty = UpstreamToolRow { accepted: None, ..tool("a", "x") };
    assert!(unit.put_upstream_tools(&[empty]).await.is_err());
}

pub(crate) async fn loaded_tools_keep_their_order_and_go_with_their_conversation(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "ada")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_conversation(&conversation("c1", "u1")).await.unwrap();
    let row = |tool: &str| LoadedToolRow { tool: tool.to_owned(), definition: "d".to_owned() };
    unit.put_loaded_tools("c1", &[row("z"), row("a")]).await.unwrap();
    assert_eq!(unit.list_loaded_tools("c1").await.unwrap(), [row("z"), row("a")]);
    unit.put_loaded_tools("c1", &[row("a"), row("m")]).await.unwrap();
    assert_eq!(unit.list_loaded_tools("c1").await.unwrap(), [row("a"), row("m")]);
    let of = unit.list_loaded_tools_of("u1", &["c1", "c0"]).await.unwrap();
    assert_eq!(of, HashMap::from([("c1".to_owned(), vec![row("a"), row("m")])]));
    assert!(unit.list_loaded_tools_of("u2", &["c1"]).await.unwrap().is_empty());
    assert!(unit.list_loaded_tools_of("u1", &[]).await.unwrap().is_empty());
    unit.delete_conversation("c1").await.unwrap();
    assert!(unit.list_loaded_tools("c1").await.unwrap().is_empty());
    assert!(unit.put_loaded_tools("nobody", &[row("a")]).await.is_err());
}

pub(crate) async fn a_session_is_confirmed_and_no_other(store: Arc<dyn Store>) {
    with_users(&store, &[user("u1", "ada")]).await;
    let mut unit = store.begin().await.unwrap();
    unit.insert_session(&session(1, "u1")).await.unwrap();
    unit.insert_session(&session(2, "u1")).await.unwrap();
    unit.confirm_session(&session(1, "u1").token_hash, time(50)).await.unwrap();
    let created = |row: Option<(toolshelf_runtime::store::SessionRow, _)>| row.unwrap().0.created_at;
    assert_eq!(created(unit.find_session(&session(1, "u1").token_hash).await.unwrap()), time(50));
    assert_eq!(
        created(unit.find_session(&session(2, "u1").token_hash).await.unwrap()),
        session(2, "u1").created_at
    );
}
