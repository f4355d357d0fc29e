//! Accepts connections and serves them, within bounds: how many there are, and how long they may say nothing.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// How long to wait when no connection can be accepted, as when files have run out.
const AFTER_ERROR: Duration = Duration::from_millis(100);
/// How often the log may say so.
const LOG_ERRORS_EVERY: Duration = Duration::from_secs(1);
/// How long a connection that was told to end may take before another is told to as well.
const ENDS_WITHIN: Duration = Duration::from_millis(20);
/// Files that are kept for everything but connections: the database, workspaces, calls to other servers.
const RESERVED_FILES: usize = 128;
const MIN_CONNECTIONS: usize = 16;
const MAX_CONNECTIONS: usize = 4_096;
/// How many connections there may be when the system does not say how many files may be open.
const UNKNOWN_CONNECTIONS: usize = 512;

/// The bounds of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many may be open.
    connections: usize,
    /// How long a client may take for the head of a request. It counts for the first one, and from the end of an answer
    /// for the next one, so nobody holds a connection by saying nothing.
    head_within: Duration,
    /// How long requests may take to finish when the server stops.
    grace: Duration,
}

impl Limits {
    /// The bounds that fit this process.
    pub(crate) fn of_this_process() -> Self {
        Self {
            connections: connections(open_files_limit()),
            head_within: Duration::from_secs(15),
            grace: Duration::from_secs(10),
        }
    }
}

/// A connection that was not told to end.
struct Open {
    ending: CancellationToken,
    task: AbortHandle,
}

/// Serves connections until it is told to stop. Then those without a request end at once, and requests in flight may
/// finish for a while.
pub(crate) async fn serve(listener: TcpListener, app: Router, limits: Limits, stopping: CancellationToken) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let tasks = TaskTracker::new();
    let abandon = CancellationToken::new();
    let accepting = async {
        let mut open = VecDeque::new();
        let mut logged = None;
        loop {
            let (stream, peer) = accept(&listener, &mut logged).await;
            let place = free_place(&places, &mut open).await;
            let (ending, abandon) = (stopping.child_token(), abandon.clone());
            let serving = converse(stream, peer, app.clone(), limits.head_within, ending.clone());
            let task = tasks.spawn(async move {
                let _place = place;
                tokio::select! {
                    () = serving => {}
                    () = abandon.cancelled() => {}
                }
            });
            if open.len() >= 2 * limits.connections {
                open.retain(|open: &Open| !open.task.is_finished());
            }
            open.push_back(Open { ending, task: task.abort_handle() });
        }
    };
    tokio::select! {
        () = stopping.cancelled() => {}
        () = accepting => {}
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(limits.grace, tasks.wait()).await.is_err() {
        tracing::warn!("requests were still under way when the server stopped");
        abandon.cancel();
        tasks.wait().await;
    }
}

/// The next connection. What goes wrong is never the end: files run out and are free again.
async fn accept(listener: &TcpListener, logged: &mut Option<Instant>) -> (TcpStream, SocketAddr) {
    loop {
        let error = match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => error,
        };
        // The client is gone again, which is its business.
        if matches!(
            error.kind(),
            ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
        ) {
            continue;
        }
        if logged.is_none_or(|last| last.elapsed() >= LOG_ERRORS_EVERY) {
            *logged = Some(Instant::now());
            tracing::error!(%error, "connections cannot be accepted");
        }
        tokio::time::sleep(AFTER_ERROR).await;
    }
}

/// A place for one more connection. When there is none, the oldest connections are told to end: at once if they only
/// hold their place, and after their answer if they asked something. So silence shuts nobody out, however many keep it.
async fn free_place(places: &Arc<Semaphore>, open: &mut VecDeque<Open>) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    loop {
        while let Some(oldest) = open.pop_front() {
            if !oldest.task.is_finished() {
                oldest.ending.cancel();
                break;
            }
        }
        if let Ok(place) = tokio::time::timeout(ENDS_WITHIN, Arc::clone(places).acquire_owned()).await {
            // An error would say that the semaphore is closed, which nobody does.
            return place.ok();
        }
    }
}

/// Answers the requests of one connection.
async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    head_within: Duration,
    ending: CancellationToken,
) {
    // Answers are small and whole, so waiting to fill a packet only delays them. Without this they still arrive.
    let _ = stream.set_nodelay(true);
    let asked = AtomicBool::new(false);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        app.clone().oneshot(request)
    });
    let mut serving = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_within)
            .serve_connection(TokioIo::new(stream), service)
    );
    tokio::select! {
        // A request that has arrived is seen before the wish to end.
        biased;
        // An error says that the client broke off or took too long, which is its business.
        _ = serving.as_mut() => return,
        () = ending.cancelled() => {}
    }
    // Hyper ends a connection between requests at once and one with a request after its answer, but would wait for the
    // rest of the first head.
    if asked.load(Ordering::Relaxed) {
        serving.as_mut().graceful_shutdown();
        let _ = serving.await;
    }
}

