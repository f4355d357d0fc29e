//! Messages over streamable HTTP.
//!
//! Sessions, streams and their resumption are `rmcp`'s. What is here is one request and how its answer is read: the
//! client that `rmcp` brings reads results into its own types (see `raw`) and puts addresses into its errors.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, Response, Url};
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio::sync::Notify;

use crate::fault::Fault;
use crate::raw::{Results, decode};
use crate::settings::Timing;
use crate::sse::events;
use crate::words::{MAX_MESSAGE, cut};

const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
/// Headers that the protocol or HTTP itself sets.
const RESERVED: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];
/// As many as there may be calls.
const MAX_POSTS: usize = 64;

/// Why a request failed, without the address, which may hold secrets.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("It could not be reached: {0}.")]
    Unreachable(String),
    #[error("It asks for authorization (401). Add a header with a token.")]
    Unauthorized,
    #[error("It refuses the request (403). The token may lack a permission.")]
    Forbidden,
    #[error("It redirects to another address ({0}), which is not followed. Enter that address.")]
    Redirect(u16),
    #[error("It does not know the address (404). Check the path.")]
    NotFound,
    #[error("It answered with HTTP status {0}.")]
    Status(u16),
    #[error("It answered with the content type {0:?}, which is not of the protocol. Check the address.")]
    ContentType(String),
    #[error("It answered with something that is no message of the protocol.")]
    NoMessage,
    #[error("It sent a message of more than 16 MB.")]
    TooLarge,
    #[error("Its answer broke off: {0}.")]
    BrokeOff(String),
}

/// A client for the transport of `rmcp`.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    pub(crate) client: Client,
    /// Set when requests will not work from now on.
    pub(crate) fault: Fault,
    /// Told when the server began anew, so that its tools may be other ones.
    pub(crate) changed: Arc<Notify>,
}

/// Checks an address and headers. The error is a sentence for admins.
pub(crate) fn configure(
    url: &str,
    headers: &[(String, String)],
    timing: Timing,
) -> Result<StreamableHttpClientTransportConfig, String> {
    let parsed = Url::parse(url.trim()).map_err(|error| format!("The URL is not valid: {error}."))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(format!("The URL must begin with http or https, not {}.", parsed.scheme()));
    }
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let shown = cut(name, 100);
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{shown:?} is not the name of a header."))?;
        if RESERVED.contains(&header.as_str()) {
            return Err(format!("The header {shown} is set by the protocol. Remove it."));
        }
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("The value of the header {shown} has characters that cannot be sent."))?;
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    let mut backoff = ExponentialBackoff::default();
    backoff.base_duration = timing.first_retry;
    backoff.max_delay = Some(timing.longest_retry);
    let mut config = StreamableHttpClientTransportConfig::with_uri(parsed.as_str());
    config.custom_headers = custom;
    config.retry_config = Arc::new(backoff);
    config.max_concurrent_requests = MAX_POSTS;
    config.max_json_response_size = MAX_MESSAGE;
    Ok(config)
}

impl HttpClient {
    async fn send(
        &self,
        mut request: RequestBuilder,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, HttpError> {
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION_ID, session);
        }
        let response = request.send().await.map_err(|error| {
            if error.is_connect() {
                let error = HttpError::Unreachable(cause(&error));
                self.fault.set(error.to_string());
                return error;
            }
            HttpError::BrokeOff(cause(&error))
        })?;
        if response.status() == StatusCode::UNAUTHORIZED {
            self.fault.set(HttpError::Unauthorized.to_string());
            return Err(HttpError::Unauthorized);
        }
        Ok(response)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<HttpError>> {
        let request = self.client.post(uri).header(ACCEPT, format!("{JSON}, {EVENT_STREAM}")).json(message);
        let response = self.send(request, session, headers).await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && session.is_some() {
            self.changed.notify_one();
            return Err(StreamableHttpError::SessionExpired);
        }
        let content_type = header(&response, CONTENT_TYPE.as_str());
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let JsonRpcMessage::Request(request) = message else {
            // Nothing is awaited, so nothing of the answer matters but whether it was taken.
            return if status.is_success() {
                Ok(StreamableHttpPostResponse::Accepted)
            } else {
                Err(refused(status))
            };
        };
        let results = match request.request {
            ClientRequest::InitializeRequest(_) => Results::Initialize,
            _ => Results::Plain,
        };
        if !status.is_success() {
            // An error of the protocol says more than a status.
            if kind == JSON
                && let Ok(body) = body(response).await
                && let Some(JsonRpcMessage::Error(mut error)) = decode(&body, results)
            {
                error.id = Some(request.id.clone());
                return Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None));
            }
            return Err(refused(status));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let new_session = Some(header(&response, SESSION_ID)).filter(|id| !id.is_empty());
        match kind.as_str() {
            EVENT_STREAM => {
                let events = events(response, results, self.fault.clone());
                Ok(StreamableHttpPostResponse::Sse(events, new_session))
            }
            JSON => {
                let body = body(response).await.map_err(StreamableHttpError::Client)?;
                let message = decode(&body, results);
                let message = message.ok_or(StreamableHttpError::Client(HttpError::NoMessage))?;
                Ok(StreamableHttpPostResponse::Json(message, new_session))
            }
            _ => Err(StreamableHttpError::Client(HttpError::ContentType(cut(&content_type, 100)))),
        }
    }
}

fn refused(status: StatusCode) -> StreamableHttpError<HttpError> {
    StreamableHttpError::Client(match status {
        StatusCode::FORBIDDEN => HttpError::Forbidden,
        StatusCode::NOT_FOUND => HttpError::NotFound,
        _ if status.is_redirection() => HttpError::Redirect(status.as_u16()),
        _ => HttpError::Status(status.as_u16()),
    })
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// The whole body, unless it is too large.
async fn body(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| HttpError::BrokeOff(cause(&error)))? {
        if body.len() + chunk.len() > MAX_MESSAGE {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The innermost cause says what happened; the layers around it repeat that it did, and the address.
fn cause(error: &reqwest::Error) -> String {
    let Some(mut cause) = std::error::Error::source(error) else {
        return "the request failed".to_owned();
    };
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cut(&cause.to_string(), 200)
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        let result = self.post(&uri, &message, session_id.as_deref(), custom_headers).await;
        if let Err(StreamableHttpError::Client(error)) = &result
            && let JsonRpcMessage::Notification(notification) = &message
            && matches!(notification.notification, ClientNotification::InitializedNotification(_))
        {
            // The reason of this one does not come back to who waits for the connection.
            self.fault.set(error.to_string());
        }
        result
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Self::Error>> {
        // Whether the server takes it is its own matter.
        let _ = self.send(self.client.delete(uri.as_ref()), Some(&session_id), custom_headers).await;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Self::Error>> {
        let mut request = self.client.get(uri.as_ref()).header(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_event_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        let response = self.send(request, session_id.as_deref(), custom_headers).await;
        let response = response.map_err(StreamableHttpError::Client)?;
        // A server need not have this stream, and servers say so in many ways. Only a failure of its own is worth
        // another try.
        if response.status().is_client_error() || response.status().is_redirection() {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() {
            return Err(refused(response.status()));
        }
        if !header(&response, CONTENT_TYPE.as_str()).starts_with(EVENT_STREAM) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(events(response, Results::Plain, self.fault.clone()))
    }
}
