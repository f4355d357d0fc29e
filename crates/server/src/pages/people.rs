//! Users as a page, for admins.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use toolshelf_api::{CreateUser, UpdateUser};
use toolshelf_core::Role;
use toolshelf_service::Actor;

use super::{FormProblem, PageContext, day, html};
use crate::http::{ApiError, FormBody, Params, SignedInUser};
use crate::state::AppState;

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    page: PageContext,
    users: Vec<PersonRow>,
    form: NewPerson,
    problem: Option<FormProblem>,
    notice: Option<String>,
}

struct PersonRow {
    id: String,
    username: String,
    role: &'static str,
    disabled: bool,
    is_self: bool,
    revision: u64,
    created: String,
}

#[derive(Default)]
struct NewPerson {
    username: String,
    role: String,
}

#[derive(Deserialize)]
pub(crate) struct NoticeParams {
    /// What was just done; one of the known words.
    #[serde(default)]
    done: String,
}

impl NoticeParams {
    /// The sentence for the word. An unknown word says nothing, so nobody can put words into our mouth.
    pub(crate) fn sentence(&self) -> Option<String> {
        let sentence = match self.done.as_str() {
            "added" => "The person is added and can sign in now.",
            "changed" => "The change is in force.",
            "revoked" => "The key is revoked.",
            _ => return None,
        };
        Some(sentence.to_owned())
    }
}

/// Everyone who may sign in.
pub(crate) async fn show(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(notice): Params<NoticeParams>,
) -> Result<Response, ApiError> {
    page(&state, &actor, NewPerson::default(), None, notice.sentence()).await
}

/// Adds a person.
pub(crate) async fn add(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    form: FormBody,
) -> Result<Response, ApiError> {
    let typed =
        NewPerson { username: form.get("username").trim().to_owned(), role: form.get("role").to_owned() };
    let role = match typed.role.as_str() {
        "admin" => Role::Admin,
        "user" => Role::User,
        _ => {
            let problem = FormProblem::of_field("role", "Choose a role.");
            return page(&state, &actor, typed, Some((StatusCode::UNPROCESSABLE_ENTITY, problem)), None)
                .await;
        }
    };
    let new =
        CreateUser { username: typed.username.clone(), password: form.get("password").to_owned(), role };
    let done = state.service.create_user(&actor, new).await;
    answer(&state, &actor, typed, done.map(|_| "added")).await
}

/// Changes a person.
pub(crate) async fn change(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    form: FormBody,
) -> Result<Response, ApiError> {
    let change = match form.get("action") {
        "make_admin" => UpdateUser { role: Some(Role::Admin), ..UpdateUser::default() },
        "make_user" => UpdateUser { role: Some(Role::User), ..UpdateUser::default() },
        "disable" => UpdateUser { disabled: Some(true), ..UpdateUser::default() },
        "enable" => UpdateUser { disabled: Some(false), ..UpdateUser::default() },
        "set_password" => {
            UpdateUser { password: Some(form.get("password").to_owned()), ..UpdateUser::default() }
        }
        _ => {
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "Choose what to change."));
        }
    };
    let revision = form.get("revision").parse().map_err(|_| {
        ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            "The form is incomplete. Load the page again.",
        )
    })?;
    let done = state.service.update_user(&actor, &id, Some(revision), change).await;
    answer(&state, &actor, NewPerson::default(), done.map(|_| "changed")).await
}

async fn answer(
    state: &AppState,
    actor: &Actor,
    typed: NewPerson,
    done: Result<&str, toolshelf_service::ServiceError>,
) -> Result<Response, ApiError> {
    match done {
        Ok(word) => Ok(Redirect::to(&format!("/people?done={word}")).into_response()),
        Err(error) => {
            let error = ApiError::from(error);
            if error.status().is_server_error() {
                return Err(error);
            }
            let mut problem = FormProblem::new(&error);
            if error.problem.code == "name_taken" {
                problem = FormProblem::of_field("username", &error.problem.detail);
            }
            page(state, actor, typed, Some((error.status(), problem)), None).await
        }
    }
}

async fn page(
    state: &AppState,
    actor: &Actor,
    form: NewPerson,
    problem: Option<(StatusCode, FormProblem)>,
    notice: Option<String>,
) -> Result<Response, ApiError> {
    let own_id = actor.me().id;
    let users = state.service.list_users(None, usize::MAX).await?.items.into_iter().map(|user| PersonRow {
        is_self: user.id == own_id,
        id: user.id,
        username: user.username,
        role: if user.role == Role::Admin { "admin" } else { "user" },
        disabled: user.disabled,
        revision: user.revision,
        created: day(&user.created_at),
    });
    let context = PageContext::new(state, "/people", Some(actor));
    let nonce = context.nonce.clone();
    let (status, problem) =
        problem.map_or((StatusCode::OK, None), |(status, problem)| (status, Some(problem)));
    html(status, &nonce, &PeoplePage { page: context, users: users.collect(), form, problem, notice })
}
