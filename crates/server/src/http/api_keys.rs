//! API keys.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use toolshelf_api::{ApiKey, CreateApiKey, CreatedApiKey, Page, Problem};

use super::paging::PageParams;
use super::{ApiError, Body, Params, SignedInUser};
use crate::state::AppState;

/// The caller's keys; all keys for an admin.
#[utoipa::path(get, path = "/api-keys", tag = "api keys", params(PageParams), responses(
    (status = 200, body = Page<ApiKey>), (status = 422, body = Problem)
))]
pub(crate) async fn list_api_keys(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<ApiKey>>, ApiError> {
    let limit = params.limit()?;
    Ok(Json(state.service.list_api_keys(&actor, params.cursor.as_deref(), limit as usize).await?))
}

/// Makes a key. Its token is in this answer and nowhere else.
#[utoipa::path(post, path = "/api-keys", tag = "api keys", responses(
    (status = 201, body = CreatedApiKey), (status = 422, body = Problem)
))]
pub(crate) async fn create_api_key(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateApiKey>,
) -> Result<impl IntoResponse, ApiError> {
    Ok((StatusCode::CREATED, Json(state.service.create_api_key(&actor, new).await?)))
}

/// Revokes a key. Revoking twice is no error.
#[utoipa::path(delete, path = "/api-keys/{id}", tag = "api keys", params(("id" = String, Path)), responses(
    (status = 200, body = ApiKey), (status = 404, body = Problem)
))]
pub(crate) async fn revoke_api_key(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
) -> Result<Json<ApiKey>, ApiError> {
    Ok(Json(state.service.revoke_api_key(&actor, &id).await?))
}
