//! The HTTP API.
//!
//! Each request passes, in order: request id and log, panic catching, the guard (host, identity, access, origin),
//! and its handler. What a handler may assume stands in [`guard`]; who may use a route stands in [`routes`].

mod account;
mod api_keys;
mod audit;
mod conversations;
mod events;
mod extract;
mod finish;
mod functions_meta;
mod guard;
mod health;
mod mcp_servers;
mod origins;
mod paging;
mod problem;
mod profiles;
mod resolve;
mod routes;
mod runs;
mod starts;
mod tools;
mod users;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

pub(crate) use account::{clear_cookie, session_cookie};
pub(crate) use extract::{Body, ClientAddress, FormBody, IfMatch, Maybe, Params, SignedInUser};
pub(crate) use finish::{Nonce, new_nonce};
pub(crate) use guard::csrf_matches;
pub(crate) use origins::Origins;
pub(crate) use problem::ApiError;
pub use routes::{ROUTES, Route};

#[derive(utoipa::OpenApi)]
#[openapi(info(
    title = "Toolshelf",
    description = "Decides which tools a model may see, and why. Errors are application/problem+json."
))]
struct Document;

/// The API under `/api/v1`, with its `OpenAPI` document.
fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(Document::openapi()).nest(
        "/api/v1",
        OpenApiRouter::new()
            .routes(routes!(account::set_up))
            .routes(routes!(account::log_in))
            .routes(routes!(account::log_out))
            .routes(routes!(account::get_me))
            .routes(routes!(users::list_users, users::create_user))
            .routes(routes!(users::get_user, users::update_user))
            .routes(routes!(api_keys::list_api_keys, api_keys::create_api_key))
            .routes(routes!(api_keys::revoke_api_key))
            .routes(routes!(tools::list_tools))
            .routes(routes!(tools::get_tool))
            .routes(routes!(tools::disable_tool, tools::enable_tool))
            .routes(routes!(tools::call_tool))
            .routes(routes!(resolve::resolve_request))
            .routes(routes!(profiles::list_profiles, profiles::create_profile))
            .routes(routes!(profiles::get_profile, profiles::update_profile, profiles::delete_profile))
            .routes(routes!(profiles::edit_profile_tools))
            .routes(routes!(profiles::clone_profile))
            .routes(routes!(profiles::profile_history))
            .routes(routes!(profiles::restore_profile))
            .routes(routes!(profiles::list_toolsets))
            .routes(routes!(functions_meta::get_functions_meta, functions_meta::put_functions_meta))
            .routes(routes!(starts::get_active_profile, starts::put_active_profile))
            .routes(routes!(starts::get_start_profile, starts::put_start_profile))
            .routes(routes!(conversations::list_conversations, conversations::create_conversation))
            .routes(routes!(
                conversations::get_conversation,
                conversations::update_conversation,
                conversations::delete_conversation
            ))
            .routes(routes!(runs::create_turn))
            .routes(routes!(runs::list_messages))
            .routes(routes!(runs::get_run))
            .routes(routes!(runs::listen_to_run))
            .routes(routes!(runs::cancel_run))
            .routes(routes!(runs::list_models))
            .routes(routes!(events::listen))
            .routes(routes!(audit::list_audit))
            .routes(routes!(account::confirm_password))
            .routes(routes!(tools::search_tools))
            .routes(routes!(mcp_servers::list_mcp_servers, mcp_servers::create_mcp_server))
            .routes(routes!(mcp_servers::try_mcp_server))
            .routes(routes!(mcp_servers::import_mcp_servers))
            .routes(routes!(
                mcp_servers::get_mcp_server,
                mcp_servers::update_mcp_server,
                mcp_servers::delete_mcp_server
            ))
            .routes(routes!(mcp_servers::refresh_mcp_server))
            .routes(routes!(mcp_servers::list_tool_changes, mcp_servers::accept_tool_changes))
            .routes(routes!(mcp_servers::decide_tool_change)),
    )
}

/// The `OpenAPI` document of the API.
pub fn openapi() -> utoipa::openapi::OpenApi {
    api().into_openapi()
}

/// Everything that the server answers.
pub fn router(state: AppState) -> Router {
    let (api, _) = api().split_for_parts();
    let json_only = DefaultPredicate::new().and(finish::is_json);
    Router::new()
        .merge(api)
        .route("/api/v1/openapi.json", get(health::openapi_document))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/assets/{*path}", get(crate::assets::serve))
        .merge(crate::pages::router())
        .fallback(any(health::nothing_here))
        .layer(from_fn_with_state(state.clone(), guard::guard))
        .layer(CompressionLayer::new().compress_when(json_only))
        .layer(from_fn_with_state(state.clone(), finish::finish))
        .layer(from_fn(finish::time_limit))
        .with_state(state)
}
