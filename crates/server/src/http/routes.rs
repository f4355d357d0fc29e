//! Who may use which route, as data.
//!
//! The guard looks a request up here before any handler runs; a route that is not in the table is closed to
//! everyone. A test compares the table with the routes that exist, and another walks each route with each role and
//! scope.

use toolshelf_api::KeyScope::{Call, Curate, Read};
use toolshelf_service::Access;

/// One method of one path.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The HTTP method.
    pub method: &'static str,
    /// The path as the router knows it.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// Whether a write to it carries its CSRF token in a form field, which the handler checks, because a page that
    /// works without script cannot send a header.
    pub form: bool,
}

const fn route(method: &'static str, path: &'static str, access: Access) -> Route {
    Route { method, path, access, form: false }
}

const fn form(path: &'static str, access: Access) -> Route {
    Route { method: "POST", path, access, form: true }
}

/// Every route.
pub const ROUTES: &[Route] = &[
    route("GET", "/healthz", Access::Public),
    route("GET", "/readyz", Access::Public),
    route("GET", "/assets/{*path}", Access::Public),
    route("GET", "/api/v1/openapi.json", Access::Public),
    route("POST", "/api/v1/setup", Access::Public),
    route("POST", "/api/v1/login", Access::Public),
    route("POST", "/api/v1/logout", Access::Session),
    route("GET", "/api/v1/me", Access::SignedIn),
    route("GET", "/api/v1/users", Access::Admin),
    route("POST", "/api/v1/users", Access::Admin),
    route("GET", "/api/v1/users/{id}", Access::Admin),
    route("PATCH", "/api/v1/users/{id}", Access::Admin),
    route("GET", "/api/v1/api-keys", Access::SessionOrAdminKey),
    route("POST", "/api/v1/api-keys", Access::Session),
    route("DELETE", "/api/v1/api-keys/{id}", Access::SessionOrAdminKey),
    route("GET", "/api/v1/tools", Access::Scope(Read)),
    route("GET", "/api/v1/tools/{name}", Access::Scope(Read)),
    route("PUT", "/api/v1/tools/{name}/disabled", Access::Admin),
    route("DELETE", "/api/v1/tools/{name}/disabled", Access::Admin),
    route("POST", "/api/v1/tools/{name}/call", Access::Scope(Call)),
    route("POST", "/api/v1/resolve", Access::Scope(Read)),
    route("GET", "/api/v1/profiles", Access::Scope(Read)),
    route("POST", "/api/v1/profiles", Access::Scope(Curate)),
    route("GET", "/api/v1/profiles/{name}", Access::Scope(Read)),
    route("PATCH", "/api/v1/profiles/{name}", Access::Scope(Curate)),
    route("DELETE", "/api/v1/profiles/{name}", Access::Scope(Curate)),
    route("POST", "/api/v1/profiles/{name}/tools", Access::Scope(Curate)),
    route("POST", "/api/v1/profiles/{name}/clone", Access::Scope(Curate)),
    route("GET", "/api/v1/profiles/{name}/history", Access::Scope(Read)),
    route("POST", "/api/v1/profiles/{name}/restore", Access::Scope(Curate)),
    route("GET", "/api/v1/toolsets", Access::Scope(Read)),
    route("GET", "/api/v1/functions-meta", Access::Scope(Read)),
    route("PUT", "/api/v1/functions-meta", Access::Admin),
    route("GET", "/api/v1/active-profile", Access::Scope(Read)),
    route("PUT", "/api/v1/active-profile", Access::Admin),
    route("GET", "/api/v1/start-profile", Access::Scope(Read)),
    route("PUT", "/api/v1/start-profile", Access::Scope(Curate)),
    route("GET", "/api/v1/conversations", Access::Scope(Read)),
    route("POST", "/api/v1/conversations", Access::Scope(Curate)),
    route("GET", "/api/v1/conversations/{id}", Access::Scope(Read)),
    route("PATCH", "/api/v1/conversations/{id}", Access::Scope(Curate)),
    route("DELETE", "/api/v1/conversations/{id}", Access::Scope(Curate)),
    // A key needs the scope call too, which the turn itself asks for.
    route("POST", "/api/v1/conversations/{id}/turns", Access::Scope(Curate)),
    route("GET", "/api/v1/conversations/{id}/messages", Access::Scope(Read)),
    route("GET", "/api/v1/runs/{id}", Access::Scope(Read)),
    route("GET", "/api/v1/runs/{id}/events", Access::Scope(Read)),
    route("POST", "/api/v1/runs/{id}/cancel", Access::Scope(Curate)),
    route("GET", "/api/v1/models", Access::Scope(Read)),
    route("GET", "/api/v1/events", Access::Scope(Read)),
    route("GET", "/api/v1/audit", Access::Admin),
    route("POST", "/api/v1/me/confirm", Access::Session),
    route("POST", "/api/v1/tools/search", Access::Scope(Read)),
    // What only admins may know of servers is left out for others. Whoever adds or changes what runs on this machine is asked
    // for more than this table says: see `may_run_programs` in the service.
    route("GET", "/api/v1/mcp-servers", Access::Scope(Read)),
    route("POST", "/api/v1/mcp-servers", Access::Admin),
    route("POST", "/api/v1/mcp-servers/test", Access::Admin),
    route("POST", "/api/v1/mcp-servers/import", Access::Admin),
    route("GET", "/api/v1/mcp-servers/{name}", Access::Scope(Read)),
    route("PATCH", "/api/v1/mcp-servers/{name}", Access::Admin),
    route("DELETE", "/api/v1/mcp-servers/{name}", Access::Admin),
    route("POST", "/api/v1/mcp-servers/{name}/refresh", Access::Admin),
    route("GET", "/api/v1/mcp-servers/{name}/changes", Access::Admin),
    route("POST", "/api/v1/mcp-servers/{name}/changes", Access::Admin),
    route("POST", "/api/v1/mcp-servers/{name}/changes/{tool}", Access::Admin),
    route("GET", "/", Access::Public),
    route("GET", "/setup", Access::Public),
    form("/setup", Access::Public),
    route("GET", "/login", Access::Public),
    form("/login", Access::Public),
    form("/logout", Access::Session),
    route("GET", "/functions", Access::Session),
    route("GET", "/functions/{*rest}", Access::Session),
    route("GET", "/chat", Access::Session),
    route("GET", "/chat/{*rest}", Access::Session),
    route("GET", "/upstreams", Access::Session),
    route("GET", "/upstreams/{*rest}", Access::Session),
    route("GET", "/explain", Access::Session),
    route("GET", "/explain/{*rest}", Access::Session),
    route("GET", "/people", Access::AdminSession),
    form("/people", Access::AdminSession),
    form("/people/{id}", Access::AdminSession),
    route("GET", "/keys", Access::Session),
    form("/keys", Access::Session),
    form("/keys/{id}/revoke", Access::Session),
];
