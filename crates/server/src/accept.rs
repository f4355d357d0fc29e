//! Accepts connections and serves them, within bounds: how many there are, and how long they may say nothing.

mod waiting;

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
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use waiting::{Connection, Waiting};

/// How long to wait when no connection can be accepted, as when files have run out.
const AFTER_ERROR: Duration = Duration::from_millis(100);
/// How often the log may say so.
const LOG_ERRORS_EVERY: Duration = Duration::from_secs(1);
/// How long a connection that was told to end may take before another is told to as well.
const ENDS_WITHIN: Duration = Duration::from_millis(50);
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

/// Serves connections until it is told to stop. Then those without a request end at once, and requests in flight may
/// finish for a while.
pub(crate) async fn serve(listener: TcpListener, app: Router, limits: Limits, stopping: CancellationToken) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let waiting = Arc::new(Waiting::default());
    let tasks = TaskTracker::new();
    let abandon = CancellationToken::new();
    let accepting = async {
        let mut logged = None;
        loop {
            let (stream, peer) = accept(&listener, &mut logged).await;
            let place = free_place(&places, &waiting).await;
            let connection = Arc::new(Connection::new(Arc::clone(&waiting), stopping.child_token()));
            let serving = converse(stream, peer, app.clone(), limits.head_within, connection);
            let abandon = abandon.clone();
            tasks.spawn(async move {
                let _place = place;
                tokio::select! {
                    () = serving => {}
                    () = abandon.cancelled() => {}
                }
            });
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

/// A place for one more connection. When there is none, the connections that wait longest for a request end, because
/// whoever has something to ask comes before those who only hold a place.
async fn free_place(places: &Arc<Semaphore>, waiting: &Waiting) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    loop {
        waiting.end_longest();
        // Nothing may have been waiting, or its client does not take the last answer.
        let free = tokio::time::timeout(ENDS_WITHIN, Arc::clone(places).acquire_owned()).await;
        if let Ok(place) = free {
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
    connection: Arc<Connection>,
) {
    // Answers are small and whole, so waiting to fill a packet only delays them. Without it they still arrive.
    let _ = stream.set_nodelay(true);
    let asked = Arc::new(AtomicBool::new(false));
    let service = service_fn({
        let (connection, asked) = (Arc::clone(&connection), Arc::clone(&asked));
        move |request: hyper::Request<Incoming>| {
            asked.store(true, Ordering::Relaxed);
            let answering = connection.answering();
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let answered = app.clone().oneshot(request);
            async move { answered.await.map(|response| response.map(|body| answering.until_sent(body))) }
        }
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
        () = connection.ending().cancelled() => {}
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
mod tests;
