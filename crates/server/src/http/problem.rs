//! Translates what went wrong into `application/problem+json`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolshelf_api::{FieldError, Problem};
use toolshelf_core::{Refusal, RequestError, explain};
use toolshelf_runtime::CallRefused;
use toolshelf_runtime::store::StoreError;
use toolshelf_service::ServiceError;

/// What a handler answers when it cannot do as asked. What the client reads and what the log reads are different
/// fields.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) problem: Box<Problem>,
    internal: Option<String>,
    retry_after_seconds: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let problem = Problem {
            kind: format!("urn:toolshelf:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            ..Problem::default()
        };
        Self { problem: Box::new(problem), internal: None, retry_after_seconds: None }
    }

    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = errors.first().map_or_else(String::new, |error| error.message.clone());
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail);
        error.problem.errors = errors;
        error
    }

    /// An error whose reason only the log may know.
    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        let detail = "Something went wrong on the server. Its log has the details under this request's id.";
        Self {
            internal: Some(reason.into()),
            ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
        }
    }

    fn unavailable(code: &str, detail: &str, reason: String) -> Self {
        Self {
            internal: Some(reason),
            retry_after_seconds: Some(5),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// When to try again.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after_seconds
    }

    /// What the log should say beyond the problem.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.internal.as_deref()
    }
}

/// The body is made by [`super::finish`], which knows the request's id and whether a browser asks.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Unauthenticated(detail) => {
                Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
            }
            ServiceError::Denied(denied) => {
                let status = match denied {
                    toolshelf_service::Denied::SignIn => StatusCode::UNAUTHORIZED,
                    _ => StatusCode::FORBIDDEN,
                };
                Self::new(status, denied.code(), denied.detail())
            }
            ServiceError::NotFound { what, name, suggestions } => {
                let code = format!("unknown_{}", what.to_lowercase().replace(' ', "_"));
                unknown(
                    StatusCode::NOT_FOUND,
                    &code,
                    format!("There is no {what} named {name:?}."),
                    suggestions,
                )
            }
            ServiceError::Conflict { code, detail } => Self::new(StatusCode::CONFLICT, code, detail),
            ServiceError::RunActive { ref run_id } => {
                let current = serde_json::json!({ "run_id": run_id });
                let mut conflict = Self::new(StatusCode::CONFLICT, "run_active", error.to_string());
                conflict.problem.current = Some(current);
                conflict
            }
            ServiceError::Stale { current } => {
                let detail =
                    "Somebody changed it in the meantime. Look at it as it is now, and decide again.";
                let mut error = Self::new(StatusCode::PRECONDITION_FAILED, "stale_revision", detail);
                error.problem.current = Some(current);
                error
            }
            ServiceError::Invalid(errors) => Self::invalid(errors),
            ServiceError::Request { error, pointer } => from_request(error, pointer),
            ServiceError::Reserved(name) => {
                let detail =
                    format!("{name} is computed and cannot be changed. Make a profile of your own from it.");
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "reserved_name", detail)
            }
            ServiceError::Retired(name) => {
                Self::new(StatusCode::GONE, "retired", format!("The profile {name:?} was deleted."))
            }
            ServiceError::TooManyTools(over) => {
                let detail = ServiceError::TooManyTools(over.clone()).to_string();
                let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_many_tools", detail);
                error.problem.over_limit = Some(over);
                error
            }
            ServiceError::Call(refused) => from_refused(refused),
            ServiceError::RateLimited { retry_after_seconds } => Self {
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "rate_limited",
                    format!("Too many tries. Try again in {retry_after_seconds} seconds."),
                )
            },
            ServiceError::Unready(error) => unready(error.to_string()),
            ServiceError::Store(error @ StoreError::Corrupt(_)) => {
                let detail = "Stored data is damaged. The server's log names the row; an admin should restore a backup.";
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Self { internal: Some(chain(&error)), ..Self::new(status, "store_damaged", detail) }
            }
            ServiceError::Store(error) => Self::unavailable(
                "store_failed",
                "The database does not answer. Try again in a moment.",
                chain(&error),
            ),
            ServiceError::Internal(reason) => Self::internal(reason),
        }
    }
}

fn unready(reason: String) -> ApiError {
    let detail =
        "The server cannot tell what is allowed now and refuses everything. An admin should restart it.";
    ApiError::unavailable("unready", detail, reason)
}

