//! Accepts connections and serves them, within bounds: how many there are, and how long they may say nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// How long a client may take for the head of a request. It counts for the first one and for the next ones on a
/// connection that is kept, so nobody holds a connection by saying nothing.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// How long requests may take to finish when the server stops.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when no connection can be accepted, as when files have run out.
const AFTER_ERROR: Duration = Duration::from_millis(200);
/// Files that are kept for everything but connections: the database, workspaces, upstream calls.
const RESERVED_FILES: usize = 128;
const MAX_CONNECTIONS: usize = 4_096;

/// Serves connections until it is told to stop; then lets requests in flight finish for a while.
pub(crate) async fn serve(listener: TcpListener, app: Router, stopping: CancellationToken) {
    let places = Arc::new(Semaphore::new(connections(open_files_limit())));
    let graceful = GracefulShutdown::new();
    let abandon = CancellationToken::new();
    loop {
        // A place first: while there is none, new connections wait in the listener's queue.
        let place = tokio::select! {
            () = stopping.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::select! {
                    () = stopping.cancelled() => break,
                    () = tokio::time::sleep(AFTER_ERROR) => continue,
                }
            }
        };
        let connection = graceful.watch(connection(stream, peer, app.clone()));
        let abandon = abandon.clone();
        tokio::spawn(async move {
            let _place = place;
            tokio::select! {
                // A connection that ends in an error has a client that broke it off, which is its business.
                _ = connection => {}
                () = abandon.cancelled() => {}
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still under way when the server stopped");
    }
    abandon.cancel();
}

/// One connection, on which a router answers.
fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
) -> http1::Connection<
    TokioIo<TcpStream>,
    impl hyper::service::HttpService<Incoming, ResBody = Body, Error = std::convert::Infallible, Future: Send>,
> {
    // Answers are small and whole, so waiting to fill a packet only delays them. A client that is gone is noticed later.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        app.clone().oneshot(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), service)
}

/// How many connections fit beside everything else, given the limit of open files.
fn connections(files: Option<usize>) -> usize {
    files.map_or(512, |files| files.saturating_sub(RESERVED_FILES)).clamp(16, MAX_CONNECTIONS)
}

/// The soft limit of open files of this process.
fn open_files_limit() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::connections;

    #[test]
    fn connections_leave_files_for_the_rest() {
        for (files, places) in
            [(None, 512), (Some(0), 16), (Some(256), 128), (Some(1_024), 896), (Some(1 << 20), 4_096)]
        {
            assert_eq!(connections(files), places, "{files:?}");
        }
    }
}
