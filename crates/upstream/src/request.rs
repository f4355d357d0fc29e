//! One request and its answer as plain JSON.

use rmcp::RoleClient;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorData, RequestId};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::{Duration, timeout};
use toolshelf_runtime::UpstreamError;

use crate::raw;
use crate::server::Line;
use crate::words::{ENDED, NOT_UNDERSTOOD, error_message, not_sent};

/// How long the news that an answer is not wanted any more may take to be sent.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The connection was over before anything was sent.
    NotSent,
    /// The connection ended in the meantime.
    Ended,
    /// The server answered with an error.
    Refused(ErrorData),
    /// It failed otherwise; a sentence.
    Failed(String),
}

impl RequestError {
    /// As a sentence about a list or the like.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::NotSent | Self::Ended => ENDED.to_owned(),
            Self::Refused(error) => error_message(error),
            Self::Failed(reason) => reason.clone(),
        }
    }

    /// As the answer of a call of `server`.
    pub(crate) fn of_call(self, server: &str) -> UpstreamError {
        match self {
            Self::NotSent => UpstreamError::Down(format!("{server} is not connected. {ENDED}")),
            Self::Ended => UpstreamError::Failed(format!(
                "The connection to {server} ended while the call ran. Whether it did anything is not known."
            )),
            Self::Refused(error) => UpstreamError::Failed(error_message(&error)),
            Self::Failed(reason) => UpstreamError::Failed(reason),
        }
    }
}

/// Asks a server. If the future is dropped, the server is told that nobody waits any more.
pub(crate) async fn request(line: &Line, request: ClientRequest) -> Result<Value, RequestError> {
    let sent = line.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let handle = sent.map_err(|_| RequestError::NotSent)?;
    let mut waiting = Waiting { peer: &line.peer, id: Some(handle.id.clone()) };
    let answer = tokio::select! {
        // An answer that came just before the end is an answer.
        biased;
        answer = handle.await_response() => answer,
        () = line.over.cancelled() => Err(ServiceError::TransportClosed),
    };
    waiting.id = None;
    match answer {
        Ok(result) => raw::result(result).ok_or_else(|| RequestError::Failed(NOT_UNDERSTOOD.to_owned())),
        Err(ServiceError::McpError(error)) => Err(RequestError::Refused(error)),
        Err(ServiceError::TransportSend(error)) => Err(RequestError::Failed(not_sent(&error))),
        Err(_) => Err(RequestError::Ended),
    }
}

/// A request whose answer is waited for.
struct Waiting<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = "Nobody waits for the answer any more.".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            let notification = CancelledNotification::new(params);
            // One that does not read its input is not waited for; the task of the connection sees to it.
            let _ = timeout(CANCEL_TIME, peer.send_notification(notification.into())).await;
        });
    }
}
