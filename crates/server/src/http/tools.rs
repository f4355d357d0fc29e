//! The catalog: list, show, disable, call.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolshelf_api::{
    Call, CallResult, DisableTool, FieldError, FoundTools, Page, Problem, SearchTools, Tool,
};
use toolshelf_service::ToolQuery;
use utoipa::IntoParams;

use super::{ApiError, Body, IfMatch, Params, SignedInUser};
use crate::state::AppState;

const LIMIT_MAX: usize = 5_000;

/// The `ETag` of a revision.
pub(crate) fn etag(revision: u64) -> String {
    format!("\"r{revision}\"")
}

/// Whether `If-None-Match` names this `ETag`, weak or strong: a proxy that compresses makes it weak.
fn has_seen(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == etag)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListTools {
    /// A text that name, title, description or service must hold, in any letter case.
    query: Option<String>,
    /// The source: `builtin`, `plugin:NAME` or `mcp:NAME`.
    source: Option<String>,
    /// The name of a toolset that the tool must be in.
    toolset: Option<String>,
    /// `full` for parameters too.
    fields: Option<String>,
    /// The most tools of the page, 1 to 5,000; 100 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The catalog: every exposed tool. The `ETag` begins with the revision of the snapshot.
#[utoipa::path(get, path = "/tools", tag = "tools", params(ListTools), responses(
    (status = 200, body = Page<Tool>), (status = 304), (status = 422, body = Problem)
))]
pub(crate) async fn list_tools(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<ListTools>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wrong = |pointer: &str, message: &str| {
        ApiError::invalid(vec![FieldError { pointer: pointer.to_owned(), message: message.to_owned() }])
    };
    let full = match params.fields.as_deref() {
        None => false,
        Some("full") => true,
        Some(_) => return Err(wrong("fields", "Use full, or leave it out.")),
    };
    let limit = params.limit.unwrap_or(100);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(wrong("limit", "Use 1 to 5,000."));
    }
    let query = ToolQuery {
        query: params.query,
        source: params.source,
        toolset: params.toolset,
        full,
        limit,
        cursor: params.cursor,
    };
    let (catalog_state, page) = state.service.list_tools(&actor, query).await?;
    let etag = format!("\"{catalog_state}\"");
    if has_seen(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    Ok(([(header::ETAG, etag)], Json(page)).into_response())
}

/// One tool of the catalog, with its parameters.
#[utoipa::path(get, path = "/tools/{name}", tag = "tools", params(("name" = String, Path)), responses(
    (status = 200, body = Tool), (status = 404, body = Problem)
))]
pub(crate) async fn get_tool(
    State(state): State<AppState>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let tool = state.service.get_tool(&name)?;
    Ok(([(header::ETAG, etag(tool.revision))], Json(tool)))
}

/// Disables a tool for everyone. When this is answered, no call that starts later can run it.
#[utoipa::path(put, path = "/tools/{name}/disabled", tag = "tools", params(("name" = String, Path)), responses(
    (status = 200, body = Tool), (status = 404, body = Problem), (status = 412, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn disable_tool(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Body(body): Body<DisableTool>,
) -> Result<impl IntoResponse, ApiError> {
    let tool = state.service.disable_tool(&actor, &name, &body.reason, revision).await?;
    Ok(([(header::ETAG, etag(tool.revision))], Json(tool)))
}

/// Lifts the global disable of a tool.
#[utoipa::path(delete, path = "/tools/{name}/disabled", tag = "tools", params(("name" = String, Path)), responses(
    (status = 200, body = Tool), (status = 404, body = Problem), (status = 412, body = Problem)
))]
pub(crate) async fn enable_tool(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
) -> Result<impl IntoResponse, ApiError> {
    let tool = state.service.enable_tool(&actor, &name, revision).await?;
    Ok(([(header::ETAG, etag(tool.revision))], Json(tool)))
}

/// Calls a tool. A failure of the tool is a result; a refusal is a problem with the verdict.
#[utoipa::path(post, path = "/tools/{name}/call", tag = "tools", params(("name" = String, Path)), responses(
    (status = 200, body = CallResult), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn call_tool(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    Body(call): Body<Call>,
) -> Result<Json<CallResult>, ApiError> {
    Ok(Json(state.service.call_tool(&actor, &name, call).await?))
}

/// Searches the tools that the caller could call, by exact names or by what they do.
#[utoipa::path(post, path = "/tools/search", tag = "tools", responses(
    (status = 200, body = FoundTools), (status = 422, body = Problem)
))]
pub(crate) async fn search_tools(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(asked): Body<SearchTools>,
) -> Result<Json<FoundTools>, ApiError> {
    Ok(Json(state.service.search_tools(&actor, asked).await?))
}
