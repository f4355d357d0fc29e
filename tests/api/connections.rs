//! Connections that say nothing shut nobody out, and the addresses under which the server is reached.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use toolshelf_runtime::Environment;
use toolshelf_server::Config;
use toolshelf_tests::{Client, Process, ProcessOptions, within};

/// Connects several times and sends half a head each time.
async fn half_send(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut connections = Vec::new();
    for _ in 0..count {
        let mut stream =
            within("a connection", TcpStream::connect(address)).await.expect("the server accepts");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127").await.expect("the server reads");
        connections.push(stream);
    }
    connections
}

#[tokio::test]
async fn half_sent_requests_make_room_for_others() {
    let folder = Process::folder();
    let options = ProcessOptions { files: Some(256), ..ProcessOptions::default() };
    let process = Process::start(folder.path(), false, options).await;
    // More than there may be files. Connecting counts too: without a place, it would wait for one.
    let began = Instant::now();
    let half_sent = half_send(process.address, 300).await;
    process.nobody().get("/readyz").await.expect(200);
    // Sooner than the first of them end for taking too long.
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    let ended = process.signal("TERM").await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("cannot be accepted"), "{}", ended.stderr);
    drop(half_sent);
}

#[tokio::test]
async fn half_sent_requests_do_not_hold_up_a_stop() {
    let folder = Process::folder();
    let process = Process::start(folder.path(), false, ProcessOptions::default()).await;
    let half_sent = half_send(process.address, 20).await;
    // This one was accepted after the others.
    process.nobody().get("/healthz").await.expect(200);
    let asked = Instant::now();
    let ended = process.signal("TERM").await;
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("still under way"), "{}", ended.stderr);
    drop(half_sent);
}

#[tokio::test]
async fn the_set_up_link_works_when_the_server_listens_on_all_addresses() {
    let folder = Process::folder();
    let config = Config::new("0.0.0.0:0".parse().unwrap(), folder.path().to_owned());
    let server = toolshelf_server::start(config, Environment::system()).await.unwrap();
    let link: url::Url = server.setup_link().unwrap().parse().unwrap();
    let stopping = server.stopping();
    let running = tokio::spawn(server.run());
    let address = link.socket_addrs(|| None).unwrap()[0];
    let path = format!("{}?{}", link.path(), link.query().unwrap());
    let host = format!("{}:{}", link.host().unwrap(), link.port().unwrap());
    Client::new(address).page(&path).header("host", &host).await.expect(200);
    stopping.cancel();
    within("the server's end", running).await.unwrap().unwrap();
}
