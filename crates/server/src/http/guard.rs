//! The guard: every request passes it before its handler.
//!
//! A handler may assume: the host is ours; whoever asks has access to the route, and stands in the request's
//! extensions as [`Actor`] unless the route is public; a write comes from a page of ours or with an API key; and a
//! write of a session carries its CSRF token, except to routes marked `form`, whose handler checks the form field.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use toolshelf_service::{Access, Actor, ServiceError, Standing};

use super::account::cookie_name;
use super::extract::read_body;
use super::problem::ApiError;
use super::routes::{ROUTES, Route};
use crate::state::AppState;

/// A larger URI would only fill logs and memory.
const URI_MAX: usize = 8 * 1024;

static TABLE: LazyLock<HashMap<(&str, &str), &Route>> =
    LazyLock::new(|| ROUTES.iter().map(|route| ((route.method, route.path), route)).collect());

/// Lets a request through or answers it.
pub(crate) async fn guard(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let is_page = is_page(request.uri());
    let (uri, writes) = (request.uri().clone(), !request.method().is_safe());
    match admit(&state, request).await {
        Ok(request) => next.run(request).await,
        // A person gets to the page where to sign in, and back.
        Err(error) if is_page && error.status() == StatusCode::UNAUTHORIZED => {
            to_sign_in(&state, &uri, writes).await
        }
        Err(error) => error.into_response(),
    }
}

/// The request with its body in memory.
async fn buffered(request: Request) -> Result<Request, ApiError> {
    let (parts, body) = request.into_parts();
    let body = read_body(&parts.headers, body).await?;
    Ok(Request::from_parts(parts, body.into()))
}

async fn admit(state: &AppState, mut request: Request) -> Result<Request, ApiError> {
    if request.uri().path_and_query().is_some_and(|path| path.as_str().len() > URI_MAX) {
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, "uri_too_long", "The address is too long."));
    }
    if !state.origins.knows_host(request.headers()) {
        let detail = "This server does not answer to this host name. Use its loopback address, or set server.public_url.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "foreign_host", detail));
    }
    // Without a matched path the fallback answers, which shows nothing.
    let Some(path) = request.extensions().get::<MatchedPath>().cloned() else { return Ok(request) };
    let method = if request.method() == Method::HEAD { "GET" } else { request.method().as_str() };
    let Some(&route) = TABLE.get(&(method, path.as_str())) else { return Err(no_such_method(path.as_str())) };

    let writes = !request.method().is_safe();
    let by_key = bearer_token(request.headers())?.is_some();
    if writes && !by_key && !state.origins.is_same_origin(request.headers()) {
        let detail = "The request does not come from a page of this server. Reload the page and try again.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "cross_site", detail));
    }
    // The body is read before anybody is authenticated: whoever holds it back must not keep a standing that ends in the
    // meantime. Of somebody who shows nothing it is read by public routes only.
    let shows_something = by_key || session_token(state, request.headers()).is_some();
    if writes && (shows_something || route.access == Access::Public) {
        request = buffered(request).await?;
    }
    let bearer = bearer_token(request.headers())?;
    let actor = authenticate(state, bearer, request.headers(), route.access).await?;
    let standing = actor.as_ref().map_or(Standing::Anonymous, Actor::standing);
    route.access.check(standing).map_err(ServiceError::Denied)?;
    if let Some(actor) = actor {
        if writes
            && !route.form
            && route.access != Access::Public
            && !csrf_matches(&actor, csrf_header(&request))
        {
            return Err(wrong_csrf_token());
        }
        request.extensions_mut().insert(actor);
    }
    Ok(request)
}

/// Whether a session's write carries the session's CSRF token.
pub(crate) fn csrf_matches(actor: &Actor, sent: Option<&str>) -> bool {
    actor.accepts_csrf_token(sent)
}

/// The answer to a session's write without its CSRF token.
pub(crate) fn wrong_csrf_token() -> ApiError {
    let detail = "The X-CSRF-Token is missing or belongs to another session. Reload the page and try again.";
    ApiError::new(StatusCode::FORBIDDEN, "wrong_csrf_token", detail)
}

fn csrf_header(request: &Request) -> Option<&str> {
    request.headers().get("x-csrf-token").and_then(|value| value.to_str().ok())
}

fn bearer_token(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let token = value.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    let detail = "Send the API key as `Authorization: Bearer ts_…`.";
    token.map(Some).ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail))
}

/// Who asks. A key wins over a cookie; a wrong key is never made good by a cookie. On a public route an ended session
/// counts as none.
async fn authenticate(
    state: &AppState,
    bearer: Option<&str>,
    headers: &HeaderMap,
    access: Access,
) -> Result<Option<Actor>, ApiError> {
    if let Some(token) = bearer {
        return Ok(Some(state.service.authenticate_key(token).await?));
    }
    let Some(token) = session_token(state, headers) else { return Ok(None) };
    match state.service.authenticate_session(token).await {
        Ok(actor) => Ok(Some(actor)),
        Err(ServiceError::Unauthenticated(_)) if access == Access::Public => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The session's token in the cookie.
pub(crate) fn session_token<'a>(state: &AppState, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(state);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

fn no_such_method(path: &str) -> ApiError {
    let known = ROUTES.iter().any(|route| route.path == path);
    if known {
        ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "This address does not take this method.",
        )
    } else {
        // A route that nobody wrote into the table is closed to everyone.
        ApiError::internal(format!("the route {path} is not in the table of access"))
    }
}

fn is_page(uri: &Uri) -> bool {
    !uri.path().starts_with("/api/")
}

/// Where to sign in, and from there back: to the page, or after a form to the page that showed it.
async fn to_sign_in(state: &AppState, uri: &Uri, writes: bool) -> Response {
    if matches!(state.service.needs_setup().await, Ok(true)) {
        return Redirect::to("/setup").into_response();
    }
    let page = uri.path_and_query().map_or("/", |path| path.as_str());
    let shown = ROUTES.iter().filter(|route| route.method == "GET").map(|route| route.path);
    let forms_page = shown.filter(|path| {
        path.len() > 1
            && uri.path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let next = if writes { forms_page.min_by_key(|path| path.len()).unwrap_or("/") } else { page };
    let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let mut response = Redirect::to(&format!("/login?next={next}")).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
