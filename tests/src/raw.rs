//! Bytes over a connection, for what no client would send.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends bytes over a connection of their own and returns all that comes back. The server may answer and close
/// before it has read everything; what it said then still counts.
pub async fn exchange(address: SocketAddr, request: Vec<u8>) -> String {
    let stream = TcpStream::connect(address).await.expect("the server accepts");
    let (mut reader, mut writer) = stream.into_split();
    let writing = tokio::spawn(async move {
        let _ = writer.write_all(&request).await;
        // Returned, so that the connection stays open in this direction.
        writer
    });
    let mut answer = Vec::new();
    crate::within("the answer", async {
        let mut chunk = [0; 4096];
        while let Ok(1..) =
            reader.read(&mut chunk).await.inspect(|read| answer.extend_from_slice(&chunk[..*read]))
        {}
    })
    .await;
    writing.abort();
    String::from_utf8(answer).expect("the answer is text")
}
