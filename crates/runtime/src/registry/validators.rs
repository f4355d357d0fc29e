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
        let compiled = jsonschema::options()
            // This engine takes time linear in the text, whatever the pattern.
            .with_pattern_options(PatternOptions::regex())
            .build(tool.parameters())
            .map_err(|error| error.to_string());
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
