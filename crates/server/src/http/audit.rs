//! The audit log.

use axum::Json;
use axum::extract::State;
use toolshelf_api::{AuditEntry, Page, Problem};

use super::paging::PageParams;
use super::{ApiError, Params};
use crate::state::AppState;

/// Who changed what, newest first.
#[utoipa::path(get, path = "/audit", tag = "audit", params(PageParams), responses(
    (status = 200, body = Page<AuditEntry>), (status = 422, body = Problem)
))]
pub(crate) async fn list_audit(
    State(state): State<AppState>,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<AuditEntry>>, ApiError> {
    let limit = params.limit()?;
    Ok(Json(state.service.list_audit(params.cursor.as_deref(), limit).await?))
}
