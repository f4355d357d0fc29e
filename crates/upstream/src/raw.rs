//! Messages whose results stay plain JSON.
//!
//! `rmcp` reads a result into the first of its types that fits, and that type drops what it does not know. Two ways
//! lead around it. Where a message is read here, a result becomes `CustomResult`, the variant for any JSON, without
//! being tried as anything else (`decode`). Where `rmcp` insists on reading a text itself, which it does with events
//! of a stream, the result is put into an envelope that fits no other variant (`enveloped`). `result` undoes both.

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, InitializeResult, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde_json::{Map, Value, json};

/// The only field of an envelope. No result of the protocol has a field of this name.
const ENVELOPE: &str = "toolshelf/result";

/// How the result of a message is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// It answers `initialize`, which `rmcp` must understand.
    Initialize,
    /// As plain JSON.
    Plain,
}

/// Reads a message. `None` if it is no message of the protocol.
pub(crate) fn decode(text: &[u8], results: Results) -> Option<ServerJsonRpcMessage> {
    let message: Value = serde_json::from_slice(text).ok()?;
    decode_value(message, results)
}

/// Reads a message that is JSON already.
pub(crate) fn decode_value(mut message: Value, results: Results) -> Option<ServerJsonRpcMessage> {
    let fields = message.as_object_mut()?;
    if fields.contains_key("method") {
        return serde_json::from_value(message).ok();
    }
    if let Some(result) = fields.remove("result") {
        let id = id(fields)?;
        let result = match results {
            Results::Plain => ServerResult::CustomResult(CustomResult(result)),
            // One that does not fit is handed on all the same, so that it is an answer that is refused.
            Results::Initialize => match serde_json::from_value::<InitializeResult>(result.clone()) {
                Ok(result) => ServerResult::InitializeResult(result),
                Err(_) => ServerResult::CustomResult(CustomResult(result)),
            },
        };
        return Some(JsonRpcMessage::response(result, id));
    }
    let error = fields.remove("error")?;
    Some(JsonRpcMessage::error(lenient_error(&error), id(fields)))
}

fn id(fields: &Map<String, Value>) -> Option<RequestId> {
    fields.get("id").and_then(|id| serde_json::from_value(id.clone()).ok())
}

/// An error in any form ends the request: one that is not understood would let its caller wait.
fn lenient_error(error: &Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").unwrap_or(error).as_str().unwrap_or_default();
    ErrorData::new(ErrorCode(code.unwrap_or(0)), message.to_owned(), None)
}

/// Puts the result of a message, if it has one, into an envelope. Any other text is left alone.
pub(crate) fn enveloped(text: String) -> String {
    let Ok(Value::Object(mut message)) = serde_json::from_str(&text) else { return text };
    if message.contains_key("method") {
        return text;
    }
    if let Some(result) = message.get_mut("result") {
        *result = json!({ ENVELOPE: result.take() });
        return Value::Object(message).to_string();
    }
    if let Some(error) = message.get_mut("error") {
        let read = lenient_error(error);
        *error = json!({ "code": read.code.0, "message": read.message });
        return Value::Object(message).to_string();
    }
    text
}

/// The plain JSON of a result that came by one of the two ways; `None` for any other.
pub(crate) fn result(result: ServerResult) -> Option<Value> {
    let ServerResult::CustomResult(CustomResult(mut value)) = result else { return None };
    match value.as_object_mut() {
        Some(fields) if fields.len() == 1 => match fields.get_mut(ENVELOPE) {
            Some(inner) => Some(inner.take()),
            None => Some(value),
        },
        _ => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results that `rmcp` would read as something else, or not at all.
    fn results() -> Vec<Value> {
        vec![
            json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}, "zeta": 1, "alpha": {"b": 1, "a": 2}}]}),
            json!({"tools": [{"name": 5}, "text", null]}),
            json!({"tools": "none"}),
            json!({"content": [{"type": "text", "text": "hi", "extra": true}], "isError": "perhaps", "more": 1}),
            json!({"resultType": "complete"}),
            json!({"resultType": "complete", "tools": []}),
            json!({"taskId": "1", "status": "working", "createdAt": "now"}),
            json!({"action": "accept"}),
            json!({"_meta": {"a": 1}}),
            json!({}),
            json!([1, 2]),
            json!("text"),
            json!(null),
        ]
    }

    fn message(result: &Value) -> String {
        json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string()
    }

    fn result_of(message: ServerJsonRpcMessage) -> Option<Value> {
        match message {
            JsonRpcMessage::Response(response) => super::result(response.result),
            _ => None,
        }
    }

    #[test]
    fn results_stay_word_for_word() {
        for result in results() {
            let read = decode(message(&result).as_bytes(), Results::Plain).and_then(result_of);
            assert_eq!(read.map(|read| read.to_string()), Some(result.to_string()));
        }
    }

    #[test]
    fn enveloped_results_survive_the_reading_of_the_library() {
        for result in results() {
            let read = serde_json::from_str(&enveloped(message(&result))).ok().and_then(result_of);
            assert_eq!(read.map(|read| read.to_string()), Some(result.to_string()));
        }
    }

    #[test]
    fn errors_of_any_form_are_errors() {
        for (error, expected) in [
            (json!({"code": -32601, "message": "no"}), (-32601, "no")),
            (json!({"code": "x", "message": "no"}), (0, "no")),
            (json!("broken"), (0, "broken")),
            (json!(7), (0, "")),
        ] {
            let text = json!({"jsonrpc": "2.0", "id": "1", "error": error}).to_string();
            let read = [
                decode(text.as_bytes(), Results::Plain).unwrap(),
                serde_json::from_str(&enveloped(text)).unwrap(),
            ];
            for read in read {
                let JsonRpcMessage::Error(read) = read else { panic!("{read:?}") };
                assert_eq!((read.error.code.0, &*read.error.message), expected);
            }
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for text in ["", "listening on 3000", "[]", "{}", "{\"result\":{}}", "7"] {
            assert!(decode(text.as_bytes(), Results::Plain).is_none(), "{text}");
        }
    }

    #[test]
    fn requests_and_notifications_are_left_to_the_library() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert!(matches!(decode(text.as_bytes(), Results::Plain), Some(JsonRpcMessage::Notification(_))));
        assert_eq!(enveloped(text.to_owned()), text);
    }
}
