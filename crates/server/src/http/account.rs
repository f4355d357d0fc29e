//! Set-up, sign-in, sign-out, and who is signed in.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use toolshelf_api::{ConfirmPassword, Login, Me, Problem, Setup};
use toolshelf_service::SignedIn;

use super::{ApiError, Body, ClientAddress, Maybe, SignedInUser};
use crate::state::AppState;

/// The name of the session cookie. Over TLS its prefix binds it to this host.
pub(crate) fn cookie_name(state: &AppState) -> &'static str {
    if state.origins.secure() { "__Host-toolshelf_session" } else { "toolshelf_session" }
}

/// The header that gives a browser its session.
pub(crate) fn session_cookie(
    state: &AppState,
    signed_in: &SignedIn,
) -> Result<AppendHeaders<[(header::HeaderName, HeaderValue); 1]>, ApiError> {
    let seconds = (signed_in.expires_at - state.environment.now()).num_seconds();
    cookie(state, &signed_in.token, seconds)
}

/// The header that takes a browser's session away.
pub(crate) fn clear_cookie(
    state: &AppState,
) -> Result<AppendHeaders<[(header::HeaderName, HeaderValue); 1]>, ApiError> {
    cookie(state, "", 0)
}

fn cookie(
    state: &AppState,
    value: &str,
    seconds: i64,
) -> Result<AppendHeaders<[(header::HeaderName, HeaderValue); 1]>, ApiError> {
    let secure = if state.origins.secure() { "; Secure" } else { "" };
    let text =
        format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}", cookie_name(state));
    let mut value = HeaderValue::from_str(&text)
        .map_err(|_| ApiError::internal("a session's token is no header value"))?;
    value.set_sensitive(true);
    Ok(AppendHeaders([(header::SET_COOKIE, value)]))
}

/// Makes the first account, an admin, and signs it in. Works once, with the token of the set-up link.
#[utoipa::path(post, path = "/setup", tag = "account", responses(
    (status = 201, body = Me), (status = 409, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)
))]
pub(crate) async fn set_up(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    Body(setup): Body<Setup>,
) -> Result<impl IntoResponse, ApiError> {
    let signed_in = state.service.set_up(setup, address).await?;
    Ok((StatusCode::CREATED, session_cookie(&state, &signed_in)?, Json(signed_in.me)))
}

/// Opens a session; its cookie is in the answer. A session that the browser had ends.
#[utoipa::path(post, path = "/login", tag = "account", responses(
    (status = 200, body = Me), (status = 401, body = Problem), (status = 429, body = Problem)
))]
pub(crate) async fn log_in(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    Maybe(before): Maybe,
    Body(login): Body<Login>,
) -> Result<impl IntoResponse, ApiError> {
    let signed_in = state.service.log_in(login, address, before.as_ref()).await?;
    Ok((session_cookie(&state, &signed_in)?, Json(signed_in.me)))
}

/// Ends the session.
#[utoipa::path(post, path = "/logout", tag = "account", responses((status = 204)))]
pub(crate) async fn log_out(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
) -> Result<impl IntoResponse, ApiError> {
    state.service.log_out(&actor).await?;
    Ok((StatusCode::NO_CONTENT, clear_cookie(&state)?))
}

/// Who the request speaks for.
#[utoipa::path(get, path = "/me", tag = "account", responses((status = 200, body = Me), (status = 401, body = Problem)))]
pub(crate) async fn get_me(SignedInUser(actor): SignedInUser) -> Json<Me> {
    Json(actor.me())
}

/// Confirms the password of who is signed in. For ten minutes the session may then change what runs on the server's machine.
#[utoipa::path(post, path = "/me/confirm", tag = "account", responses(
    (status = 204), (status = 422, body = Problem), (status = 429, body = Problem)
))]
pub(crate) async fn confirm_password(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    ClientAddress(address): ClientAddress,
    Body(confirm): Body<ConfirmPassword>,
) -> Result<StatusCode, ApiError> {
    state.service.confirm_password(&actor, confirm.password, address).await?;
    Ok(StatusCode::NO_CONTENT)
}
