//! Users.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use toolshelf_api::{CreateUser, Page, Problem, UpdateUser, User};

use super::paging::PageParams;
use super::tools::etag;
use super::{ApiError, Body, IfMatch, Params, SignedInUser};
use crate::state::AppState;

/// All users by name.
#[utoipa::path(get, path = "/users", tag = "users", params(PageParams), responses(
    (status = 200, body = Page<User>), (status = 422, body = Problem)
))]
pub(crate) async fn list_users(
    State(state): State<AppState>,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<User>>, ApiError> {
    let limit = params.limit()?;
    Ok(Json(state.service.list_users(params.cursor.as_deref(), limit as usize).await?))
}

/// Makes a user.
#[utoipa::path(post, path = "/users", tag = "users", responses(
    (status = 201, body = User), (status = 409, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn create_user(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateUser>,
) -> Result<impl IntoResponse, ApiError> {
    let user = state.service.create_user(&actor, new).await?;
    Ok((StatusCode::CREATED, [(header::ETAG, etag(user.revision))], Json(user)))
}

/// One user.
#[utoipa::path(get, path = "/users/{id}", tag = "users", params(("id" = String, Path)), responses(
    (status = 200, body = User), (status = 404, body = Problem)
))]
pub(crate) async fn get_user(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let user = state.service.get_user(&id).await?;
    Ok(([(header::ETAG, etag(user.revision))], Json(user)))
}

/// Changes a user. A new password or role, or disabling, ends the user's sessions.
#[utoipa::path(patch, path = "/users/{id}", tag = "users", params(("id" = String, Path)), responses(
    (status = 200, body = User), (status = 404, body = Problem), (status = 409, body = Problem),
    (status = 412, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn update_user(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    IfMatch(revision): IfMatch,
    Body(change): Body<UpdateUser>,
) -> Result<impl IntoResponse, ApiError> {
    let user = state.service.update_user(&actor, &id, revision, change).await?;
    Ok(([(header::ETAG, etag(user.revision))], Json(user)))
}
