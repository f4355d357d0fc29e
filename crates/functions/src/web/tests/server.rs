//! A small HTTP server on the loopback interface that answers whatever a test wants, right or wrong.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a server does after the bytes of its answer.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Then {
    Close,
    /// Sends nothing more and does not close.
    Stall,
    /// Sends the same bytes for ever.
    Repeat(&'static [u8]),
}

/// A server that answers every request by its path.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start(answer: impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                tokio::spawn(async move {
                    let _ = serve(stream, &*answer).await;
                });
            }
        });
        Self { address, requests }
    }

    /// A server of one answer.
    pub(super) async fn of(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_| (answer.clone(), Then::Close)).await
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many connections were made.
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, answer: &(dyn Fn(&str) -> (Vec<u8>, Then) + Sync)) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let (bytes, then) = answer(request.split(' ').nth(1).unwrap_or_default());
    stream.write_all(&bytes).await?;
    match then {
        Then::Close => stream.shutdown().await,
        Then::Stall => std::future::pending().await,
        Then::Repeat(bytes) => loop {
            stream.write_all(bytes).await?;
        },
    }
}

/// An answer with this content type.
pub(super) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(super) fn redirect(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

/// Compresses a body.
pub(super) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// An answer that says that its body is compressed.
pub(super) fn compressed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
