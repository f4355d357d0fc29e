//! Pages that work before or without the browser app: set-up, sign-in, people, keys, errors; and the app's shell.

mod context;
mod door;
mod keys;
mod people;
mod shell;

use axum::Router;
use axum::routing::{get, post};

use crate::state::AppState;

pub(crate) use context::{ErrorPage, FormProblem, PageContext, day, html};

/// The routes of all pages.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(shell::front_door))
        .route("/setup", get(door::show_setup).post(door::submit_setup))
        .route("/login", get(door::show_login).post(door::submit_login))
        .route("/logout", post(door::submit_logout))
        .route("/functions", get(shell::app))
        .route("/functions/{*rest}", get(shell::app))
        .route("/chat", get(shell::app))
        .route("/chat/{*rest}", get(shell::app))
        .route("/upstreams", get(shell::app))
        .route("/upstreams/{*rest}", get(shell::app))
        .route("/explain", get(shell::app))
        .route("/explain/{*rest}", get(shell::app))
        .route("/people", get(people::show).post(people::add))
        .route("/people/{id}", post(people::change))
        .route("/keys", get(keys::show).post(keys::make))
        .route("/keys/{id}/revoke", post(keys::revoke))
}
