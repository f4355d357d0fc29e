//! Who may use which route: every route, walked with every role and every scope.

use std::collections::BTreeSet;

use serde_json::json;
use toolshelf_server::ROUTES;
use toolshelf_tests::{Ask, Client, TestApp};

/// Who may use a route, as `design/api.md` says under "Who may do what".
#[derive(Clone, Copy, Debug, PartialEq)]
enum May {
    /// Health, set-up, login, and what tells nothing.
    Anyone,
    /// Who am I: everyone who is known.
    Known,
    /// Users, and keys with this scope.
    Scope(&'static str),
    /// Admins, and admins' keys with scope `admin`.
    Admins,
    /// Users in a browser; a key never signs out and never makes keys.
    Browsers,
    /// Admins in a browser.
    AdminBrowsers,
    /// Users manage their own keys in a browser, and admins all; so an admin's key with scope `admin` may too.
    BrowsersOrAdminKeys,
}

const TABLE: &[(&str, &str, May)] = &[
    ("GET", "/healthz", May::Anyone),
    ("GET", "/readyz", May::Anyone),
    ("GET", "/assets/{*path}", May::Anyone),
    ("GET", "/api/v1/openapi.json", May::Anyone),
    ("POST", "/api/v1/setup", May::Anyone),
    ("POST", "/api/v1/login", May::Anyone),
    ("POST", "/api/v1/logout", May::Browsers),
    ("GET", "/api/v1/me", May::Known),
    ("GET", "/api/v1/users", May::Admins),
    ("POST", "/api/v1/users", May::Admins),
    ("GET", "/api/v1/users/{id}", May::Admins),
    ("PATCH", "/api/v1/users/{id}", May::Admins),
    ("GET", "/api/v1/api-keys", May::BrowsersOrAdminKeys),
    ("POST", "/api/v1/api-keys", May::Browsers),
    ("DELETE", "/api/v1/api-keys/{id}", May::BrowsersOrAdminKeys),
    ("GET", "/api/v1/tools", May::Scope("read")),
    ("GET", "/api/v1/tools/{name}", May::Scope("read")),
    ("PUT", "/api/v1/tools/{name}/disabled", May::Admins),
    ("DELETE", "/api/v1/tools/{name}/disabled", May::Admins),
    ("POST", "/api/v1/tools/{name}/call", May::Scope("call")),
    ("POST", "/api/v1/resolve", May::Scope("read")),
    ("GET", "/api/v1/profiles", May::Scope("read")),
    ("POST", "/api/v1/profiles", May::Scope("curate")),
    ("GET", "/api/v1/profiles/{name}", May::Scope("read")),
    ("PATCH", "/api/v1/profiles/{name}", May::Scope("curate")),
    ("DELETE", "/api/v1/profiles/{name}", May::Scope("curate")),
    ("POST", "/api/v1/profiles/{name}/tools", May::Scope("curate")),
    ("POST", "/api/v1/profiles/{name}/clone", May::Scope("curate")),
    ("GET", "/api/v1/profiles/{name}/history", May::Scope("read")),
    ("POST", "/api/v1/profiles/{name}/restore", May::Scope("curate")),
    ("GET", "/api/v1/toolsets", May::Scope("read")),
    ("GET", "/api/v1/functions-meta", May::Scope("read")),
    ("PUT", "/api/v1/functions-meta", May::Admins),
    ("GET", "/api/v1/active-profile", May::Scope("read")),
    ("PUT", "/api/v1/active-profile", May::Admins),
    ("GET", "/api/v1/start-profile", May::Scope("read")),
    ("PUT", "/api/v1/start-profile", May::Scope("curate")),
    ("GET", "/api/v1/conversations", May::Scope("read")),
    ("POST", "/api/v1/conversations", May::Scope("curate")),
    ("GET", "/api/v1/conversations/{id}", May::Scope("read")),
    ("PATCH", "/api/v1/conversations/{id}", May::Scope("curate")),
    ("DELETE", "/api/v1/conversations/{id}", May::Scope("curate")),
    ("POST", "/api/v1/conversations/{id}/turns", May::Scope("curate")),
    ("GET", "/api/v1/conversations/{id}/messages", May::Scope("read")),
    ("GET", "/api/v1/runs/{id}", May::Scope("read")),
    ("GET", "/api/v1/runs/{id}/events", May::Scope("read")),
    ("POST", "/api/v1/runs/{id}/cancel", May::Scope("curate")),
    ("GET", "/api/v1/models", May::Scope("read")),
    ("GET", "/api/v1/events", May::Scope("read")),
    ("GET", "/api/v1/audit", May::Admins),
    ("POST", "/api/v1/me/confirm", May::Browsers),
    ("POST", "/api/v1/tools/search", May::Scope("read")),
    ("GET", "/api/v1/mcp-servers", May::Scope("read")),
    ("POST", "/api/v1/mcp-servers", May::Admins),
    ("POST", "/api/v1/mcp-servers/test", May::Admins),
    ("POST", "/api/v1/mcp-servers/import", May::Admins),
    ("GET", "/api/v1/mcp-servers/{name}", May::Scope("read")),
    ("PATCH", "/api/v1/mcp-servers/{name}", May::Admins),
    ("DELETE", "/api/v1/mcp-servers/{name}", May::Admins),
    ("POST", "/api/v1/mcp-servers/{name}/refresh", May::Admins),
    ("GET", "/api/v1/mcp-servers/{name}/changes", May::Admins),
    ("POST", "/api/v1/mcp-servers/{name}/changes", May::Admins),
    ("POST", "/api/v1/mcp-servers/{name}/changes/{tool}", May::Admins),
    ("GET", "/", May::Anyone),
    ("GET", "/setup", May::Anyone),
    ("POST", "/setup", May::Anyone),
    ("GET", "/login", May::Anyone),
    ("POST", "/login", May::Anyone),
    ("POST", "/logout", May::Browsers),
    ("GET", "/functions", May::Browsers),
    ("GET", "/functions/{*rest}", May::Browsers),
    ("GET", "/chat", May::Browsers),
    ("GET", "/chat/{*rest}", May::Browsers),
    ("GET", "/upstreams", May::Browsers),
    ("GET", "/upstreams/{*rest}", May::Browsers),
    ("GET", "/explain", May::Browsers),
    ("GET", "/explain/{*rest}", May::Browsers),
    ("GET", "/people", May::AdminBrowsers),
    ("POST", "/people", May::AdminBrowsers),
    ("POST", "/people/{id}", May::AdminBrowsers),
    ("GET", "/keys", May::Browsers),
    ("POST", "/keys", May::Browsers),
    ("POST", "/keys/{id}/revoke", May::Browsers),
];

#[derive(Clone, Copy, Debug)]
enum Who {
    Nobody,
    Browser { admin: bool },
    Key { admin: bool, scope: &'static str },
}

/// The codes of which one must be in the answer; none when access is given.
fn expected(may: May, who: Who) -> &'static [&'static str] {
    let unless = |has: bool, codes| if has { &[][..] } else { codes };
    match (may, who) {
        (May::Anyone, _) => &[],
        (_, Who::Nobody) => &["unauthenticated"],
        (May::Admins | May::AdminBrowsers, Who::Browser { admin }) => unless(admin, &["admins_only"]),
        (May::Known, _) | (_, Who::Browser { .. }) => &[],
        (May::Browsers | May::AdminBrowsers, Who::Key { .. }) => &["session_only"],
        (May::Scope(wanted), Who::Key { scope, .. }) => unless(scope == wanted, &["missing_scope"]),
        (May::Admins | May::BrowsersOrAdminKeys, Who::Key { admin: true, scope }) => {
            unless(scope == "admin", &["missing_scope"])
        }
        (May::Admins | May::BrowsersOrAdminKeys, Who::Key { admin: false, scope: "admin" }) => {
            &["admins_only"]
        }
        (May::Admins | May::BrowsersOrAdminKeys, Who::Key { .. }) => &["admins_only", "missing_scope"],
    }
}

const REFUSALS: [&str; 6] =
    ["unauthenticated", "admins_only", "missing_scope", "session_only", "wrong_csrf_token", "cross_site"];

/// A request to the route that changes nothing, whoever sends it.
fn ask(client: &Client, method: &str, path: &str, csrf: &str) -> Ask {
    let place = path
        .replace("{*path}", "css/app.css")
        .replace("{*rest}", "grep")
        .replace("{id}", "01900000-0000-7000-8000-000000000000")
        .replace("{name}", "no_such_tool_anywhere");
    let is_form = method == "POST" && !path.starts_with("/api/");
    if is_form {
        return client.form(&place, &[("csrf_token", csrf)]).without("accept").without("x-csrf-token");
    }
    if method == "GET" {
        return client.get(&place);
    }
    client.ask(method, &place).json(&json!({"no_such_field": 1}))
}

#[tokio::test]
async fn every_route_with_every_role_and_scope() {
    let (app, admin) = TestApp::with_admin().await;
    let user = app.user(&admin, "bob", "user").await;
    let later_user = app.user(&admin, "eve", "admin").await;
    let scopes = ["read", "curate", "call", "approve", "mcp", "admin"];
    let mut everyone: Vec<(Who, Client, String)> = vec![
        (Who::Nobody, app.nobody(), String::new()),
        (Who::Browser { admin: false }, (*user).clone(), user.csrf.clone()),
        (Who::Browser { admin: true }, (*admin).clone(), admin.csrf.clone()),
    ];
    for scope in scopes {
        everyone.push((Who::Key { admin: true, scope }, (*admin.key(&[scope]).await).clone(), String::new()));
        // A user cannot make a key with scope admin, and an admin who has one can become a user.
        everyone.push((
            Who::Key { admin: false, scope },
            (*later_user.key(&[scope]).await).clone(),
            String::new(),
        ));
    }
    admin.patch(&format!("/api/v1/users/{}", later_user.id), json!({"role": "user"})).await.expect(200);

    let mut wrong = Vec::new();
    for (method, path, may) in TABLE {
        for (who, client, csrf) in &everyone {
            let expected = expected(*may, *who);
            // Signing out for real would end the session that the next row needs.
            let (client, csrf) = match (who, path.ends_with("/logout")) {
                (Who::Browser { admin }, true) => {
                    let name = if *admin { "ada" } else { "bob" };
                    let session = app.log_in(name, toolshelf_tests::PASSWORD).await;
                    (&(*session).clone(), &session.csrf.clone())
                }
                _ => (client, csrf),
            };
            let answer = ask(client, method, path, csrf).await;
            let code = if answer.header("content-type") == "application/problem+json" {
                answer.json()["code"].as_str().unwrap_or_default().to_owned()
            } else if answer.header("location").starts_with("/login?next=") {
                "unauthenticated".to_owned()
            } else {
                String::new()
            };
            let fits = if expected.is_empty() {
                !REFUSALS.contains(&code.as_str())
                    && !matches!(code.as_str(), "not_found" | "method_not_allowed" | "internal")
            } else {
                expected.contains(&code.as_str())
            };
            if !fits {
                wrong.push(format!(
                    "{method} {path} as {who:?}: expected {expected:?}, was {} {code}",
                    answer.status()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_names_every_route_once() {
    let ours: BTreeSet<(&str, &str)> = TABLE.iter().map(|(method, path, _)| (*method, *path)).collect();
    let theirs: BTreeSet<(&str, &str)> = ROUTES.iter().map(|route| (route.method, route.path)).collect();
    assert_eq!(ours, theirs);
    assert_eq!((ours.len(), theirs.len()), (TABLE.len(), ROUTES.len()));
}
