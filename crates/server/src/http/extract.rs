//! Extractors whose refusals are problem documents.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use toolshelf_api::FieldError;
use toolshelf_service::Actor;

use super::problem::ApiError;
use crate::state::AppState;

/// The largest body that is read, in bytes.
pub(crate) const BODY_MAX: usize = 1024 * 1024;

/// A JSON body. Unknown fields and wrong types are refused with a pointer to the field.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &AppState) -> Result<Self, ApiError> {
        require_type(request.headers(), "application/json")?;
        let (parts, body) = request.into_parts();
        let bytes = read_body(&parts.headers, body).await?;
        // First as JSON and then as the type, so that broken JSON and a wrong value are told apart.
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| malformed(&error))?;
        if !value.is_object() {
            // Structs would read a list field by field.
            let message = "Send a JSON object.".to_owned();
            return Err(ApiError::invalid(vec![FieldError { pointer: String::new(), message }]));
        }
        drop(value);
        // From the text once more: the value has forgotten which fields were there twice.
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        serde_path_to_error::deserialize(&mut reader).map(Self).map_err(|error| {
            let pointer = pointer(error.path());
            ApiError::invalid(vec![FieldError {
                pointer,
                message: sentence(&error.into_inner().to_string()),
            }])
        })
    }
}

fn malformed(error: &serde_json::Error) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "malformed_json", format!("The body is not JSON: {error}."))
}

/// A serde message without the place in the text, which the pointer says better.
fn sentence(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message);
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => String::new(),
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        let text = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.clone(),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&text.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

/// A form of a page that works without script.
pub(crate) struct FormBody(Vec<(String, String)>);

impl FormBody {
    /// The first value of a field; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// All values of a field.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl FromRequest<AppState> for FormBody {
    type Rejection = ApiError;

    /// Reads the form, and refuses it unless it carries the CSRF token of the session that sends it.
    async fn from_request(request: Request, _: &AppState) -> Result<Self, ApiError> {
        require_type(request.headers(), "application/x-www-form-urlencoded")?;
        let actor = request.extensions().get::<Actor>().cloned();
        let public = matches!(request.uri().path(), "/setup" | "/login");
        let (parts, body) = request.into_parts();
        let bytes = read_body(&parts.headers, body).await?;
        let form = Self(url::form_urlencoded::parse(&bytes).into_owned().collect());
        match actor {
            Some(actor) if !public && !super::csrf_matches(&actor, Some(form.get("csrf_token"))) => {
                Err(super::guard::wrong_csrf_token())
            }
            _ => Ok(form),
        }
    }
}

fn require_type(headers: &HeaderMap, wanted: &str) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted)) {
        return Ok(());
    }
    let detail = format!("Send the body as {wanted}.");
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail))
}

/// Reads a body whole, within bounds of size and time.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: axum::body::Body,
) -> Result<axum::body::Bytes, ApiError> {
    let too_large = || {
        let detail = format!("The body is larger than {} KiB.", BODY_MAX / 1024);
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail)
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: u64| length > BODY_MAX as u64) {
        return Err(too_large());
    }
    let reading = axum::body::to_bytes(body, BODY_MAX);
    match tokio::time::timeout(std::time::Duration::from_secs(30), reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_large()),
        Ok(Err(_)) => Err(ApiError::new(StatusCode::BAD_REQUEST, "broken_body", "The body ended too early.")),
        Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow_body", "The body took too long.")),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit") {
            return true;
        }
        source = error.source();
    }
    false
}

/// Query parameters. Unknown ones and wrong values are refused.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<AppState> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, ApiError> {
        read_query(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn read_query<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    use serde_path_to_error::Segment;
    let query = serde_urlencoded::Deserializer::new(url::form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(query).map_err(|error| {
        let name = match error.path().iter().next() {
            Some(Segment::Map { key }) => key.clone(),
            // One that is missing or given twice has no place; the message names it.
            _ => String::new(),
        };
        wrong_parameter(name, &error.into_inner().to_string())
    })
}

/// A refusal whose detail names the parameter as it was written.
fn wrong_parameter(name: String, message: &str) -> ApiError {
    let named = !name.is_empty() && !message.contains(&format!("`{name}`"));
    let detail = named.then(|| format!("{name}: {message}."));
    let pointer = if name.is_empty() { "query".to_owned() } else { name };
    let mut error = ApiError::invalid(vec![FieldError { pointer, message: sentence(message) }]);
    if let Some(detail) = detail {
        error.problem.detail = detail;
    }
    error
}

/// Who asks, on a route that is not public.
pub(crate) struct SignedInUser(pub(crate) Actor);

impl FromRequestParts<AppState> for SignedInUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, ApiError> {
        let actor = parts.extensions.get::<Actor>().cloned();
        actor
            .map(Self)
            .ok_or_else(|| ApiError::internal("a handler that needs an actor is on a public route"))
    }
}

/// Who asks, if anybody is known.
pub(crate) struct Maybe(pub(crate) Option<Actor>);

impl FromRequestParts<AppState> for Maybe {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get::<Actor>().cloned()))
    }
}

/// The revision that a write was made on. `If-Match: *` and an absent header match any.
pub(crate) struct IfMatch(pub(crate) Option<u64>);

impl FromRequestParts<AppState> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or("").trim();
        if text == "*" {
            return Ok(Self(None));
        }
        let detail = "Send the ETag as it was given, such as If-Match: \"r3\".";
        revision(text)
            .map(|revision| Self(Some(revision)))
            .ok_or_else(|| ApiError::new(StatusCode::BAD_REQUEST, "malformed_if_match", detail))
    }
}

/// The revision in an `ETag` of ours.
fn revision(etag: &str) -> Option<u64> {
    let digits = etag.strip_prefix("\"r")?.strip_suffix('"')?;
    // A number may be written with a sign, but no ETag of ours is.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The address that limits count.
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
        let peer = peer.ok_or_else(|| ApiError::internal("the connection's address is not known"))?;
        Ok(Self(state.origins.client(peer, &parts.headers)))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::{read_query, revision};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[expect(dead_code, reason = "only refusals are looked at")]
        limit: u8,
    }

    #[test]
    fn a_revision_is_written_in_digits() {
        for (etag, wanted) in [
            ("\"r0\"", Some(0)),
            ("\"r17\"", Some(17)),
            ("\"r+1\"", None),
            ("\"r-1\"", None),
            ("\"r\"", None),
            ("\"r1", None),
            ("r1", None),
            ("W/\"r1\"", None),
            ("\"r99999999999999999999\"", None),
        ] {
            assert_eq!(revision(etag), wanted, "{etag}");
        }
    }

    #[test]
    fn a_wrong_parameter_is_named_as_it_was_written() {
        for (query, pointer, detail) in [
            ("limit=x", "limit", "limit: invalid digit found in string."),
            ("limit=1&x=2", "x", "Unknown field `x`, expected `limit`."),
            ("", "query", "Missing field `limit`."),
        ] {
            let error = read_query::<Wanted>(query).unwrap_err();
            assert_eq!(error.problem.detail, detail);
            assert_eq!(error.problem.errors[0].pointer, pointer);
        }
    }
}
