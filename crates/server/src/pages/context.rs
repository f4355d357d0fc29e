//! What every page shows, and how a page becomes a response.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolshelf_core::Role;
use toolshelf_service::Actor;

use crate::http::{ApiError, Nonce, new_nonce};
use crate::state::AppState;

/// What every page shows.
pub(crate) struct PageContext {
    pub(crate) nonce: String,
    pub(crate) version: &'static str,
    pub(crate) path: String,
    pub(crate) csrf: String,
    pub(crate) origin: String,
    pub(crate) user: Option<PageUser>,
    assets: std::sync::Arc<crate::assets::Assets>,
}

/// Who is signed in.
pub(crate) struct PageUser {
    pub(crate) username: String,
    pub(crate) is_admin: bool,
}

impl PageContext {
    /// The context of a page for somebody, or for nobody known.
    pub(crate) fn new(state: &AppState, path: &str, actor: Option<&Actor>) -> Self {
        let me = actor.map(Actor::me);
        Self {
            csrf: me.as_ref().and_then(|me| me.csrf_token.clone()).unwrap_or_default(),
            user: me.map(|me| PageUser { is_admin: me.role == Role::Admin, username: me.username }),
            ..Self::anonymous(state, path, new_nonce(state))
        }
    }

    /// The context of a page that shows nothing of whoever is signed in.
    pub(crate) fn anonymous(state: &AppState, path: &str, nonce: String) -> Self {
        Self {
            nonce,
            version: env!("CARGO_PKG_VERSION"),
            path: path.to_owned(),
            csrf: String::new(),
            origin: state.origins.shown(),
            user: None,
            assets: std::sync::Arc::clone(&state.assets),
        }
    }

    /// The URL of an asset.
    pub(crate) fn asset(&self, name: &str) -> String {
        self.assets.url(name)
    }
}

/// What was wrong with a form.
pub(crate) struct FormProblem {
    pub(crate) detail: String,
    pub(crate) errors: Vec<(String, String)>,
}

impl FormProblem {
    /// A problem as a form shows it: fields by their names in the form.
    pub(crate) fn new(error: &ApiError) -> Self {
        let problem = &error.problem;
        let errors: Vec<(String, String)> = problem
            .errors
            .iter()
            .map(|error| (error.pointer.trim_start_matches('/').to_owned(), error.message.clone()))
            .collect();
        let detail = if errors.is_empty() {
            problem.detail.clone()
        } else {
            "Check what is marked, then send again.".to_owned()
        };
        Self { detail, errors }
    }

    /// A problem with one field.
    pub(crate) fn of_field(field: &str, message: &str) -> Self {
        Self {
            detail: "Check what is marked, then send again.".to_owned(),
            errors: vec![(field.to_owned(), message.to_owned())],
        }
    }

    /// What is wrong with a field.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        self.errors.iter().find(|(name, _)| name == field).map(|(_, message)| message.as_str())
    }
}

/// An error for people.
#[derive(Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage {
    pub(crate) page: PageContext,
    pub(crate) status: u16,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) request_id: String,
}

/// A rendered page; its nonce goes to the content security policy.
pub(crate) fn html(status: StatusCode, nonce: &str, page: &impl Template) -> Result<Response, ApiError> {
    let body =
        page.render().map_err(|error| ApiError::internal(format!("a page cannot be rendered: {error}")))?;
    let mut response = (status, body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.extensions_mut().insert(Nonce(nonce.to_owned()));
    Ok(response)
}

/// The day of an RFC 3339 time.
pub(crate) fn day(time: &str) -> String {
    time.split('T').next().unwrap_or(time).to_owned()
}
