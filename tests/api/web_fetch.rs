//! Fetching pages from addresses that are not public.

use serde_json::{Value, json};
use toolshelf_tests::{AppOptions, Site, TestApp};

fn assert_refused(result: &Value, what: &str) {
    assert_eq!(
        (&result["is_error"], &result["code"]),
        (&json!(true), &json!("execution_failed")),
        "{what}: {result}"
    );
    assert!(
        result["text"].as_str().expect("a text").contains("not on the public internet"),
        "{what}: {result}"
    );
}

#[tokio::test]
async fn loopback_is_not_fetched_by_name_or_literal() {
    let (_app, admin) = TestApp::with_admin().await;
    let site = Site::start(&[("/", "the secret page")]).await;
    let port = site.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "LocalHost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.9.9.9",
        "0.0.0.0",
        "0",
    ] {
        let url = format!("http://{host}:{port}/");
        let result = admin.call("web_fetch", json!({"url": url})).await.expect(200).json();
        assert_refused(&result, host);
    }
    assert_eq!(site.visits(), 0);
    for url in ["file:///etc/passwd", "ftp://127.0.0.1/", "http://user:password@127.0.0.1/", "nonsense"] {
        let result = admin.call("web_fetch", json!({"url": url})).await.expect(200).json();
        assert_eq!(result["is_error"], true, "{url}: {result}");
    }
}

#[tokio::test]
async fn an_allowed_host_is_fetched_and_leads_nowhere_else() {
    let secret = Site::start(&[("/", "the secret page")]).await;
    let port = secret.address.port();
    let site = Site::start(&[
        ("/page", "the public page"),
        ("/literal", &format!("http://127.0.0.1:{port}/")),
        ("/name", &format!("http://localhost:{port}/")),
        ("/v6", &format!("http://[::1]:{port}/")),
    ])
    .await;
    let options = AppOptions { web_allowed_hosts: vec![site.address.to_string()], ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    let admin = app.set_up().await;
    let fetch = async |path: &str| {
        let url = format!("http://{}{path}", site.address);
        admin.call("web_fetch", json!({"url": url})).await.expect(200).json()
    };
    let page = fetch("/page").await;
    assert_eq!(page["is_error"], false, "{page}");
    assert!(page["text"].as_str().unwrap().contains("the public page"), "{page}");
    for path in ["/literal", "/name", "/v6"] {
        assert_refused(&fetch(path).await, path);
    }
    assert_eq!((site.visits(), secret.visits()), (4, 0));
}