fn unknown(status: StatusCode, code: &str, mut detail: String, suggestions: Vec<String>) -> ApiError {
    if !suggestions.is_empty() {
        detail = format!("{detail} Did you mean {}?", suggestions.join(", "));
    }
    let mut error = ApiError::new(status, code, detail);
    error.problem.suggestions = suggestions;
    error
}

fn from_request(error: RequestError, pointer: &str) -> ApiError {
    let detail = error.to_string();
    let (pointer, code, suggestions) = match error {
        RequestError::UnknownToolset { suggestions, .. } => {
            (pointer.to_owned(), "unknown_toolset", suggestions)
        }
        RequestError::RetiredToolset { .. } => {
            let mut error = ApiError::new(StatusCode::GONE, "retired", detail.clone());
            error.problem.errors = vec![FieldError { pointer: pointer.to_owned(), message: detail }];
            return error;
        }
        RequestError::UnknownTool { position, suggestions, .. } => {
            (format!("{pointer}/{position}"), "unknown_tool", suggestions)
        }
    };
    let mut error = unknown(StatusCode::UNPROCESSABLE_ENTITY, code, detail.clone(), suggestions);
    error.problem.errors = vec![FieldError { pointer, message: detail }];
    error
}

fn from_refused(refused: CallRefused) -> ApiError {
    let code = refused.code();
    match refused {
        CallRefused::Unready => unready("a call was refused".to_owned()),
        CallRefused::InvalidInput(errors) => {
            let errors: Vec<FieldError> = errors
                .into_iter()
                .map(|error| FieldError {
                    pointer: format!("/arguments{}", error.pointer),
                    message: error.message,
                })
                .collect();
            let mut error = ApiError::invalid(errors);
            if let Some(first) = error.problem.errors.first() {
                let argument = first.pointer.strip_prefix("/arguments/").unwrap_or_default();
                if !argument.is_empty() {
                    error.problem.detail = format!("{argument}: {}", first.message);
                }
            }
            code.clone_into(&mut error.problem.code);
            error.problem.kind = format!("urn:toolshelf:problem:{code}");
            error
        }
        CallRefused::Refused(Refusal::Request(error)) => from_request(error, "/toolset"),
        CallRefused::Refused(Refusal::Unknown { name, suggestions }) => {
            unknown(StatusCode::NOT_FOUND, code, format!("There is no tool named {name:?}."), suggestions)
        }
        CallRefused::Refused(Refusal::Removed(verdict)) => {
            let mut detail =
                format!("{} cannot be called here. {}", verdict.tool, explain::sentence(&verdict));
            if let Some(fix) = &verdict.fix {
                if !detail.ends_with(['.', '!', '?']) {
                    detail.push('.');
                }
                detail.push(' ');
                detail.push_str(&explain::fix_sentence(fix));
            }
            let mut error = ApiError::new(StatusCode::FORBIDDEN, code, detail);
            error.problem.verdict = Some(*verdict);
            error
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use toolshelf_runtime::ArgumentError;

    use super::*;

    #[test]
    fn damaged_data_does_not_sound_as_if_it_passed() {
        let error =
            ApiError::from(ServiceError::Store(StoreError::Corrupt("users where id: no JSON".to_owned())));
        assert_eq!((error.problem.status, error.problem.code.as_str()), (500, "store_damaged"));
        assert_eq!(error.retry_after_seconds(), None);
        assert!(error.problem.detail.contains("restore a backup"), "{}", error.problem.detail);
        // What is damaged is for the log only.
        assert!(!error.problem.detail.contains("users"));
        assert!(error.reason().is_some_and(|reason| reason.contains("users where id")));
    }

    #[test]
    fn a_refused_call_names_the_argument() {
        for (pointer, detail) in [
            ("/limit", "limit: is wrong"),
            ("/paths/1", "paths/1: is wrong"),
            ("/arguments", "arguments: is wrong"),
            ("", "is wrong"),
        ] {
            let wrong = ArgumentError { pointer: pointer.to_owned(), message: "is wrong".to_owned() };
            let problem = from_refused(CallRefused::InvalidInput(vec![wrong])).problem;
            assert_eq!(problem.detail, detail);
            let errors =
                vec![FieldError { pointer: format!("/arguments{pointer}"), message: "is wrong".to_owned() }];
            assert_eq!(problem.errors, errors);
        }
    }
}
