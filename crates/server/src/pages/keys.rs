//! API keys as a page.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::{DateTime, TimeDelta};
use toolshelf_api::{CreateApiKey, KeyScope};
use toolshelf_core::Role;
use toolshelf_service::{Actor, rfc3339};

use super::people::NoticeParams;
use super::{FormProblem, PageContext, day, html};
use crate::http::{ApiError, FormBody, Params, SignedInUser};
use crate::state::AppState;

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    page: PageContext,
    keys: Vec<KeyRow>,
    show_owner: bool,
    created_token: Option<String>,
    created_name: String,
    scopes: Vec<ScopeChoice>,
    form_name: String,
    problem: Option<FormProblem>,
    notice: Option<String>,
}

struct KeyRow {
    id: String,
    name: String,
    owner: String,
    scopes: String,
    profile: Option<String>,
    expires: Option<String>,
    created: String,
    state: &'static str,
}

struct ScopeChoice {
    value: &'static str,
    label: &'static str,
    checked: bool,
    enabled: bool,
}

/// What a page shows beyond the keys.
#[derive(Default)]
struct Shown {
    created: Option<(String, String)>,
    name: String,
    chosen: Vec<KeyScope>,
    problem: Option<(StatusCode, FormProblem)>,
    notice: Option<String>,
}

/// The actor's keys; all keys for an admin.
pub(crate) async fn show(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(notice): Params<NoticeParams>,
) -> Result<Response, ApiError> {
    page(
        &state,
        &actor,
        Shown { chosen: vec![KeyScope::Read], notice: notice.sentence(), ..Shown::default() },
    )
    .await
}

/// Makes a key. Its token is on the page that answers, and nowhere else: no redirect, so it is in no address.
pub(crate) async fn make(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    form: FormBody,
) -> Result<Response, ApiError> {
    let chosen: Vec<KeyScope> = form.all("scope").filter_map(KeyScope::parse).collect();
    let days = match form.get("expires") {
        "30" => Some(30),
        "90" => Some(90),
        "365" => Some(365),
        "never" => None,
        _ => {
            let problem = FormProblem::of_field("expires", "Choose when the key ends.");
            let problem = Some((StatusCode::UNPROCESSABLE_ENTITY, problem));
            let name = form.get("name").to_owned();
            return page(&state, &actor, Shown { name, chosen, problem, ..Shown::default() }).await;
        }
    };
    let new = CreateApiKey {
        name: form.get("name").to_owned(),
        scopes: chosen.clone(),
        profile: None,
        expires_at: days.map(|days| rfc3339(state.environment.now() + TimeDelta::days(days))),
    };
    match state.service.create_api_key(&actor, new).await {
        Ok(created) => {
            let shown = Shown {
                created: Some((created.token, created.key.name)),
                chosen: vec![KeyScope::Read],
                ..Shown::default()
            };
            page(&state, &actor, shown).await
        }
        Err(error) => {
            let error = ApiError::from(error);
            if error.status().is_server_error() {
                return Err(error);
            }
            let mut problem = FormProblem::new(&error);
            // The API calls the list `scopes`; each box of the form is a `scope`.
            for (field, _) in problem.errors.iter_mut().filter(|(field, _)| field == "scopes") {
                "scope".clone_into(field);
            }
            let name = form.get("name").to_owned();
            page(
                &state,
                &actor,
                Shown { name, chosen, problem: Some((error.status(), problem)), ..Shown::default() },
            )
            .await
        }
    }
}

/// Revokes a key.
pub(crate) async fn revoke(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    _form: FormBody,
) -> Result<Response, ApiError> {
    state.service.revoke_api_key(&actor, &id).await?;
    Ok(Redirect::to("/keys?done=revoked").into_response())
}

async fn page(state: &AppState, actor: &Actor, shown: Shown) -> Result<Response, ApiError> {
    let now = state.environment.now();
    let is_admin = actor.me().role == Role::Admin;
    let keys =
        state.service.list_api_keys(actor, None, usize::MAX).await?.items.into_iter().map(|key| KeyRow {
            state: match (&key.revoked_at, &key.expires_at) {
                (Some(_), _) => "revoked",
                (None, Some(at)) if DateTime::parse_from_rfc3339(at).is_ok_and(|at| at <= now) => "expired",
                _ => "active",
            },
            scopes: key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", "),
            expires: key.expires_at.as_deref().map(day),
            created: day(&key.created_at),
            id: key.id,
            name: key.name,
            owner: key.owner,
            profile: key.profile,
        });
    let scopes = KeyScope::ALL.into_iter().filter_map(|scope| {
        Some(ScopeChoice {
            value: scope.as_str(),
            label: label(scope)?,
            checked: shown.chosen.contains(&scope),
            enabled: is_admin || scope != KeyScope::Admin,
        })
    });
    let context = PageContext::new(state, "/keys", Some(actor));
    let nonce = context.nonce.clone();
    let (created_token, created_name) =
        shown.created.map_or((None, String::new()), |(token, name)| (Some(token), name));
    let (status, problem) =
        shown.problem.map_or((StatusCode::OK, None), |(status, problem)| (status, Some(problem)));
    let page = KeysPage {
        page: context,
        keys: keys.collect(),
        show_owner: is_admin,
        created_token,
        created_name,
        scopes: scopes.collect(),
        form_name: shown.name,
        problem,
        notice: shown.notice,
    };
    html(status, &nonce, &page)
}

/// What a scope is for. The form offers only scopes that open something in this version.
fn label(scope: KeyScope) -> Option<&'static str> {
    match scope {
        KeyScope::Read => Some("the catalog, and which tools a request would get"),
        KeyScope::Curate => Some("its own conversations"),
        KeyScope::Call => Some("any tool that its owner may call"),
        KeyScope::Admin => Some("disabling tools for everyone, and people; admins only"),
        KeyScope::Approve | KeyScope::Mcp => None,
    }
}
