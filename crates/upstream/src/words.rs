//! Sentences about what went wrong. They are read by admins, and some by models, so they hold no secrets.

use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::http::HttpError;

/// The most characters of a text that a server gave.
const MAX_CHARS: usize = 2_000;

/// The largest message that is read, in bytes.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

pub(crate) const TOO_LARGE: &str = "It sent a message of more than 16 MB.";
pub(crate) const NOT_UNDERSTOOD: &str = "Its answer has a form that is not understood.";
pub(crate) const STOPPED: &str = "It was stopped.";
pub(crate) const ENDED: &str = "The connection ended.";

/// A text that a server gave, cut to a length that fits into a sentence.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    let mut characters = text.chars();
    let mut kept: String = characters.by_ref().take(max_chars).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// What a server says of an error.
pub(crate) fn error_message(error: &ErrorData) -> String {
    let message = error.message.trim();
    if message.is_empty() {
        return format!("It answered with error {}.", error.code.0);
    }
    cut(message, MAX_CHARS)
}

/// Why a server could not be greeted.
pub(crate) fn not_initialized(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            format!("It refused the connection: {}", error_message(error))
        }
        ClientInitializeError::TransportError { error, .. } => not_sent(error),
        ClientInitializeError::ConnectionClosed(_) => {
            "It ended the connection before it answered.".to_owned()
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            format!("It did not answer `initialize` as the protocol says. {NOT_UNDERSTOOD}")
        }
        _ => "It could not be connected.".to_owned(),
    }
}

/// Why a message could not be sent.
pub(crate) fn not_sent(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<HttpError>>() {
        Some(error) => http_error(error),
        None => "It does not read what it is sent.".to_owned(),
    }
}

/// Why a request over HTTP failed.
fn http_error(error: &StreamableHttpError<HttpError>) -> String {
    match error {
        StreamableHttpError::Client(error) => error.to_string(),
        StreamableHttpError::SessionExpired
        | StreamableHttpError::SessionRecoveryTimeout
        | StreamableHttpError::ReinitializationFailed(_) => {
            "Its session expired and could not be renewed.".to_owned()
        }
        StreamableHttpError::ResponseBodyTooLarge { .. } => TOO_LARGE.to_owned(),
        StreamableHttpError::TransportChannelClosed => ENDED.to_owned(),
        _ => NOT_UNDERSTOOD.to_owned(),
    }
}

/// A size for people.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", (bytes + 500) / 1_000),
        _ => format!("{} MB", (bytes + 500_000) / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_sizes_read_well() {
        assert_eq!(cut("añb", 2), "añ…");
        assert_eq!(cut("añ", 2), "añ");
        assert_eq!([size(12), size(12_345), size(2_600_000)], ["12 bytes", "12 kB", "3 MB"]);
    }
}
