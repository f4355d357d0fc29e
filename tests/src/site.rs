//! A small web site on loopback, for tools that fetch pages.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

/// A web site that answers each path with the same bytes every time, and counts who connects.
#[derive(Debug)]
pub struct Site {
    /// Where it listens.
    pub address: SocketAddr,
    visits: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Site {
    /// A site with these paths. A value that begins with `http` is a redirect to there; any other is a plain text.
    pub async fn start(pages: &[(&str, &str)]) -> Self {
        let pages: HashMap<String, String> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), response(page))).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let visits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&visits);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut stream = BufReader::new(stream);
                let mut first = String::new();
                let mut line = String::new();
                while stream.read_line(&mut line).await.is_ok_and(|read| read > 2) {
                    if first.is_empty() {
                        first.clone_from(&line);
                    }
                    line.clear();
                }
                let path = first.split(' ').nth(1).unwrap_or_default();
                let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let answer = pages.get(path).map_or(missing, String::as_str);
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { address, visits, serving }
    }

    /// How often somebody connected.
    pub fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn response(page: &str) -> String {
    if page.starts_with("http") {
        return format!(
            "HTTP/1.1 302 Found\r\nlocation: {page}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
    }
    let length = page.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
    )
}
