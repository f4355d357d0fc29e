//! What a message to the console asks for.

use serde_json::{Map, Value};

/// A message to the console, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// `/call name {json}`
    Call {
        /// The tool.
        name: String,
        /// The arguments; what is wrong with them, as a sentence, if they cannot be read.
        arguments: Result<Map<String, Value>, String>,
    },
    /// `/search words`
    Search(String),
    /// `/why name`
    Why(String),
    /// `/tools`
    Tools,
    /// `/help`
    Help,
    /// Any other word after a slash, or a command without what it needs.
    Unknown(String),
    /// A text.
    Text,
}

impl Command {
    pub(super) fn parse(message: &str) -> Self {
        let message = message.trim();
        let Some(rest) = message.strip_prefix('/') else { return Self::Text };
        let (word, rest) = split(rest);
        match (word, rest) {
            ("call", rest) if !rest.is_empty() => {
                let (name, json) = split(rest);
                Self::Call { name: name.to_owned(), arguments: arguments(json) }
            }
            ("search", query) if !query.is_empty() => Self::Search(query.to_owned()),
            ("why", name) if !name.is_empty() => Self::Why(split(name).0.to_owned()),
            ("tools", "") => Self::Tools,
            ("help", _) => Self::Help,
            (word, _) => Self::Unknown(word.to_owned()),
        }
    }
}

/// The first word, and what follows it.
fn split(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

fn arguments(json: &str) -> Result<Map<String, Value>, String> {
    if json.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("They are JSON but no object; write them in braces.".to_owned()),
        Err(error) => Err(format!("They are no JSON: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Command;

    #[test]
    fn messages_are_read() {
        let call = |name: &str, arguments: serde_json::Value| Command::Call {
            name: name.to_owned(),
            arguments: Ok(arguments.as_object().cloned().unwrap()),
        };
        for (message, command) in [
            ("hello", Command::Text),
            ("", Command::Text),
            ("what is /tools?", Command::Text),
            ("/tools", Command::Tools),
            ("  /tools  ", Command::Tools),
            ("/tools now", Command::Unknown("tools".to_owned())),
            ("/help", Command::Help),
            ("/", Command::Unknown(String::new())),
            ("/TOOLS", Command::Unknown("TOOLS".to_owned())),
            ("/why read", Command::Why("read".to_owned())),
            ("/why", Command::Unknown("why".to_owned())),
            ("/search read files", Command::Search("read files".to_owned())),
            ("/search", Command::Unknown("search".to_owned())),
            ("/call", Command::Unknown("call".to_owned())),
            ("/call list", call("list", json!({}))),
            ("/call read {\"path\": \"a\"}", call("read", json!({"path": "a"}))),
            ("/call read\n{\n\"path\": \"a\"\n}", call("read", json!({"path": "a"}))),
        ] {
            assert_eq!(Command::parse(message), command, "{message:?}");
        }
        for (message, says) in
            [("/call read [1]", "no object"), ("/call read {", "line 1"), ("/call read path=a", "no JSON")]
        {
            let Command::Call { arguments: Err(error), .. } = Command::parse(message) else {
                panic!("{message} has no arguments");
            };
            assert!(error.contains(says), "{error}");
        }
    }
}
