//! The `OpenAPI` document.

use std::collections::BTreeSet;
use std::path::Path;

use toolshelf_server::{ROUTES, openapi};
use toolshelf_tests::{Process, TestApp};

/// Routes that are no part of the API.
const OTHERS: [(&str, &str); 24] = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/assets/{*path}"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/"),
    ("GET", "/setup"),
    ("POST", "/setup"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/functions"),
    ("GET", "/functions/{*rest}"),
    ("GET", "/chat"),
    ("GET", "/chat/{*rest}"),
    ("GET", "/upstreams"),
    ("GET", "/upstreams/{*rest}"),
    ("GET", "/explain"),
    ("GET", "/explain/{*rest}"),
    ("GET", "/people"),
    ("POST", "/people"),
    ("POST", "/people/{id}"),
    ("GET", "/keys"),
    ("POST", "/keys"),
    ("POST", "/keys/{id}/revoke"),
];

#[test]
fn the_document_is_as_it_was() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let now = openapi().to_pretty_json().unwrap();
    assert!(
        stored.trim_end() == now.trim_end(),
        "docs/openapi.json differs from the API. If the change is meant, run\n\n    \
         cargo run -p toolshelf-server -- openapi > docs/openapi.json\n\nand look at what it changes."
    );
}

#[test]
fn the_document_and_the_pages_are_all_routes() {
    let document = serde_json::to_value(openapi()).unwrap();
    let mut documented: BTreeSet<(String, String)> = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            documented.insert((method.to_uppercase(), path.clone()));
        }
    }
    let others = OTHERS.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned()));
    let all: BTreeSet<(String, String)> = documented.into_iter().chain(others).collect();
    let table: BTreeSet<(String, String)> =
        ROUTES.iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    assert_eq!(all, table);
}

#[test]
fn every_operation_has_a_name_and_says_what_it_answers() {
    let document = serde_json::to_value(openapi()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap_or_default();
            assert!(!name.is_empty() && names.insert(name.to_owned()), "{method} {path}: {name:?}");
            assert!(
                operation["summary"].as_str().is_some_and(|summary| summary.ends_with('.')),
                "{method} {path}"
            );
            assert!(!operation["responses"].as_object().unwrap().is_empty(), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn the_server_and_the_program_give_the_same_document() {
    let app = TestApp::start().await;
    let served = app.nobody().get("/api/v1/openapi.json").await.expect(200).json();
    let printed = Process::run(&["openapi"]).await;
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(printed.stdout.trim_end(), openapi().to_pretty_json().unwrap().trim_end());
    assert_eq!(serde_json::from_str::<serde_json::Value>(&printed.stdout).unwrap(), served);
}
