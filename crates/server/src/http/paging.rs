//! What every list takes.

use serde::Deserialize;
use toolshelf_api::FieldError;
use utoipa::IntoParams;

use super::ApiError;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// The most items of the page, 1 to 500; 50 if absent.
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

impl PageParams {
    pub(crate) fn limit(&self) -> Result<u32, ApiError> {
        let limit = self.limit.unwrap_or(50);
        if (1..=500).contains(&limit) {
            return Ok(limit);
        }
        let message = "Use 1 to 500.".to_owned();
        Err(ApiError::invalid(vec![FieldError { pointer: "limit".to_owned(), message }]))
    }
}
