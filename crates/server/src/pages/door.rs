//! Set-up, sign-in and sign-out as pages.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use toolshelf_api::{Login, Setup};
use toolshelf_service::ServiceError;

use super::{FormProblem, PageContext, html};
use crate::http::{
    ApiError, ClientAddress, FormBody, Maybe, Params, SignedInUser, clear_cookie, session_cookie,
};
use crate::state::AppState;

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage {
    page: PageContext,
    token: String,
    username: String,
    problem: Option<FormProblem>,
    finished: bool,
    /// Whether the address has no token, so that there is nothing to fill in.
    link_missing: bool,
    /// Why the token does not work.
    link_broken: Option<String>,
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    page: PageContext,
    username: String,
    next: String,
    problem: Option<FormProblem>,
}

#[derive(Deserialize)]
pub(crate) struct SetupParams {
    #[serde(default)]
    token: String,
}

/// The form of the set-up link. A link that does not work says so before anything is typed.
pub(crate) async fn show_setup(
    State(state): State<AppState>,
    Params(SetupParams { token }): Params<SetupParams>,
) -> Result<Response, ApiError> {
    let problem = match state.service.check_setup_link(&token).await {
        Ok(()) => None,
        Err(error @ (ServiceError::Invalid(_) | ServiceError::Conflict { .. })) => {
            Some(ApiError::from(error))
        }
        Err(other) => return Err(other.into()),
    };
    setup_page(&state, token, String::new(), problem.as_ref())
}

/// Makes the first account.
pub(crate) async fn submit_setup(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    form: FormBody,
) -> Result<Response, ApiError> {
    let setup = Setup {
        token: form.get("token").to_owned(),
        username: form.get("username").trim().to_owned(),
        password: form.get("password").to_owned(),
    };
    let (token, username) = (setup.token.clone(), setup.username.clone());
    if setup.password != form.get("password_again") {
        // What else is wrong with the form is said at once, and nothing is made.
        let mut problem = match state.service.check_setup(&setup).await {
            Ok(()) => FormProblem::of_field("password_again", "The two passwords differ."),
            Err(error) => {
                let error = expected(error)?;
                if !error.problem.errors.iter().any(|error| error.pointer != "/token") {
                    return setup_page(&state, token, username, Some(&error));
                }
                FormProblem::new(&error)
            }
        };
        if problem.of("password_again").is_none() {
            problem.errors.push(("password_again".to_owned(), "The two passwords differ.".to_owned()));
        }
        let page = PageContext::new(&state, "/setup", None);
        let nonce = page.nonce.clone();
        let problem = Some(problem);
        let page = SetupPage {
            page,
            token,
            username,
            problem,
            finished: false,
            link_missing: false,
            link_broken: None,
        };
        return html(StatusCode::UNPROCESSABLE_ENTITY, &nonce, &page);
    }
    match state.service.set_up(setup, address).await {
        Ok(signed_in) => {
            Ok((session_cookie(&state, &signed_in)?, Redirect::to("/functions")).into_response())
        }
        Err(error) => setup_page(&state, token, username, Some(&expected(error)?)),
    }
}

fn setup_page(
    state: &AppState,
    token: String,
    username: String,
    problem: Option<&ApiError>,
) -> Result<Response, ApiError> {
    let page = PageContext::new(state, "/setup", None);
    let nonce = page.nonce.clone();
    let finished = problem.is_some_and(|error| error.problem.code == "already_set_up");
    let link_missing = token.is_empty() && !finished;
    let of_token =
        problem.and_then(|error| error.problem.errors.iter().find(|error| error.pointer == "/token"));
    let link_broken = of_token.filter(|_| !link_missing).map(|error| error.message.clone());
    // Without a token nobody did anything wrong: it is the first line that the program prints which leads here.
    let status = problem.filter(|_| !link_missing).map_or(StatusCode::OK, ApiError::status);
    let problem = problem.filter(|_| of_token.is_none()).map(FormProblem::new);
    html(status, &nonce, &SetupPage { page, token, username, problem, finished, link_missing, link_broken })
}

#[derive(Deserialize)]
pub(crate) struct LoginParams {
    #[serde(default)]
    next: String,
}

/// The sign-in form; whoever is signed in goes on at once.
pub(crate) async fn show_login(
    State(state): State<AppState>,
    Maybe(actor): Maybe,
    Params(LoginParams { next }): Params<LoginParams>,
) -> Result<Response, ApiError> {
    if actor.is_some() {
        return Ok(Redirect::to(safe_next(&next)).into_response());
    }
    if state.service.needs_setup().await? {
        return Ok(Redirect::to("/setup").into_response());
    }
    login_page(&state, String::new(), &next, None)
}

/// Opens a session.
pub(crate) async fn submit_login(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    Maybe(before): Maybe,
    form: FormBody,
) -> Result<Response, ApiError> {
    let username = form.get("username").trim().to_owned();
    let login = Login { username: username.clone(), password: form.get("password").to_owned() };
    let next = form.get("next");
    match state.service.log_in(login, address, before.as_ref()).await {
        Ok(signed_in) => {
            Ok((session_cookie(&state, &signed_in)?, Redirect::to(safe_next(next))).into_response())
        }
        Err(error) => login_page(&state, username, next, Some(&expected(error)?)),
    }
}

fn login_page(
    state: &AppState,
    username: String,
    next: &str,
    problem: Option<&ApiError>,
) -> Result<Response, ApiError> {
    let page = PageContext::new(state, "/login", None);
    let nonce = page.nonce.clone();
    let next = safe_next(next).to_owned();
    let status = problem.map_or(StatusCode::OK, ApiError::status);
    let retry_after = problem.and_then(ApiError::retry_after_seconds);
    let problem = problem.map(FormProblem::new);
    let mut response = html(status, &nonce, &LoginPage { page, username, next, problem })?;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

/// Ends the session.
pub(crate) async fn submit_logout(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    _form: FormBody,
) -> Result<Response, ApiError> {
    state.service.log_out(&actor).await?;
    Ok((clear_cookie(&state)?, Redirect::to("/login")).into_response())
}

/// An error that the form can show; anything else is a page of its own.
fn expected(error: ServiceError) -> Result<ApiError, ApiError> {
    let error = ApiError::from(error);
    if error.status().is_server_error() { Err(error) } else { Ok(error) }
}

/// Where to go after signing in: only to a page of ours.
fn safe_next(next: &str) -> &str {
    let ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.chars().any(char::is_control)
        && next != "/login";
    if ours { next } else { "/functions" }
}

#[cfg(test)]
mod tests {
    use super::safe_next;

    #[test]
    fn after_signing_in_nobody_is_sent_elsewhere() {
        for next in
            ["", "//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "functions"]
        {
            assert_eq!(safe_next(next), "/functions", "{next:?}");
        }
        assert_eq!(safe_next("/functions/grep?x=1"), "/functions/grep?x=1");
    }
}
