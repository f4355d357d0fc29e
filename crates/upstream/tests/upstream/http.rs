//! Servers over HTTP, written by hand over sockets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolshelf_runtime::{Connection, UpstreamError, UpstreamSpec, Upstreams as _};
use toolshelf_upstream::Timing;

use crate::support::{PATIENCE, Site, names, spec_of, timing, with_call_timeout};

const SECRET: &str = "s3cret";

/// What came in.
#[derive(Clone, Debug)]
struct Request {
    method: String,
    headers: HashMap<String, String>,
    body: Value,
}

impl Request {
    fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What goes out.
enum Reply {
    /// A status, headers and a body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// As above, but the connection is closed before the end.
    Half(String),
    /// Events as they come, until the sender is gone.
    Stream(mpsc::UnboundedReceiver<String>),
    Never,
}

impl Reply {
    fn status(status: u16) -> Self {
        Self::Whole(status, Vec::new(), String::new())
    }

    /// The answer to a request.
    fn json(request: &Request, result: &Value) -> Self {
        let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result}).to_string();
        Self::Whole(200, vec![("content-type", "application/json; charset=utf-8".to_owned())], body)
    }

    /// The same as an event, after another one.
    fn sse(request: &Request, result: &Value) -> Self {
        let news = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result});
        let text = format!(": hello\n\nevent: message\ndata: {news}\n\nid: 7\r\ndata: {body}\r\n\r\n");
        Self::Whole(200, vec![("content-type", "text/event-stream".to_owned())], text)
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Whole(_, headers, _) = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }

    async fn write(self, stream: &mut TcpStream) -> std::io::Result<()> {
        match self {
            Self::Whole(status, headers, body) => {
                let mut text =
                    format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    text.extend([name, ": ", &value, "\r\n"]);
                }
                stream.write_all(format!("{text}\r\n{body}").as_bytes()).await
            }
            Self::Half(kind) => {
                let text =
                    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: 999\r\n\r\n{{\"json");
                stream.write_all(text.as_bytes()).await
            }
            Self::Stream(mut events) => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                stream.write_all(head.as_bytes()).await?;
                while let Some(event) = events.recv().await {
                    stream.write_all(format!("data: {event}\n\n").as_bytes()).await?;
                }
                Ok(())
            }
            Self::Never => {
                // Until the client goes away.
                let mut rest = [0; 1];
                stream.read(&mut rest).await.map(|_| ())
            }
        }
    }
}

type Handler = dyn FnMut(&Request) -> Reply + Send;

/// A server on a port of its own. It ends when this is dropped.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    async fn start(handler: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(handler));
        let noted = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (noted, handler) = (Arc::clone(&noted), Arc::clone(&handler));
                tokio::spawn(async move {
                    let Some(request) = read(&mut stream).await else { return };
                    noted.lock().unwrap().push(request.clone());
                    let reply = (handler.lock().unwrap())(&request);
                    // The client may be gone.
                    let _ = reply.write(&mut stream).await;
                });
            }
        });
        Self { url, seen, task }
    }

    fn seen(&self, method: &str, rpc: &str) -> Vec<Request> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|request| request.method == method && request.rpc() == rpc).cloned().collect()
    }

    /// Waits until such a request has come in.
    async fn sees(&self, method: &str, rpc: &str) -> Request {
        let seen = async {
            loop {
                if let Some(request) = self.seen(method, rpc).pop() {
                    return request;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, seen).await.unwrap()
    }

    fn spec(&self) -> UpstreamSpec {
        spec(&self.url)
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let method = lines.next()?.split(' ').next()?.to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or_default();
    Some(Request { method, headers, body })
}

fn spec(url: &str) -> UpstreamSpec {
    let headers = vec![("Authorization".to_owned(), format!("Bearer {SECRET}"))];
    spec_of("web", Connection::Http { url: url.to_owned(), headers })
}

fn greeting() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "web", "version": "1"}
    })
}

fn tools() -> Value {
    json!({"tools": [{"name": "echo", "zeta": 1, "alpha": 2, "inputSchema": {}}, {"name": 5}, null]})
}

/// A server that does all right, with or without sessions and events.
fn good(request: &Request, reply: fn(&Request, &Value) -> Reply) -> Reply {
    match (request.method.as_str(), request.rpc()) {
        ("POST", "initialize") => reply(request, &greeting()),
        ("POST", "tools/list") => reply(request, &tools()),
        ("POST", "tools/call") => {
            let arguments = request.body["params"]["arguments"].to_string();
            reply(
                request,
                &json!({"content": [{"type": "text", "text": arguments, "odd": 1}], "extra": true}),
            )
        }
        ("POST", rpc) if rpc.starts_with("notifications/") => Reply::status(202),
        ("DELETE", _) => Reply::status(200),
        _ => Reply::status(405),
    }
}

