//! The interchange document of profiles.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use toolshelf_api::{FunctionsMeta, ImportedFunctions, Problem};
use utoipa::IntoParams;

use super::{ApiError, Body, Params, SignedInUser};
use crate::state::AppState;

/// Every profile: `default` first, then by name.
#[utoipa::path(get, path = "/functions-meta", tag = "profiles", responses((status = 200, body = FunctionsMeta)))]
pub(crate) async fn get_functions_meta(
    State(state): State<AppState>,
) -> Result<Json<FunctionsMeta>, ApiError> {
    Ok(Json(state.service.functions_meta().await?))
}

/// What to do beside importing.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportParams {
    /// Whether profiles that the document does not name are removed; refused when one of them is used.
    #[serde(default)]
    replace: bool,
}

/// Makes profiles as the document has them, all of it or nothing. Names that no tool has now are kept.
#[utoipa::path(put, path = "/functions-meta", tag = "profiles", params(ImportParams), responses(
    (status = 200, body = ImportedFunctions), (status = 409, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn put_functions_meta(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<ImportParams>,
    Body(document): Body<FunctionsMeta>,
) -> Result<Json<ImportedFunctions>, ApiError> {
    Ok(Json(state.service.put_functions_meta(&actor, document, params.replace).await?))
}
