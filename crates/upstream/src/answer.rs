//! What a tool answered, as text for a model.

use serde_json::Value;
use toolshelf_runtime::ToolReturn;

use crate::words::{NOT_UNDERSTOOD, cut, size};

/// Reads the result of a call. The error is a sentence.
pub(crate) fn tool_return(mut result: Value) -> Result<ToolReturn, String> {
    let Some(fields) = result.as_object_mut() else { return Err(NOT_UNDERSTOOD.to_owned()) };
    let kind = fields.get("resultType").and_then(Value::as_str).unwrap_or_default();
    if kind == "input_required" || fields.contains_key("inputRequests") {
        return Err(
            "It asked for more input in the middle of the call, which is not supported here.".to_owned()
        );
    }
    if kind == "task" || fields.contains_key("task") {
        return Err("It answered with a task to be asked for later, which is not supported here.".to_owned());
    }
    let is_error = fields.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let data = fields.remove("structuredContent").filter(|data| !data.is_null());
    let mut parts = Vec::new();
    match fields.remove("content") {
        Some(Value::Array(blocks)) => parts.extend(blocks.into_iter().map(block)),
        Some(Value::Null) | None => {}
        Some(_) => return Err(NOT_UNDERSTOOD.to_owned()),
    }
    let mut text = parts.join("\n\n");
    if text.is_empty()
        && let Some(data) = &data
    {
        text = format!("{data:#}");
    }
    Ok(ToolReturn { text, data, is_error, ..ToolReturn::default() })
}

/// One block of content: a text as it is, anything else in one line that says what it is.
fn block(mut block: Value) -> String {
    let kind = word(&block, "type", "unknown");
    match kind.as_str() {
        "text" => match block.get_mut("text").map(Value::take) {
            Some(Value::String(text)) => text,
            _ => "[text that is not understood]".to_owned(),
        },
        "image" | "audio" => {
            format!(
                "[{kind}: {}, {}]",
                word(&block, "mimeType", "unknown type"),
                decoded_size(block.get("data"))
            )
        }
        "resource_link" => {
            let name = word(&block, "title", &word(&block, "name", "unnamed"));
            format!("[resource: {name}, {}]", word(&block, "uri", "no address"))
        }
        "resource" => resource(block.get_mut("resource").map(Value::take).unwrap_or_default()),
        _ => format!("[content of the kind {kind:?}, which is not understood]"),
    }
}

/// A resource that came with the answer.
fn resource(mut resource: Value) -> String {
    if let Some(Value::String(text)) = resource.get_mut("text").map(Value::take) {
        return text;
    }
    format!(
        "[resource: {}, {}, {}]",
        word(&resource, "uri", "no address"),
        word(&resource, "mimeType", "unknown type"),
        decoded_size(resource.get("blob"))
    )
}

/// A field inside a line.
fn word(value: &Value, field: &str, otherwise: &str) -> String {
    let word = value.get(field).and_then(Value::as_str).unwrap_or(otherwise);
    let word: String = word.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(&word, 300)
}

/// The size of what base64 stands for.
fn decoded_size(data: Option<&Value>) -> String {
    let text = data.and_then(Value::as_str).unwrap_or_default().trim_end_matches('=');
    size(text.len() / 4 * 3 + text.len() % 4 * 3 / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_become_text() {
        let result = json!({
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "mimeType": "image/png", "data": "A".repeat(16_000)},
                {"type": "audio", "mimeType": "audio/wav", "data": "AAA="},
                {"type": "resource_link", "name": "notes", "uri": "file:///notes"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "x/y", "blob": "AAAA"}},
                {"type": "video\n"},
                {"type": "text", "text": 5},
                "nothing"
            ],
            "isError": true
        });
        let read = tool_return(result).unwrap();
        assert!(read.is_error);
        assert_eq!(read.data, None);
        let parts: Vec<&str> = read.text.split("\n\n").collect();
        assert_eq!(
            parts,
            [
                "one",
                "[image: image/png, 12 kB]",
                "[audio: audio/wav, 2 bytes]",
                "[resource: notes, file:///notes]",
                "inside",
                "[resource: file:///b, x/y, 3 bytes]",
                "[content of the kind \"video \", which is not understood]",
                "[text that is not understood]",
                "[content of the kind \"unknown\", which is not understood]",
            ]
        );
    }

    #[test]
    fn data_is_kept_and_is_the_text_when_there_is_none() {
        let read = tool_return(json!({"structuredContent": {"b": 1, "a": 2}})).unwrap();
        assert_eq!(read.text, "{\n  \"b\": 1,\n  \"a\": 2\n}");
        assert_eq!(read.data, Some(json!({"b": 1, "a": 2})));
        let read = tool_return(json!({"content": [{"type": "text", "text": "t"}], "structuredContent": 1}));
        assert_eq!(read, Ok(ToolReturn { text: "t".into(), data: Some(json!(1)), ..ToolReturn::default() }));
        assert_eq!(tool_return(json!({})), Ok(ToolReturn::default()));
    }

    #[test]
    fn what_cannot_be_followed_is_an_error() {
        for result in [
            json!({"resultType": "input_required", "inputRequests": {}}),
            json!({"task": {"taskId": "1"}}),
            json!({"resultType": "task"}),
            json!({"content": "text"}),
            json!([]),
        ] {
            assert!(tool_return(result.clone()).is_err(), "{result}");
        }
    }
}
