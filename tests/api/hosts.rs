//! Host names that are not ours.

use toolshelf_server::ROUTES;
use toolshelf_tests::{AppOptions, TestApp, exchange};

#[tokio::test]
async fn no_route_answers_a_foreign_host() {
    let (app, admin) = TestApp::with_admin().await;
    let key = admin.key(&["read", "admin"]).await;
    for host in
        ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7717", "0.0.0.0", "192.0.2.7:80"]
    {
        for route in ROUTES {
            let path = route.path.replace("{*path}", "app.css").replace("{*rest}", "grep");
            for client in [&app.nobody(), &*admin, &*key] {
                let ask = client.ask(route.method, &path).header("host", host);
                ask.header("origin", &format!("http://{host}")).await.problem(403, "foreign_host");
            }
        }
        for (method, path) in [("GET", "/nothing"), ("HEAD", "/nothing"), ("OPTIONS", "/api/v1/tools")] {
            let answer = app.nobody().ask(method, path).header("host", host).await.expect(403);
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]:7717"] {
        app.nobody().get("/healthz").header("host", host).await.expect(200);
    }
}

#[tokio::test]
async fn a_request_names_one_host() {
    let app = TestApp::start().await;
    for hosts in [
        "",
        "Host: \r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "Host: evil.example\r\nHost: localhost\r\n",
    ] {
        let answer = exchange(
            app.address,
            format!("GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n").into(),
        )
        .await;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "400" | "403"), "{hosts:?}: {answer}");
    }
}

#[tokio::test]
async fn the_public_name_is_ours_with_its_port() {
    let options =
        AppOptions { public_url: Some("http://tools.example:8080".to_owned()), ..AppOptions::default() };
    let app = TestApp::start_with(options).await;
    for (host, status) in [
        ("tools.example:8080", 200),
        ("TOOLS.example:8080", 200),
        ("localhost", 200),
        ("tools.example", 403),
        ("tools.example:80", 403),
        ("a.tools.example:8080", 403),
    ] {
        app.nobody().get("/readyz").header("host", host).await.expect(status);
    }
}
