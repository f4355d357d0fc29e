use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Limits, connections, serve};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(300);
const GENEROUS: Limits = Limits { connections: 8, head_within: LONG, grace: LONG };

struct Serving {
    address: SocketAddr,
    /// Lets `/slow` answer.
    go: Arc<Notify>,
    stopping: CancellationToken,
    ended: JoinHandle<()>,
}

async fn start(limits: Limits) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (go, arrived) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let app = Router::new()
        .route(
            "/peer",
            get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()),
        )
        .route(
            "/slow",
            get({
                let go = Arc::clone(&go);
                async move || {
                    go.notified().await;
                    "at last"
                }
            }),
        );
    let _ = arrived;
    let stopping = CancellationToken::new();
    let ended = tokio::spawn(serve(listener, app, limits, stopping.clone()));
    Serving { address, go, stopping, ended }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it happens")
}

async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// What comes until the server ends the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is reset has ended too.
    let _ = within(stream.read_to_end(&mut text)).await;
    String::from_utf8(text).unwrap()
}

async fn answer(stream: &mut TcpStream, body: &str) {
    let mut text = String::new();
    while !text.ends_with(body) {
        let mut chunk = [0; 1024];
        let read = within(stream.read(&mut chunk)).await.unwrap();
        assert_ne!(read, 0, "{text:?} was all");
        text.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
    }
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

const HALF: &str = "GET /peer HTTP/1.1\r\nHost: loc";

#[test]
fn connections_leave_files_for_the_rest() {
    for (files, places) in
        [(None, 512), (Some(0), 16), (Some(256), 128), (Some(1_024), 896), (Some(1 << 20), 4_096)]
    {
        assert_eq!(connections(files), places, "{files:?}");
    }
    assert!(super::open_files_limit().is_some());
}

#[tokio::test]
async fn who_says_nothing_is_let_go() {
    let serving = start(Limits { head_within: Duration::from_millis(50), ..GENEROUS }).await;
    for said in ["", HALF] {
        let mut stream = send(serving.address, said).await;
        assert_eq!(rest(&mut stream).await, "", "{said:?}");
    }
    let mut kept = send(serving.address, &get_request("/peer")).await;
    let peer = kept.local_addr().unwrap().to_string();
    let answer = rest(&mut kept).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&peer), "{answer}");
}

#[tokio::test]
async fn a_request_may_take_longer_than_its_head() {
    let serving = start(Limits { head_within: Duration::from_millis(50), ..GENEROUS }).await;
    let mut slow = send(serving.address, &get_request("/slow")).await;
    // By the time this one is let go, the first has been there for longer than a head may take.
    let mut silent = send(serving.address, "").await;
    rest(&mut silent).await;
    serving.go.notify_one();
    answer(&mut slow, "at last").await;
}

#[tokio::test]
async fn who_waits_makes_room_and_who_is_answered_does_not() {
    let serving = start(Limits { connections: 3, ..GENEROUS }).await;
    let mut slow = send(serving.address, &get_request("/slow")).await;
    let mut half = send(serving.address, HALF).await;
    let mut idle = send(serving.address, &get_request("/peer")).await;
    let peer = idle.local_addr().unwrap().to_string();
    answer(&mut idle, &peer).await;
    // The half-sent one has waited for longer than the one that was answered.
    for longest in [&mut half, &mut idle] {
        let mut new = send(serving.address, &get_request("/slow")).await;
        assert_eq!(rest(longest).await, "");
        serving.go.notify_one();
        // Whichever of the slow ones it is for.
        tokio::select! {
            () = answer(&mut slow, "at last") => slow = new,
            () = answer(&mut new, "at last") => {}
        }
    }
}

#[tokio::test]
async fn a_stop_ends_idle_connections_at_once_and_waits_for_requests() {
    let serving = start(GENEROUS).await;
    let mut slow = send(serving.address, &get_request("/slow")).await;
    let mut silent = send(serving.address, "").await;
    let mut half = send(serving.address, HALF).await;
    let mut second_half = send(serving.address, &get_request("/peer")).await;
    let peer = second_half.local_addr().unwrap().to_string();
    answer(&mut second_half, &peer).await;
    second_half.write_all(HALF.as_bytes()).await.unwrap();
    serving.stopping.cancel();
    for stream in [&mut silent, &mut half, &mut second_half] {
        assert_eq!(rest(stream).await, "");
    }
    assert!(!serving.ended.is_finished());
    assert!(TcpStream::connect(serving.address).await.is_err(), "it still accepts");
    serving.go.notify_one();
    let answer = rest(&mut slow).await;
    assert!(answer.contains("connection: close") && answer.ends_with("at last"), "{answer}");
    within(serving.ended).await.unwrap();
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let serving = start(Limits { grace: Duration::from_millis(50), ..GENEROUS }).await;
    let mut slow = send(serving.address, &get_request("/slow")).await;
    let mut other = send(serving.address, &get_request("/peer")).await;
    let peer = other.local_addr().unwrap().to_string();
    answer(&mut other, &peer).await;
    serving.stopping.cancel();
    within(serving.ended).await.unwrap();
    assert_eq!(rest(&mut slow).await, "");
}