#[tokio::test]
async fn answers_as_json_and_as_events_are_read_word_for_word() {
    for reply in [Reply::json, Reply::sse] {
        let server = Server::start(move |request| good(request, reply).with("mcp-session-id", "abc")).await;
        let mut site = Site::new();
        site.start_spec(server.spec());
        let (info, listed) = site.ready().await;
        assert_eq!((info.name.as_str(), info.protocol.as_str()), ("web", "2025-06-18"));
        assert_eq!(json!({"tools": listed}).to_string(), tools().to_string());
        assert_eq!(site.call("web", "echo").await.unwrap().text, "{}");
        let call = server.sees("POST", "tools/call").await;
        assert_eq!(call.header("authorization"), format!("Bearer {SECRET}"));
        assert_eq!(call.header("mcp-session-id"), "abc");
        assert_eq!(call.header("mcp-protocol-version"), "2025-06-18");
        timeout(PATIENCE, site.upstreams.stop("web")).await.unwrap();
        assert_eq!(server.seen("DELETE", "").len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_connected_says_why_without_secrets() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let answering = |reply: fn(&Request) -> Reply| Server::start(reply);
    let html = |_: &Request| {
        Reply::Whole(200, vec![("content-type", "text/html".to_owned())], "<p>Hello".to_owned())
    };
    let refusal = |_: &Request| {
        let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Not you."}});
        Reply::Whole(400, vec![("content-type", "application/json".to_owned())], body.to_string())
    };
    let large = |_: &Request| {
        let body = " ".repeat(17 * 1024 * 1024);
        Reply::Whole(200, vec![("content-type", "application/json".to_owned())], body)
    };
    let large_event = |_: &Request| {
        let body = format!("data: {}", " ".repeat(17 * 1024 * 1024));
        Reply::Whole(200, vec![("content-type", "text/event-stream".to_owned())], body)
    };
    let late = |request: &Request| match request.rpc() {
        "initialize" => good(request, Reply::json),
        _ => Reply::status(401),
    };
    let servers = [
        (answering(|_| Reply::status(401)).await, "(401). Add a header with a token."),
        (answering(late).await, "(401). Add a header with a token."),
        (answering(|_| Reply::status(403)).await, "(403)"),
        (answering(|_| Reply::status(404)).await, "(404)"),
        (answering(|_| Reply::status(502)).await, "HTTP status 502"),
        (answering(html).await, "text/html"),
        (answering(refusal).await, "It refused the connection: Not you."),
        (answering(large).await, "more than 16 MB"),
        (answering(large_event).await, "more than 16 MB"),
        (answering(|_| Reply::Half("application/json".to_owned())).await, "broke off"),
    ];
    let mut specs: Vec<(UpstreamSpec, &str)> = servers
        .iter()
        .map(|(server, expected)| (spec(&format!("{}?key={SECRET}", server.url)), *expected))
        .collect();
    specs.push((spec(&format!("http://user:{SECRET}@{closed}/{SECRET}")), "could not be reached"));
    specs.push((spec("ftp://example.com"), "must begin with http or https"));
    specs.push((spec(&format!("{SECRET} ?")), "The URL is not valid"));
    for (name, value, expected) in [
        ("Mcp-Session-Id", SECRET, "set by the protocol"),
        ("a b", SECRET, "\"a b\" is not the name of a header"),
        ("X-Key", "s3cret\n", "The value of the header X-Key"),
    ] {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let connection = Connection::Http { url: "http://127.0.0.1:1/".to_owned(), headers };
        specs.push((spec_of("web", connection), expected));
    }
    let site = Site::new();
    for (spec, expected) in specs {
        let reason = site.upstreams.try_connection(spec).await.outcome.unwrap_err();
        assert!(reason.contains(expected), "{expected}: {reason}");
        assert!(!reason.contains(SECRET), "{reason}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(|request| good(request, Reply::json)).await;
    let to = other.url.clone();
    let server = Server::start(move |_| Reply::status(307).with("location", &to)).await;
    let reason = Site::new().upstreams.try_connection(server.spec()).await.outcome.unwrap_err();
    assert!(reason.contains("redirects"), "{reason}");
    assert!(other.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_session_that_expired_is_renewed_and_the_tools_are_asked_for_again() {
    let mut session = 1;
    let server = Server::start(move |request| {
        if request.body["params"]["name"] == "restart" {
            session = 2;
        }
        let current = session.to_string();
        if request.rpc() != "initialize" && request.header("mcp-session-id") != current {
            return Reply::status(404);
        }
        if request.rpc() == "tools/list" && session == 2 {
            return Reply::json(request, &json!({"tools": [{"name": "new"}]}));
        }
        good(request, Reply::json).with("mcp-session-id", &current)
    })
    .await;
    let mut site = Site::new();
    site.start_spec(server.spec());
    assert_eq!(site.ready().await.1.len(), 3);
    // The server forgets the session with this very call, which is made again.
    assert_eq!(site.call("web", "restart").await.unwrap().text, "{}");
    assert_eq!(names(&site.changed().await), ["new"]);
}

#[tokio::test]
async fn a_server_that_goes_away_is_down_and_comes_back() {
    let server = Server::start(|request| good(request, Reply::json)).await;
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let mut site = Site::new();
    site.start_spec(server.spec());
    site.ready().await;
    drop(server);
    let error = loop {
        // The listener is closed by a task.
        match site.call("web", "echo").await {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, UpstreamError::Failed(_)), "{error:?}");
    let (reason, _) = site.down().await;
    assert!(reason.contains("could not be reached"), "{reason}");
    let listener = TcpListener::bind(&address).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(request) = read(&mut stream).await else { continue };
            let _ = good(&request, Reply::json).write(&mut stream).await;
        }
    });
    loop {
        match site.next_news().await {
            toolshelf_runtime::Report::Ready { .. } => break,
            toolshelf_runtime::Report::Down { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(site.call("web", "echo").await.unwrap().text, "{}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_fails_the_call_and_no_other() {
    let server = Server::start(|request| match request.body["params"]["name"].as_str() {
        Some("half-json") => Reply::Half("application/json".to_owned()),
        Some("half-event") => Reply::Half("text/event-stream".to_owned()),
        Some("no-event") => Reply::Whole(
            200,
            vec![("content-type", "text/event-stream".to_owned())],
            ": nothing\n\n".to_owned(),
        ),
        Some("status") => Reply::status(500),
        Some("text") => {
            Reply::Whole(200, vec![("content-type", "application/json".to_owned())], "{".to_owned())
        }
        _ => good(request, Reply::sse),
    })
    .await;
    let mut site = Site::new();
    site.start_spec(server.spec());
    site.ready().await;
    for (tool, expected) in [
        ("half-json", "broke off"),
        ("half-event", "ended while the call ran"),
        ("no-event", "ended while the call ran"),
        ("status", "HTTP status 500"),
        ("text", "no message of the protocol"),
    ] {
        let error = site.call("web", tool).await.unwrap_err();
        assert!(
            matches!(&error, UpstreamError::Failed(reason) if reason.contains(expected)),
            "{tool}: {error:?}"
        );
    }
    assert_eq!(site.call("web", "echo").await.unwrap().text, "{}");
    assert!(site.is_quiet());
}

#[tokio::test]
async fn changes_come_over_the_stream_of_the_session() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut receiver = Some(receiver);
    let server = Server::start(move |request| match request.method.as_str() {
        "GET" => receiver.take().map_or(Reply::Never, Reply::Stream),
        _ => good(request, Reply::json).with("mcp-session-id", "abc"),
    })
    .await;
    let mut site = Site::new();
    site.start_spec(server.spec());
    site.ready().await;
    server.sees("GET", "").await;
    sender.send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}).to_string()).unwrap();
    assert_eq!(site.changed().await.len(), 3);
    assert_eq!(server.seen("POST", "tools/list").len(), 2);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled() {
    let limit = Duration::from_millis(300);
    let server = Server::start(|request| match request.rpc() {
        "tools/call" => Reply::Never,
        _ => good(request, Reply::json),
    })
    .await;
    let mut site = Site::new();
    site.start_spec(with_call_timeout(server.spec(), limit));
    site.ready().await;
    let call = site.upstreams.call("web", 1, "echo", Map::new());
    assert_eq!(timeout(PATIENCE, call).await.unwrap(), Err(UpstreamError::TimedOut(limit)));
    let cancelled = server.sees("POST", "notifications/cancelled").await;
    assert_eq!(cancelled.body["params"]["requestId"], server.sees("POST", "tools/call").await.body["id"]);
}

#[tokio::test]
async fn a_token_that_is_refused_later_takes_the_server_down() {
    let server = Server::start(|request| match request.rpc() {
        "tools/call" => Reply::status(401),
        _ => good(request, Reply::json),
    })
    .await;
    let mut site = Site::new();
    site.start_spec(server.spec());
    site.ready().await;
    let expected = "It asks for authorization (401). Add a header with a token.";
    let error = site.call("web", "echo").await.unwrap_err();
    assert!(matches!(error, UpstreamError::Failed(_)), "{error:?}");
    assert_eq!(site.down().await.0, expected);
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_connected_and_stops_at_once() {
    let server = Server::start(|_| Reply::Never).await;
    let site = Site::with(Timing { connect: Duration::from_millis(300), ..timing() });
    let reason = site.upstreams.try_connection(server.spec()).await.outcome.unwrap_err();
    assert_eq!(reason, "It did not answer `initialize` within 0.3 seconds of the start.");
    let mut site = Site::new();
    site.start_spec(server.spec());
    site.next().await;
    timeout(PATIENCE / 2, site.upstreams.stop("web")).await.unwrap();
    assert!(site.is_quiet());
}
