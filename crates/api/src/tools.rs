//! Disabling and calling tools.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Disables a tool for everyone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DisableTool {
    /// Why, for everyone to read; 1 to 500 characters.
    pub reason: String,
}

/// Calls a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The arguments, checked against the tool's parameters.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub arguments: Map<String, Value>,
    /// The conversation to call it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
}

/// What a call returned. An error of the tool is a result too; only a refusal is a problem document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallResult {
    /// Whether the tool failed.
    pub is_error: bool,
    /// Why, as a stable code, when it failed.
    pub code: Option<String>,
    /// The text for the model, cut to the tool's limit.
    pub text: String,
    /// Structured data beside the text.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub data: Option<Value>,
    /// How long the tool ran, in milliseconds.
    pub duration_ms: u64,
    /// The revision of the snapshot that allowed the call.
    pub snapshot_revision: u64,
}
