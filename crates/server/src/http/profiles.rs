//! Profiles and toolsets.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;
use toolshelf_api::{
    CloneProfile, CreateProfile, EditProfileTools, Page, Problem, Profile, ProfileVersion, RestoreProfile,
    ToolsetSummary, UpdateProfile,
};
use utoipa::IntoParams;

use super::paging::PageParams;
use super::tools::etag;
use super::{ApiError, Body, IfMatch, Params, SignedInUser};
use crate::state::AppState;

fn with_etag(profile: Profile) -> impl IntoResponse {
    ([(header::ETAG, etag(profile.revision))], Json(profile))
}

/// All profiles: `default` first, then by name.
#[utoipa::path(get, path = "/profiles", tag = "profiles", params(PageParams), responses(
    (status = 200, body = Page<Profile>), (status = 422, body = Problem)
))]
pub(crate) async fn list_profiles(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<Profile>>, ApiError> {
    let limit = params.limit()? as usize;
    Ok(Json(state.service.list_profiles(&actor, params.cursor.as_deref(), limit).await?))
}

/// Makes a profile: a copy of `default`, of another toolset, or exactly the given tools.
#[utoipa::path(post, path = "/profiles", tag = "profiles", responses(
    (status = 201, body = Profile), (status = 409, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn create_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateProfile>,
) -> Result<impl IntoResponse, ApiError> {
    Ok((StatusCode::CREATED, with_etag(state.service.create_profile(&actor, new).await?)))
}

/// One profile, by its name or by one that it had before.
#[utoipa::path(get, path = "/profiles/{name}", tag = "profiles", params(("name" = String, Path)), responses(
    (status = 200, body = Profile), (status = 404, body = Problem), (status = 410, body = Problem)
))]
pub(crate) async fn get_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.get_profile(&actor, &name).await?))
}

/// Changes a profile. Absent fields stay. The old name of a renamed profile leads to it for 90 days.
#[utoipa::path(patch, path = "/profiles/{name}", tag = "profiles", params(("name" = String, Path)), responses(
    (status = 200, body = Profile), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem), (status = 410, body = Problem), (status = 412, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn update_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Body(change): Body<UpdateProfile>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.update_profile(&actor, &name, revision, change).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteParams {
    /// The toolset that takes the profile's place where it is used.
    replacement: Option<String>,
}

/// Deletes a profile. One in use is deleted only with a replacement.
#[utoipa::path(delete, path = "/profiles/{name}", tag = "profiles", params(("name" = String, Path), DeleteParams), responses(
    (status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
    (status = 410, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn delete_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Params(params): Params<DeleteParams>,
) -> Result<StatusCode, ApiError> {
    state.service.delete_profile(&actor, &name, revision, params.replacement.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds and removes tools in one revision, all or nothing.
#[utoipa::path(post, path = "/profiles/{name}/tools", tag = "profiles", params(("name" = String, Path)), responses(
    (status = 200, body = Profile), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 410, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn edit_profile_tools(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Body(edit): Body<EditProfileTools>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.edit_profile_tools(&actor, &name, revision, edit).await?))
}

/// Copies a profile under another name. The copy is the caller's.
#[utoipa::path(post, path = "/profiles/{name}/clone", tag = "profiles", params(("name" = String, Path)), responses(
    (status = 201, body = Profile), (status = 404, body = Problem), (status = 409, body = Problem),
    (status = 410, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn clone_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    Body(clone): Body<CloneProfile>,
) -> Result<impl IntoResponse, ApiError> {
    Ok((StatusCode::CREATED, with_etag(state.service.clone_profile(&actor, &name, clone).await?)))
}

/// A profile's revisions, newest first.
#[utoipa::path(get, path = "/profiles/{name}/history", tag = "profiles", params(("name" = String, Path), PageParams), responses(
    (status = 200, body = Page<ProfileVersion>), (status = 404, body = Problem), (status = 410, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn profile_history(
    State(state): State<AppState>,
    Path(name): Path<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<ProfileVersion>>, ApiError> {
    let limit = params.limit()?;
    Ok(Json(state.service.profile_history(&name, params.cursor.as_deref(), limit).await?))
}

/// Makes a profile's tools as they were at a revision. Going back is a new revision itself, and its name stays.
#[utoipa::path(post, path = "/profiles/{name}/restore", tag = "profiles", params(("name" = String, Path)), responses(
    (status = 200, body = Profile), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 410, body = Problem), (status = 412, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn restore_profile(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(name): Path<String>,
    IfMatch(revision): IfMatch,
    Body(restore): Body<RestoreProfile>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(with_etag(state.service.restore_profile(&actor, &name, revision, restore).await?))
}

/// All names that resolve to a set of tools, with what each comes to.
#[utoipa::path(get, path = "/toolsets", tag = "profiles", responses((status = 200, body = Page<ToolsetSummary>)))]
pub(crate) async fn list_toolsets(
    State(state): State<AppState>,
) -> Result<Json<Page<ToolsetSummary>>, ApiError> {
    Ok(Json(state.service.list_toolsets()?))
}
