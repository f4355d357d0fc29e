//! Resolving a request without sending it.

use axum::Json;
use axum::extract::State;
use toolshelf_api::{Problem, Resolve, Resolved};

use super::{ApiError, Body, SignedInUser};
use crate::state::AppState;

/// Which tools a request of the caller would get, and why.
#[utoipa::path(post, path = "/resolve", tag = "tools", responses(
    (status = 200, body = Resolved), (status = 422, body = Problem)
))]
pub(crate) async fn resolve_request(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(asked): Body<Resolve>,
) -> Result<Json<Resolved>, ApiError> {
    Ok(Json(state.service.resolve(&actor, asked).await?))
}
