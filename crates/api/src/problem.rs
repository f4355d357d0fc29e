//! How every refused request is answered.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use toolshelf_core::Verdict;

use crate::resolve::OverLimit;

/// The body of every refused request: `application/problem+json` (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// A stable URI reference for the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// A sentence that a person can act on.
    pub detail: String,
    /// A stable code that a program can act on.
    pub code: String,
    /// Names this request in the server's log.
    pub request_id: String,
    /// The fields that are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Close names, when a name is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The resource as it is now, when a write was made on an old revision; `{run_id}` of the run that stands in the way,
    /// when an answer is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub current: Option<Value>,
    /// Why the tool cannot be called, when a call is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What exceeds the model's limits, when a message would carry too many tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_limit: Option<OverLimit>,
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldError {
    /// The field as a JSON Pointer into the request body, or the name of a query parameter.
    pub pointer: String,
    /// What is wrong, as a sentence.
    pub message: String,
}
