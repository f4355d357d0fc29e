//! Messages over the standard input and output of a program, one on a line.
//!
//! The transport of `rmcp` for this reads results into its own types (see `raw`), sends messages in no certain order,
//! so that a cancellation may overtake its request, and forgets a line that is too long, so that its caller waits.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fault::Fault;
use crate::log::Log;
use crate::process::Pipes;
use crate::raw::{Results, decode_value};
use crate::words::{MAX_MESSAGE, TOO_LARGE};

/// How many messages may wait for the program to read them: as many calls as may run, as many cancellations, and as
/// many answers to what it asks itself, with room to spare. A program that sends requests and reads no answers would
/// fill the memory.
const MAX_WAITING: usize = 256;

/// How many bytes of a line that is no message are worth showing.
const MAX_SHOWN: usize = 8_000;

/// A line to be written, and who waits for it.
type Outgoing = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// A transport for `rmcp`.
#[derive(Debug)]
pub(crate) struct Stdio {
    stdout: BufReader<ChildStdout>,
    /// The beginning of a line. It is kept here because reading is stopped and begun again at any byte.
    line: Vec<u8>,
    outgoing: Option<mpsc::Sender<Outgoing>>,
    /// Ends the writer, also in the middle of a line that the program does not read.
    writer: Option<DropGuard>,
    initialize: Option<RequestId>,
    fault: Fault,
    log: Arc<Log>,
}

impl Stdio {
    /// `fault` is set when the program breaks the protocol. What it prints beside messages goes to the log.
    pub(crate) fn new(pipes: Pipes, fault: Fault, log: Arc<Log>) -> Self {
        let (outgoing, queue) = mpsc::channel(MAX_WAITING);
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(write(pipes.stdin, queue)));
        Self {
            stdout: BufReader::with_capacity(64 * 1024, pipes.stdout),
            line: Vec::new(),
            outgoing: Some(outgoing),
            writer: Some(stop.drop_guard()),
            initialize: None,
            fault,
            log,
        }
    }

    /// Reads to the end of a line; `None` at the end of the output. It may be dropped at any time.
    async fn read_line(&mut self) -> Option<Vec<u8>> {
        loop {
            let available = self.stdout.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if self.line.len() + part.len() > MAX_MESSAGE {
                self.fault.set(TOO_LARGE);
                return None;
            }
            self.line.extend_from_slice(part);
            let read = part.len() + usize::from(end.is_some());
            self.stdout.consume(read);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    fn read_message(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            // Many a program prints a greeting where only messages should be.
            if !line.trim_ascii().is_empty() {
                self.log.push(&[b"stdout: ", &line[..line.len().min(MAX_SHOWN)]].concat());
            }
            return None;
        };
        let answers_initialize = self.initialize.as_ref().is_some_and(|sent| {
            let id = message.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            id.is_some_and(|id| id.to_string() == sent.to_string())
        });
        let results = if answers_initialize { Results::Initialize } else { Results::Plain };
        decode_value(message, results)
    }
}

/// Writes lines in the order in which they were sent. The input of the program is closed when this ends.
async fn write(mut stdin: ChildStdin, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some((line, done)) = queue.recv().await {
        // Nobody may wait any more.
        let _ = done.send(stdin.write_all(&line).await);
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::InitializeRequest(_))
        {
            self.initialize = Some(request.id.clone());
        }
        let queued = self.queue(&message);
        async move { queued?.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())) }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.read_line().await?;
            if let Some(message) = self.read_message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outgoing = None;
        self.writer = None;
        Ok(())
    }
}

impl Stdio {
    /// Takes a place in the queue at once, so that messages keep their order.
    fn queue(&self, message: &ClientJsonRpcMessage) -> io::Result<oneshot::Receiver<io::Result<()>>> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let (done, written) = oneshot::channel();
        let outgoing = self.outgoing.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        outgoing.try_send((line, done)).map_err(|error| {
            if let mpsc::error::TrySendError::Full(_) = error {
                self.fault.set("It does not read what it is sent.");
            }
            io::Error::from(io::ErrorKind::BrokenPipe)
        })?;
        Ok(written)
    }
}
