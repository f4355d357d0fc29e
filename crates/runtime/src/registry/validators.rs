//! Checks arguments against parameters. Schemas are compiled when a tool is first called: a catalog may be large, and most
//! of its tools are never called.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use toolshelf_core::Tool;

use super::{ArgumentError, CallRefused};

/// How many compiled schemas are kept. When there are more, all are forgotten, because which of them are used again is not
/// known and compiling one takes less than a millisecond.
const KEPT: usize = 1_000;
/// How many errors are reported.
const REPORTED: usize = 20;

/// Compiled schemas by the definition that they belong to.
#[derive(Default)]
pub(super) struct Validators(Mutex<HashMap<String, Compiled>>);

type Compiled = Arc<Result<Validator, String>>;

impl Validators {
    /// Checks arguments against a tool's parameters.
    pub(super) fn check(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<(), CallRefused> {
        let invalid = |pointer: String, message: String| ArgumentError { pointer, message };
        let errors = match &*self.of(tool) {
            Err(message) => {
                vec![invalid(String::new(), format!("The tool's parameters cannot be read: {message}"))]
            }
            Ok(validator) => validator
                .iter_errors(&Value::Object(arguments.clone()))
                .take(REPORTED)
                .map(|error| invalid(pointer_of(&error), error.masked().to_string()))
                .collect(),
        };
        if errors.is_empty() { Ok(()) } else { Err(CallRefused::InvalidInput(errors)) }
    }

    fn of(&self, tool: &Tool) -> Compiled {
        if let Some(known) = self.kept().get(tool.definition()) {
            return Arc::clone(known);
        }
        // Compiled without the lock: two calls may do it at once, and nobody waits for a large schema of another tool.
        let compiled = build(tool.parameters()).or_else(|_| {
            let mut loosened = tool.parameters().clone();
            without_unreadable_patterns(&mut loosened);
            build(&loosened)
        });
        let compiled = Arc::new(compiled);
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(tool.definition().to_owned(), Arc::clone(&compiled));
        compiled
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<String, Compiled>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        // This engine takes time linear in the text, whatever the pattern.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

/// Takes out patterns that the linear engine does not have, such as those that look ahead. Servers write them, and check
/// them themselves; a tool that nobody could call would help nobody.
fn without_unreadable_patterns(schema: &mut Value) {
    let is_readable = |pattern: &str| build(&serde_json::json!({ "pattern": pattern })).is_ok();
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_unreadable_patterns),
        Value::Object(members) => {
            if members.get("pattern").and_then(Value::as_str).is_some_and(|pattern| !is_readable(pattern)) {
                members.shift_remove("pattern");
            }
            if let Some(Value::Object(patterns)) = members.get_mut("patternProperties") {
                let all = patterns.len();
                patterns.retain(|pattern, _| is_readable(pattern));
                if patterns.len() < all {
                    // What the lost pattern allowed must not count as surplus now.
                    members.shift_remove("additionalProperties");
                    members.shift_remove("unevaluatedProperties");
                }
            }
            members.values_mut().for_each(without_unreadable_patterns);
        }
        _ => {}
    }
}

/// Where the error is; a missing or surplus argument is itself the place, not the object around it.
fn pointer_of(error: &jsonschema::ValidationError<'_>) -> String {
    use jsonschema::error::ValidationErrorKind;
    let parent = error.instance_path().to_string();
    let child = match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.first().map(String::as_str),
        _ => None,
    };
    match child {
        Some(name) => format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
        None => parent,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{build, without_unreadable_patterns};

    #[test]
    fn a_pattern_that_cannot_be_read_is_left_to_the_server() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "pattern": "^(?!x)"},
                "b": {"type": "string", "pattern": "^[a-z]+$"},
                "pattern": {"type": "string"},
            },
            "patternProperties": {"^(?=y)": {"type": "string"}, "^z": {"type": "integer"}},
            "additionalProperties": false,
        });
        assert!(build(&schema).is_err());
        without_unreadable_patterns(&mut schema);
        let validator = build(&schema).unwrap();
        for (arguments, valid) in [
            (json!({"a": "x", "b": "q", "pattern": "p"}), true),
            (json!({"a": 1}), false),
            (json!({"b": "1"}), false),
            (json!({"yes": "x"}), true),
            (json!({"z1": "x"}), false),
        ] {
            assert_eq!(validator.is_valid(&arguments), valid, "{arguments}");
        }
        assert_eq!(schema["properties"]["a"], json!({"type": "string"}));
        assert_eq!(schema["properties"]["b"]["pattern"], "^[a-z]+$");
        let mut hostile = json!({"pattern": "(a{1000}){1000}"});
        without_unreadable_patterns(&mut hostile);
        assert_eq!(hostile, Value::Object(serde_json::Map::new()));
    }
}
