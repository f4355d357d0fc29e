//! Upstream MCP servers.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use toolshelf_api::{
    AcceptChanges, CreateMcpServer, DecideChange, ImportMcpServers, ImportedMcpServers, McpServer, Page,
    Problem, ToolChange, TriedConnection, UpdateMcpServer,
};

use super::paging::PageParams;
use super::tools::etag;
use super::{ApiError, Body, IfMatch, Params, SignedInUser};
use crate::state::AppState;

fn with_etag(server: McpServer) -> impl IntoResponse {
    ([(header::ETAG, etag(server.revision))], Json(server))
}

/// All upstream servers by name. How they are reached, their log and what they say of themselves are shown to admins.
#[utoipa::path(get, path = "/mcp-servers", tag = "upstreams", params(PageParams), responses(
    (status = 200, body = Page<McpServer>), (status = 422, body = Problem)
))]
pub(crate) async fn list_mcp_servers(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<McpServer>>, ApiError> {
    let limit = params.limit()? as usize;
    Ok(Json(state.service.list_mcp_servers(&actor, params.cursor.as_deref(), limit).await?))
}

/// Adds a server and connects it. One that runs a program needs a password that was entered in the last 10 minutes, or a key
/// where the configuration lets keys do it.
#[utoipa::path(post, path = "/mcp-servers", tag = "upstreams", responses(
    (status = 201, body = McpServer), (status = 403, body = Problem), (status = 409, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn create_mcp_server(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateMcpServer>,
) -> Result<impl IntoResponse, ApiError> {
    Ok((StatusCode::CREATED, with_etag(state.service.create_mcp_server(&actor, new).await?)))
}

/// Connects once, as the server would be, and says what came of it. Nothing is stored. A value that is null is that of the
/// server of this name.
#[utoipa::path(post, path = "/mcp-servers/test", tag = "upstreams", responses(
    (status = 200, body = TriedConnection), (status = 403, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn try_mcp_server(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateMcpServer>,
) -> Result<Json<TriedConnection>, ApiError> {
    Ok(Json(state.service.try_mcp_server(&actor, new).await?))
}

/// Says what an `mcp.json` of Claude Desktop, Cursor or VS Code holds; with `confirm`, adds its servers, all or none.
#[utoipa::path(post, path = "/mcp-servers/import", tag = "upstreams", responses(
    (status = 200, body = ImportedMcpServers), (status = 403, body = Problem), (status = 409, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn import_mcp_servers(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(import): Body<ImportMcpServers>,
) -> Result<Json<ImportedMcpServers>, ApiError> {
    Ok(Json(state.service.import_mcp_servers(&actor, import).await?))
}

/// One upstream server.
#[utoipa::path(get, path = "/mcp-servers/{name}", tag = "upstreams", params(("name" = String, Path)), responses(
    (status = 200, body = McpServer), (status = 404, body = Problem)
))]
pub(crate) async fn get_mcp_server(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.get_mcp_server(&actor, &name).await?))
}

/// Changes a server. Absent fields stay. When its command or address changes, all its tools count as changed.
#[utoipa::path(patch, path = "/mcp-servers/{name}", tag = "upstreams", params(("name" = String, Path)), responses(
    (status = 200, body = McpServer), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn update_mcp_server(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Body(change): Body<UpdateMcpServer>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.update_mcp_server(&actor, &name, revision, change).await?))
}

/// Removes a server with its tools. Profiles keep their names as missing, and disables stay.
#[utoipa::path(delete, path = "/mcp-servers/{name}", tag = "upstreams", params(("name" = String, Path)), responses(
    (status = 204), (status = 404, body = Problem), (status = 412, body = Problem)
))]
pub(crate) async fn delete_mcp_server(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
) -> Result<StatusCode, ApiError> {
    state.service.delete_mcp_server(&actor, &name, revision).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Connects a server now if it is down, and asks it for its tools if it is not. What comes of it is told as an event.
#[utoipa::path(post, path = "/mcp-servers/{name}/refresh", tag = "upstreams", params(("name" = String, Path)), responses(
    (status = 202), (status = 404, body = Problem), (status = 409, body = Problem)
))]
pub(crate) async fn refresh_mcp_server(
    State(state): State<AppState>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    state.service.refresh_mcp_server(&name).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Tools of a server that wait for an admin, with what would change.
#[utoipa::path(get, path = "/mcp-servers/{name}/changes", tag = "upstreams", params(("name" = String, Path), PageParams), responses(
    (status = 200, body = Page<ToolChange>), (status = 404, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn list_tool_changes(
    State(state): State<AppState>,
    Path(name): Path<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<ToolChange>>, ApiError> {
    let limit = params.limit()? as usize;
    Ok(Json(state.service.list_tool_changes(&name, params.cursor.as_deref(), limit).await?))
}

/// Accepts several tools that wait, all or none.
#[utoipa::path(post, path = "/mcp-servers/{name}/changes", tag = "upstreams", params(("name" = String, Path)), responses(
    (status = 204), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn accept_tool_changes(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    Body(accepted): Body<AcceptChanges>,
) -> Result<StatusCode, ApiError> {
    state.service.accept_tool_changes(&actor, &name, accepted).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Decides about one tool that waits, by its name on the wire.
#[utoipa::path(post, path = "/mcp-servers/{name}/changes/{tool}", tag = "upstreams",
    params(("name" = String, Path), ("tool" = String, Path)), responses(
    (status = 204), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn decide_tool_change(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path((name, tool)): Path<(String, String)>,
    Body(decision): Body<DecideChange>,
) -> Result<StatusCode, ApiError> {
    state.service.decide_tool_change(&actor, &name, &tool, decision).await?;
    Ok(StatusCode::NO_CONTENT)
}
