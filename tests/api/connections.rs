//! Connections that say nothing do not shut anybody out.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use toolshelf_tests::{Process, ProcessOptions, within};

#[tokio::test]
async fn half_sent_requests_end_and_make_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let options = ProcessOptions { files: Some(200), ..ProcessOptions::default() };
    let process = Process::start(folder.path(), false, options).await;
    // More than there are places, given its limit of open files.
    let mut half_sent = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(process.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127").await.unwrap();
        half_sent.push(stream);
    }
    // One more client waits for its turn: the first ones are ended for taking too long, and then it is answered.
    let answer = within("an answer", process.nobody().get("/healthz").into_future()).await;
    assert_eq!(answer.status(), 200);
    drop(half_sent);
    let ended = process.signal("TERM").await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("Too many open files"), "{}", ended.stderr);
}
