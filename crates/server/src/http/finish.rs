//! The outermost layers: request id, log line, panic catching, bodies of errors, headers of every response.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use askama::Template as _;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use toolshelf_api::Problem;

use super::problem::ApiError;
use crate::pages::{ErrorPage, PageContext};
use crate::state::AppState;

/// How long a handler may take to answer. Streams answer at once and go on.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// How many characters a text of a problem has at most.
const TEXT_MAX: usize = 500;
/// How many errors and how many suggestions a problem has at most.
const ITEMS_MAX: usize = 100;

/// The nonce of a page's scripts; the content security policy of the response names it.
#[derive(Clone, Debug)]
pub(crate) struct Nonce(pub(crate) String);

/// Ends a request that takes too long.
pub(crate) async fn time_limit(request: Request, next: Next) -> Response {
    match tokio::time::timeout(TIME_LIMIT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::GATEWAY_TIMEOUT.into_response(),
    }
}

/// Gives the request an id, catches panics, and finishes the response.
pub(crate) async fn finish(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let id = state.environment.new_id();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let wants_page = !path.starts_with("/api/") && accepts_html(request.headers());
    let started = Instant::now();

    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| ApiError::internal("a handler panicked").into_response());

    if let Some(mut error) = response.extensions_mut().remove::<ApiError>() {
        error.problem.request_id.clone_from(&id);
        log_failure(&error, &method, &path, &id);
        write_body(&mut response, error, wants_page, &path, &state);
    } else if is_bare_error(&response) {
        // A layer or the router answered without a body of ours.
        let mut error = ApiError::new(response.status(), "refused", bare_detail(response.status()));
        error.problem.request_id.clone_from(&id);
        write_body(&mut response, error, wants_page, &path, &state);
    }
    set_headers(&mut response, &id, &state);
    tracing::debug!(request.id = %id, %method, path, status = response.status().as_u16(), duration_ms = started.elapsed().as_millis(), "answered");
    response
}

fn accepts_html(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

fn is_bare_error(response: &Response) -> bool {
    let status = response.status();
    (status.is_client_error() || status.is_server_error())
        && !response.headers().contains_key(header::CONTENT_TYPE)
        || (status.is_client_error()
            && response
                .headers()
                .get(header::CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain")))
}

fn bare_detail(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "There is nothing at this address.",
        StatusCode::METHOD_NOT_ALLOWED => "This address does not take this method.",
        StatusCode::GATEWAY_TIMEOUT => "The server took too long to answer.",
        _ => "The request could not be read.",
    }
}

fn log_failure(error: &ApiError, method: &axum::http::Method, path: &str, id: &str) {
    let status = error.status().as_u16();
    let code = &error.problem.code;
    match error.reason() {
        Some(reason) => {
            tracing::error!(request.id = id, %method, path, status, code, reason, "request failed");
        }
        None if status == 429 => {
            tracing::warn!(request.id = id, %method, path, status, code, "request refused");
        }
        None => tracing::debug!(request.id = id, %method, path, status, code, "request refused"),
    }
}

fn write_body(response: &mut Response, mut error: ApiError, wants_page: bool, path: &str, state: &AppState) {
    shorten(&mut error.problem);
    let (kind, body) = if wants_page {
        let nonce = new_nonce(state);
        let page = PageContext::anonymous(state, path, nonce.clone());
        response.extensions_mut().insert(Nonce(nonce));
        let page = ErrorPage {
            page,
            status: error.problem.status,
            title: error.problem.title.clone(),
            detail: error.problem.detail.clone(),
            request_id: error.problem.request_id.clone(),
        };
        ("text/html; charset=utf-8", page.render().unwrap_or_else(|_| error.problem.detail.clone()))
    } else {
        ("application/problem+json", serde_json::to_string(&error.problem).unwrap_or_default())
    };
    *response.body_mut() = Body::from(body);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
}

/// Cuts what may repeat a long text of the request, so that an answer does not grow with it.
fn shorten(problem: &mut Problem) {
    cut(&mut problem.detail);
    problem.errors.truncate(ITEMS_MAX);
    for error in &mut problem.errors {
        cut(&mut error.pointer);
        cut(&mut error.message);
    }
    problem.suggestions.truncate(ITEMS_MAX);
    problem.suggestions.iter_mut().for_each(cut);
}

fn cut(text: &mut String) {
    // The last character makes room for the sign that something is missing.
    let mut ends = text.char_indices().map(|(index, _)| index).skip(TEXT_MAX - 1);
    if let (Some(end), Some(_)) = (ends.next(), ends.next()) {
        text.truncate(end);
        text.push('…');
    }
}

/// A nonce of 128 random bits.
pub(crate) fn new_nonce(state: &AppState) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(&state.environment.new_secret()[..16])
}

fn set_headers(response: &mut Response, id: &str, state: &AppState) {
    let script = response
        .extensions()
        .get::<Nonce>()
        .map_or_else(|| "'none'".to_owned(), |Nonce(nonce)| format!("'nonce-{nonce}' 'wasm-unsafe-eval'"));
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
         font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set("content-security-policy", &policy);
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    // Of our own pages only, and never the query to others: the set-up link holds a token.
    set("referrer-policy", "same-origin");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    set("x-request-id", id);
    if state.origins.secure() {
        set("strict-transport-security", "max-age=31536000");
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Only JSON is compressed on the fly: assets are compressed beforehand, and a page holds its CSRF token.
pub(crate) fn is_json(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

#[cfg(test)]
mod tests {
    use toolshelf_api::{FieldError, Problem};

    use super::{ITEMS_MAX, TEXT_MAX, cut, shorten};

    #[test]
    fn long_texts_are_cut_between_characters() {
        for character in ["x", "é", "🧰"] {
            for (length, is_cut) in [(TEXT_MAX - 1, false), (TEXT_MAX, false), (TEXT_MAX + 1, true)] {
                let whole = character.repeat(length);
                let mut text = whole.clone();
                cut(&mut text);
                assert_eq!(text.chars().count(), length.min(TEXT_MAX));
                assert_eq!((text != whole, text.ends_with('…')), (is_cut, is_cut));
            }
        }
    }

    #[test]
    fn every_text_that_may_repeat_a_request_is_cut() {
        let long = "x".repeat(10_000);
        let error = FieldError { pointer: long.clone(), message: long.clone() };
        let mut problem = Problem {
            detail: long.clone(),
            errors: vec![error; 1_000],
            suggestions: vec![long; 1_000],
            ..Problem::default()
        };
        shorten(&mut problem);
        assert_eq!((problem.errors.len(), problem.suggestions.len()), (ITEMS_MAX, ITEMS_MAX));
        let texts = problem.errors.iter().flat_map(|error| [&error.pointer, &error.message]);
        for text in texts.chain(&problem.suggestions).chain([&problem.detail]) {
            assert_eq!(text.chars().count(), TEXT_MAX);
        }
    }
}
