//! What new conversations start with.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use toolshelf_api::{ActiveProfile, Problem, StartProfile, StartsWith};

use super::tools::etag;
use super::{ApiError, Body, IfMatch, SignedInUser};
use crate::state::AppState;

/// The workspace's active toolset.
#[utoipa::path(get, path = "/active-profile", tag = "profiles", responses((status = 200, body = ActiveProfile)))]
pub(crate) async fn get_active_profile(State(state): State<AppState>) -> Result<impl IntoResponse, ApiError> {
    let (revision, active) = state.service.active_profile().await?;
    Ok(([(header::ETAG, etag(revision))], Json(active)))
}

/// Sets what new conversations start with, for everybody who has not chosen. Those that exist are not touched.
#[utoipa::path(put, path = "/active-profile", tag = "profiles", responses(
    (status = 200, body = ActiveProfile), (status = 410, body = Problem), (status = 412, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn put_active_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    IfMatch(expected): IfMatch,
    Body(new): Body<ActiveProfile>,
) -> Result<impl IntoResponse, ApiError> {
    let (revision, active) = state.service.set_active_profile(&actor, expected, new).await?;
    Ok(([(header::ETAG, etag(revision))], Json(active)))
}

/// What the caller's own new conversations start with.
#[utoipa::path(get, path = "/start-profile", tag = "profiles", responses((status = 200, body = StartsWith)))]
pub(crate) async fn get_start_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
) -> Result<Json<StartsWith>, ApiError> {
    Ok(Json(state.service.start_profile(&actor).await?))
}

/// Sets it, or with null leaves it to the workspace.
#[utoipa::path(put, path = "/start-profile", tag = "profiles", responses(
    (status = 200, body = StartsWith), (status = 410, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn put_start_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<StartProfile>,
) -> Result<Json<StartsWith>, ApiError> {
    Ok(Json(state.service.set_start_profile(&actor, new).await?))
}