/// How many connections fit beside everything else, given the limit of open files.
fn connections(files: Option<usize>) -> usize {
    files
        .map_or(UNKNOWN_CONNECTIONS, |files| files.saturating_sub(RESERVED_FILES))
        .clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

/// The soft limit of open files of this process. There is none if it is unlimited or the system does not say.
fn open_files_limit() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
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
    const LONG: Duration = Duration::from_mins(5);
    const GENEROUS: Limits = Limits { connections: 8, head_within: LONG, grace: LONG };
    const HALF: &str = "GET /peer HTTP/1.1\r\nHost: loc";

    struct Serving {
        address: SocketAddr,
        /// Says that `/slow` was asked.
        asked: Arc<Notify>,
        /// Lets `/slow` answer.
        go: Arc<Notify>,
        stopping: CancellationToken,
        ended: JoinHandle<()>,
    }

    async fn start(limits: Limits) -> Serving {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = {
            let (asked, go) = (Arc::clone(&asked), Arc::clone(&go));
            async move || {
                asked.notify_one();
                go.notified().await;
                "at last"
            }
        };
        let peer = async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string();
        let app = Router::new().route("/peer", get(peer)).route("/slow", get(slow));
        let stopping = CancellationToken::new();
        let ended = tokio::spawn(serve(listener, app, limits, stopping.clone()));
        Serving { address, asked, go, stopping, ended }
    }

    impl Serving {
        async fn send(&self, text: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            stream
        }

        /// A connection whose request is under way.
        async fn slow(&self) -> TcpStream {
            let stream = self.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
            within(self.asked.notified()).await;
            stream
        }

        /// A connection that was told its own address.
        async fn answered(&self) -> TcpStream {
            let mut stream = self.send("GET /peer HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
            let peer = stream.local_addr().unwrap().to_string();
            let mut text = String::new();
            while !text.ends_with(&peer) {
                let mut chunk = [0; 1024];
                let read = within(stream.read(&mut chunk)).await.unwrap();
                assert_ne!(read, 0, "{text:?} was all");
                text.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
            }
            stream
        }
    }

    async fn within<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(30), future).await.expect("it happens")
    }

    /// What comes until the server ends the connection.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut text = Vec::new();
        // A connection that is reset has ended too.
        let _ = within(stream.read_to_end(&mut text)).await;
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn connections_leave_files_for_the_rest() {
        for (files, places) in
            [(None, 512), (Some(0), 16), (Some(256), 128), (Some(1_024), 896), (Some(1 << 20), 4_096)]
        {
            assert_eq!(connections(files), places, "{files:?}");
        }
    }

    #[tokio::test]
    async fn who_says_nothing_is_let_go() {
        let serving = start(Limits { head_within: Duration::from_millis(100), ..GENEROUS }).await;
        for said in ["", HALF] {
            assert_eq!(rest(&mut serving.send(said).await).await, "", "{said:?}");
        }
        assert_eq!(rest(&mut serving.answered().await).await, "");
    }

    #[tokio::test]
    async fn an_answer_may_take_longer_than_a_head() {
        let serving = start(Limits { head_within: Duration::from_millis(100), ..GENEROUS }).await;
        let mut slow = serving.slow().await;
        // By the time this one is let go, the first has been there for longer than a head may take.
        assert_eq!(rest(&mut serving.send("").await).await, "");
        serving.go.notify_one();
        assert!(rest(&mut slow).await.ends_with("at last"));
    }

    #[tokio::test]
    async fn who_waits_makes_room_and_who_asked_is_answered() {
        let serving = start(Limits { connections: 2, ..GENEROUS }).await;
        let mut slow = serving.slow().await;
        let mut half = serving.send(HALF).await;
        let mut idle = serving.answered().await;
        assert_eq!(rest(&mut half).await, "");
        let _third = serving.answered().await;
        assert_eq!(rest(&mut idle).await, "");
        serving.go.notify_one();
        let answer = rest(&mut slow).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("at last"), "{answer}");
    }

    #[tokio::test]
    async fn a_stop_ends_what_waits_at_once_and_lets_requests_finish() {
        let serving = start(GENEROUS).await;
        let mut slow = serving.slow().await;
        let mut silent = serving.send("").await;
        let mut half = serving.send(HALF).await;
        let mut second_half = serving.answered().await;
        second_half.write_all(HALF.as_bytes()).await.unwrap();
        serving.stopping.cancel();
        for stream in [&mut silent, &mut half, &mut second_half] {
            assert_eq!(rest(stream).await, "");
        }
        assert!(TcpStream::connect(serving.address).await.is_err(), "it still accepts");
        assert!(!serving.ended.is_finished());
        serving.go.notify_one();
        let answer = rest(&mut slow).await;
        assert!(answer.contains("connection: close") && answer.ends_with("at last"), "{answer}");
        within(serving.ended).await.unwrap();
    }

    #[tokio::test]
    async fn a_stop_does_not_wait_for_ever() {
        let serving = start(Limits { grace: Duration::from_millis(100), ..GENEROUS }).await;
        let mut slow = serving.slow().await;
        serving.stopping.cancel();
        within(serving.ended).await.unwrap();
        assert_eq!(rest(&mut slow).await, "");
    }
}
