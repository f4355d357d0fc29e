//! Fetching from real servers on the loopback interface, which the configuration allows and else nobody.

mod server;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use self::server::{Server, Then, compressed, gzip, ok, redirect};
use super::resolver::{Looking, Lookup};
use super::{WebClient, WebConfig};
use crate::testing::Bench;

/// Answers for names as a test wants. A name that it does not know does not exist.
struct Names(Vec<(&'static str, Vec<&'static str>)>);

impl Lookup for Names {
    fn lookup(&self, name: String) -> Looking {
        let found = self.0.iter().find(|(known, _)| *known == name);
        let addresses: Option<Vec<IpAddr>> =
            found.map(|(_, addresses)| addresses.iter().map(|address| address.parse().unwrap()).collect());
        Box::pin(
            async move { addresses.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such name")) },
        )
    }
}

/// Names that no test may leave to the resolver of the machine.
fn names() -> Names {
    Names(vec![
        ("localhost", vec!["127.0.0.1", "::1"]),
        ("inside.test", vec!["10.0.0.1"]),
        ("both.test", vec!["93.184.215.14", "127.0.0.1"]),
        ("six.test", vec!["fd00::1"]),
        ("mapped.test", vec!["::ffff:127.0.0.1"]),
        ("empty.test", vec![]),
        ("wiki.test", vec!["127.0.0.1"]),
    ])
}

fn bench(config: WebConfig) -> Bench {
    Bench::with_web(WebClient::with_lookup(config, Arc::new(names())).unwrap())
}

/// A bench that may fetch from this server and from nowhere else on the machine.
fn allowing(server: &Server) -> Bench {
    bench(WebConfig { allowed_hosts: vec![server.address.to_string()], ..WebConfig::default() })
}

#[tokio::test]
async fn a_page_becomes_text() {
    let html = "<title>The page</title><p>Hello <a href='/next'>there</a></p>";
    let server = Server::of(ok("text/html; charset=utf-8", html)).await;
    let output = allowing(&server).call("web_fetch", json!({"url": server.url("/a?b=c#d")})).await;
    let (address, size) = (server.url("/a?b=c"), html.len());
    let link = server.url("/next");
    assert_eq!(
        output.text,
        format!("The page\n{address} (text/html, {size} bytes)\n\nHello [there]({link})")
    );
    let data = output.data.unwrap();
    assert_eq!(
        (&data["title"], &data["status"], &data["complete"]),
        (&json!("The page"), &json!(200), &json!(true))
    );
}

#[tokio::test]
async fn other_text_and_raw_pages_stay_as_they_are() {
    for (content_type, body) in [
        ("application/json", r#"{"a": "<b>"}"#),
        ("application/problem+json", "{}"),
        ("text/plain", "a\r\n<p>b"),
        ("image/svg+xml", "<svg/>"),
    ] {
        let server = Server::of(ok(content_type, body)).await;
        let output = allowing(&server).call("web_fetch", json!({"url": server.url("/")})).await;
        assert!(output.text.ends_with(&format!("\n\n{body}")), "{}", output.text);
    }
    let server = Server::of(ok("text/html", "<p>x</p>")).await;
    let output = allowing(&server).call("web_fetch", json!({"url": server.url("/"), "raw": true})).await;
    assert!(output.text.ends_with("\n\n<p>x</p>"), "{}", output.text);
    // Without a content type the page itself shows what it is.
    let server = Server::of("HTTP/1.1 200 OK\r\n\r\n<h1>x</h1>").await;
    let output = allowing(&server).call("web_fetch", json!({"url": server.url("/")})).await;
    assert!(output.text.ends_with("\n\n# x"), "{}", output.text);
    let server = Server::of("HTTP/1.1 200 OK\r\n\r\n%PDF-1.7").await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("a PDF document (8 bytes)"), "{error}");
}

#[tokio::test]
async fn other_types_are_refused_with_type_and_size() {
    for content_type in ["image/png", "application/pdf", "application/octet-stream", "audio/mpeg", "nonsense"]
    {
        let server = Server::of(ok(content_type, "x".repeat(2_000))).await;
        let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/file?key=secret")})).await;
        assert!(error.contains(content_type) && error.contains("2.0 KB"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn long_pages_are_cut_and_say_so() {
    let server = Server::of(ok("text/plain", "读".repeat(5_000))).await;
    let bench = allowing(&server);
    let output = bench.call("web_fetch", json!({"url": server.url("/"), "max_chars": 1_000})).await;
    assert_eq!(output.text.matches('读').count(), 1_000);
    assert!(output.text.ends_with("[The first 1,000 of 5,000 characters. A higher max_chars shows more.]"));
    assert_eq!(output.data.unwrap()["complete"], json!(false));
    for max_chars in [0, 99, 100_001] {
        bench.refuse("web_fetch", json!({"url": server.url("/"), "max_chars": max_chars})).await;
    }
}

#[tokio::test]
async fn urls_that_are_none_are_refused() {
    let bench = bench(WebConfig { allow_private: true, ..WebConfig::default() });
    for (url, reason) in [
        ("example.com", "not valid"),
        ("http://", "not valid"),
        ("http://[fe80::1%25eth0]/", "not valid"),
        ("http://a b/", "not valid"),
        ("http://256.1.1.1/", "not valid"),
        ("file:///etc/passwd", "not file"),
        ("ftp://example.com/", "not ftp"),
        ("data:text/plain,x", "not data"),
        ("gopher://127.0.0.1/", "not gopher"),
        ("http://user@example.com/", "user name or password"),
        ("http://:secret@example.com/", "user name or password"),
    ] {
        let error = bench.fail("web_fetch", json!({"url": url})).await;
        assert!(error.contains(reason) && !error.contains("secret"), "{url}: {error}");
    }
    bench.refuse("web_fetch", json!({"url": "x".repeat(4097)})).await;
    bench.refuse("web_fetch", json!({"url": ""})).await;
    bench.refuse("web_fetch", json!({"url": "http://example.com", "method": "POST"})).await;
}

#[tokio::test]
async fn no_spelling_of_a_local_address_is_fetched() {
    let server = Server::of(ok("text/plain", "secret")).await;
    let bench = bench(WebConfig::default());
    let port = server.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "１２７.０.０.１",
        "127。0。0。1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00::1]",
        "10.0.0.1",
        "100.64.0.1",
        "localhost",
        "LOCALHOST",
        "inside.test",
        "both.test",
        "six.test",
        "mapped.test",
    ] {
        let error = bench.fail("web_fetch", json!({"url": format!("http://{host}:{port}/")})).await;
        assert!(error.contains("not on the public internet"), "{host}: {error}");
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn internal_names_and_names_that_do_not_exist_look_the_same() {
    let bench = bench(WebConfig::default());
    let mut sentences = std::collections::BTreeSet::new();
    for name in ["localhost", "inside.test", "both.test", "six.test", "nothing.test", "empty.test"] {
        let error = bench.fail("web_fetch", json!({"url": format!("http://{name}/")})).await;
        assert!(error.starts_with(name), "{error}");
        sentences.insert(error.replace(name, "X"));
        let server = Server::of(redirect(&format!("http://{name}/"))).await;
        let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
        sentences.insert(error.replace(name, "X"));
    }
    let expected = "X is not on the public internet: it does not exist, or its address is private, local or \
                    reserved. An administrator can allow hosts in the configuration.";
    assert_eq!(sentences.into_iter().collect::<Vec<_>>(), [expected]);
    // Of a name that an administrator allowed, the cause may be said.
    let open = self::bench(WebConfig { allow_private: true, ..WebConfig::default() });
    let error = open.fail("web_fetch", json!({"url": "http://nothing.test/"})).await;
    assert!(error.contains("could not be reached: no such name"), "{error}");
}

#[tokio::test]
async fn the_resolver_of_the_machine_is_guarded_too() {
    let server = Server::of(ok("text/plain", "secret")).await;
    let bench = Bench::new();
    let error = bench.fail("web_fetch", json!({"url": format!("http://localhost:{}/", server.port())})).await;
    assert!(error.contains("not on the public internet"), "{error}");
    assert_eq!(server.requests(), 0);
    let allowed = vec![format!("localhost:{}", server.port())];
    let web = WebClient::new(WebConfig { allowed_hosts: allowed, ..WebConfig::default() }).unwrap();
    let url = format!("http://localhost:{}/", server.port());
    assert!(Bench::with_web(web).call("web_fetch", json!({"url": url})).await.text.ends_with("secret"));
}

#[tokio::test]
async fn the_configuration_allows_hosts_by_name_and_port() {
    let server = Server::of(ok("text/plain", "page")).await;
    let (name, other) = (format!("http://wiki.test:{}/", server.port()), server.url("/"));
    let allowed = vec![format!("wiki.test:{}", server.port())];
    let one = bench(WebConfig { allowed_hosts: allowed, ..WebConfig::default() });
    assert!(one.call("web_fetch", json!({"url": name})).await.text.ends_with("page"));
    // The same server under a name that is not allowed.
    one.fail("web_fetch", json!({"url": other})).await;
    let all = bench(WebConfig { allow_private: true, ..WebConfig::default() });
    for url in [name, other] {
        assert!(all.call("web_fetch", json!({"url": url})).await.text.ends_with("page"));
    }
}

#[tokio::test]
async fn each_redirect_is_checked_again() {
    let secret = Server::of(ok("text/plain", "secret")).await;
    let port = secret.port();
    for (location, reason) in [
        (format!("http://127.0.0.1:{port}/"), "not on the public internet"),
        (format!("http://2130706433:{port}/"), "not on the public internet"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "not on the public internet"),
        (format!("//localhost:{port}/"), "not on the public internet"),
        (format!("http://both.test:{port}/"), "not on the public internet"),
        ("file:///etc/passwd".to_owned(), "not file"),
        (format!("http://a:b@127.0.0.1:{port}/"), "user name or password"),
        ("http://[".to_owned(), "not valid"),
    ] {
        let target = redirect(&location);
        let server = Server::of(target).await;
        let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
        assert!(error.contains(reason), "{location}: {error}");
    }
    assert_eq!(secret.requests(), 0);
}

#[tokio::test]
async fn redirects_are_followed_five_times() {
    let server = Server::start(|path| {
        let number: usize = path[1..].parse().unwrap();
        let answer =
            if number == 0 { ok("text/plain", "arrived") } else { redirect(&format!("{}", number - 1)) };
        (answer, Then::Close)
    })
    .await;
    let bench = allowing(&server);
    let output = bench.call("web_fetch", json!({"url": server.url("/5")})).await;
    assert!(output.text.contains("after a redirect") && output.text.ends_with("arrived"), "{}", output.text);
    assert_eq!(output.data.unwrap()["url"], json!(server.url("/0")));
    let error = bench.fail("web_fetch", json!({"url": server.url("/6")})).await;
    assert!(error.contains("more than 5 times"), "{error}");
}

#[tokio::test]
async fn a_slow_server_is_not_waited_for() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nx";
    for sent in [&b""[..], b"HTTP/1.1 200 OK\r\n", head] {
        let server = Server::start(move |_| (sent.to_vec(), Then::Stall)).await;
        let bench = bench(WebConfig {
            allow_private: true,
            timeout: Duration::from_millis(200),
            ..WebConfig::default()
        });
        let error = bench.fail("web_fetch", json!({"url": server.url("/")})).await;
        assert!(error.contains("did not arrive within 0.2 seconds"), "{error}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_refused() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let server = Server::start(move |_| (head.as_bytes().to_vec(), Then::Repeat(&[b'x'; 4096]))).await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("larger than 5.0 MB"), "{error}");
    // A length that is too large is believed at once, and one that is too small is not exceeded.
    let server =
        Server::of("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000001\r\n\r\n").await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("larger than 5.0 MB"), "{error}");
}

#[tokio::test]
async fn a_cut_body_is_an_error() {
    let server =
        Server::of("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nx").await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("did not answer as it should"), "{error}");
}

#[tokio::test]
async fn compressed_pages_are_unpacked_and_limited() {
    let server = Server::of(compressed("gzip", &gzip(b"unpacked"))).await;
    let output = allowing(&server).call("web_fetch", json!({"url": server.url("/")})).await;
    assert!(output.text.ends_with("unpacked"), "{}", output.text);
    let bomb = gzip(&vec![b'x'; 50_000_000]);
    assert!(bomb.len() < 100_000);
    let server = Server::of(compressed("gzip", &bomb)).await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("larger than 5.0 MB"), "{error}");
    let server = Server::of(compressed("gzip", b"no gzip at all")).await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("did not answer as it should"), "{error}");
    let server = Server::of(compressed("x-unknown", b"x")).await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("x-unknown"), "{error}");
}

#[tokio::test]
async fn an_error_page_is_an_error_that_says_what_the_page_says() {
    let body = "<title>x</title><p>No such page.";
    let head = format!(
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let server = Server::of(format!("{head}{body}")).await;
    let error = allowing(&server).fail("web_fetch", json!({"url": server.url("/x")})).await;
    assert!(error.contains("404 Not Found. It said: No such page"), "{error}");
}

#[tokio::test]
async fn a_host_that_does_not_answer_cannot_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let bench = bench(WebConfig { allow_private: true, ..WebConfig::default() });
    for scheme in ["http", "https"] {
        let error = bench.fail("web_fetch", json!({"url": format!("{scheme}://{address}/")})).await;
        assert!(error.contains("127.0.0.1 could not be reached"), "{error}");
    }
    // A server that does not speak TLS, and does not wait for an HTTP request either.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let plain =
        async { listener.accept().await.unwrap().0.write_all(b"220 smtp.test ready\r\n").await.unwrap() };
    let (error, ()) = tokio::join!(bench.fail("web_fetch", json!({"url": url})), plain);
    assert!(error.contains("could not be reached"), "{error}");
    let server = Server::of("nonsense\r\n\r\n").await;
    let error = bench.fail("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("did not answer as it should"), "{error}");
}

#[test]
fn a_client_needs_a_time_limit_and_readable_hosts() {
    assert!(WebClient::new(WebConfig { timeout: Duration::ZERO, ..WebConfig::default() }).is_err());
    assert!(
        WebClient::new(WebConfig { allowed_hosts: vec!["http://x".to_owned()], ..WebConfig::default() })
            .is_err()
    );
}
