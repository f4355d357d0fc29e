//! Whether the server lives, whether it can be trusted, and what it offers.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};

use super::problem::ApiError;
use crate::state::AppState;

/// The process answers.
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// The store answers, and the snapshot is not behind it.
pub(crate) async fn ready(State(state): State<AppState>) -> (StatusCode, &'static str) {
    if state.service.is_ready().await {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// The `OpenAPI` document.
pub(crate) async fn openapi_document() -> Json<utoipa::openapi::OpenApi> {
    Json(super::openapi())
}

/// There is nothing at this address.
pub(crate) async fn nothing_here(uri: Uri) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("There is nothing at {}.", uri.path()))
}
