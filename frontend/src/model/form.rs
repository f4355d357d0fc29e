//! A form made from a tool's schema, and the arguments made from the form.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::schema::{plain, resolve, tree, variants};

/// How a value is entered.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A line of text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// On or off. Off is not sent, unless the default is on.
    Toggle {
        /// Whether it begins as on.
        on: bool,
    },
    /// One of these values.
    Choice(Vec<Value>),
    /// Strings, one for each line.
    Lines,
    /// Anything else, as JSON.
    Json,
}

/// A field of the form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The parameter's name.
    pub name: String,
    /// How it is entered.
    pub input: Input,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for.
    pub description: String,
    /// The type in words; empty for a toggle, which shows it.
    pub kind: String,
    /// Limits and default, on one line.
    pub note: String,
}

/// What a person entered, by field. A toggle is `true` or empty; a choice is the index of its value.
pub type Entries = BTreeMap<String, String>;

/// Mistakes by field.
pub type Mistakes = BTreeMap<String, String>;

/// The fields for the parameters of a tool.
pub fn fields(schema: &Value) -> Vec<Field> {
    let root = resolve(schema, schema);
    let properties = root.get("properties").and_then(Value::as_object);
    tree(schema)
        .into_iter()
        .filter_map(|param| {
            let property = resolve(schema, properties?.get(&param.name)?);
            let input = input_of(schema, &property);
            let toggle = matches!(input, Input::Toggle { .. });
            let default = param.default.filter(|_| !toggle).map(|default| format!("default {default}"));
            let notes: Vec<String> = param.limits.into_iter().chain(default).collect();
            Some(Field {
                input,
                name: param.name,
                required: param.required,
                description: param.description,
                kind: if toggle { String::new() } else { param.kind },
                note: notes.join(" · "),
            })
        })
        .collect()
}

fn input_of(root: &Value, schema: &Map<String, Value>) -> Input {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Input::Choice(values.iter().filter(|value| !value.is_null()).cloned().collect());
    }
    if let Some((others, null)) = variants(root, schema) {
        let constants: Option<Vec<Value>> = others.iter().map(|other| other.get("const").cloned()).collect();
        return match (constants, others.as_slice()) {
            (Some(constants), _) if !constants.is_empty() => Input::Choice(constants),
            // A value or null: leaving the field empty stands for null.
            (_, [only]) if null => input_of(root, &resolve(root, only)),
            _ => Input::Json,
        };
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    };
    match named {
        Some("string") => Input::Text,
        Some("integer") => Input::Integer,
        Some("number") => Input::Number,
        Some("boolean") => Input::Toggle { on: schema.get("default") == Some(&Value::Bool(true)) },
        Some("array") => match schema.get("items").map(|items| resolve(root, items)) {
            Some(items)
                if items.get("type").and_then(Value::as_str) == Some("string")
                    && !items.contains_key("enum") =>
            {
                Input::Lines
            }
            _ => Input::Json,
        },
        _ => Input::Json,
    }
}

/// What the fields hold at first.
pub fn blank(fields: &[Field]) -> Entries {
    fields
        .iter()
        .filter(|field| matches!(field.input, Input::Toggle { on: true }))
        .map(|field| (field.name.clone(), "true".to_owned()))
        .collect()
}

/// The arguments that the entries stand for, or what is wrong with them.
pub fn arguments(fields: &[Field], entries: &Entries) -> Result<Map<String, Value>, Mistakes> {
    let mut arguments = Map::new();
    let mut mistakes = Mistakes::new();
    for field in fields {
        let text = entries.get(&field.name).map_or("", String::as_str);
        match value_of(field, text) {
            Ok(Some(value)) => {
                arguments.insert(field.name.clone(), value);
            }
            Ok(None) if field.required => {
                mistakes.insert(field.name.clone(), "Fill this in.".to_owned());
            }
            Ok(None) => {}
            Err(mistake) => {
                mistakes.insert(field.name.clone(), mistake);
            }
        }
    }
    if mistakes.is_empty() { Ok(arguments) } else { Err(mistakes) }
}

fn value_of(field: &Field, text: &str) -> Result<Option<Value>, String> {
    if let Input::Toggle { on } = field.input {
        let now = text == "true";
        return Ok((now != on || field.required || now).then_some(Value::Bool(now)));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value = match &field.input {
        Input::Text => Value::String(text.to_owned()),
        Input::Integer => {
            let digits = text.trim();
            let number =
                digits.parse::<i64>().map(Number::from).or_else(|_| digits.parse::<u64>().map(Number::from));
            Value::Number(number.map_err(|_| "Enter a whole number.".to_owned())?)
        }
        Input::Number => {
            let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
            Value::Number(number.ok_or("Enter a number.")?)
        }
        Input::Choice(values) => match text.parse().ok().and_then(|index: usize| values.get(index)) {
            Some(value) => value.clone(),
            None => return Ok(None),
        },
        Input::Lines => text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| Value::String(line.to_owned()))
            .collect(),
        Input::Json => serde_json::from_str(text).map_err(|error| json_mistake(&error))?,
        Input::Toggle { .. } => return Ok(None),
    };
    Ok(Some(value))
}

/// The entries that stand for given arguments. Fails with a sentence if the form has no place for one of them.
pub fn entries(fields: &[Field], arguments: &Map<String, Value>) -> Result<Entries, String> {
    let mut entries = Entries::new();
    for (name, value) in arguments {
        let field = fields.iter().find(|field| field.name == *name);
        let field = field.ok_or_else(|| format!("The form has no field for {name}."))?;
        let text = match (&field.input, value) {
            (Input::Toggle { .. }, Value::Bool(on)) => if *on { "true" } else { "" }.to_owned(),
            (Input::Choice(values), value) => match values.iter().position(|choice| choice == value) {
                Some(index) => index.to_string(),
                None => return Err(format!("{} is not among the choices of {name}.", plain(value))),
            },
            (Input::Lines, Value::Array(lines)) if lines.iter().all(Value::is_string) => {
                lines.iter().map(plain).collect::<Vec<_>>().join("\n")
            }
            (Input::Text, Value::String(text)) => text.clone(),
            (Input::Integer | Input::Number, Value::Number(number)) => number.to_string(),
            (Input::Json, value) => pretty(value),
            _ => return Err(format!("The form cannot show the value of {name}.")),
        };
        entries.insert(name.clone(), text);
    }
    Ok(entries)
}

/// Reads raw arguments.
pub fn parse_raw(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("The arguments are a JSON object: { … }.".to_owned()),
        Err(error) => Err(json_mistake(&error)),
    }
}

/// JSON with line breaks.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn json_mistake(error: &serde_json::Error) -> String {
    format!("This is not JSON: line {}, column {}.", error.line(), error.column())
}

/// The parameter that a JSON Pointer into a call's body names.
pub fn parameter_of(pointer: &str) -> Option<String> {
    let path = pointer.strip_prefix("/arguments/")?;
    let name = path.split('/').next().unwrap_or(path);
    Some(name.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Input::{Integer, Json, Lines, Number, Text};
    use super::{Entries, Field, Input, arguments, blank, entries, fields, parameter_of, parse_raw};

    fn form() -> Vec<Field> {
        fields(&json!({"type": "object", "required": ["pattern"], "properties": {
            "pattern": {"type": "string"},
            "limit": {"type": ["integer", "null"], "minimum": 1, "default": 100},
            "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "hidden": {"type": "boolean"},
            "follow": {"type": "boolean", "default": true},
            "mode": {"enum": ["lines", "count", 3]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "items": {"type": "array", "items": {"type": "object"}},
            "any": {},
        }}))
    }

    fn entered(pairs: &[(&str, &str)]) -> Entries {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn inputs_follow_the_schema() {
        let inputs: Vec<Input> = form().into_iter().map(|field| field.input).collect();
        let choice = Input::Choice(vec![json!("lines"), json!("count"), json!(3)]);
        let toggle = |on| Input::Toggle { on };
        assert_eq!(inputs, [Text, Integer, Number, toggle(false), toggle(true), choice, Lines, Json, Json]);
        assert_eq!(
            (form()[1].kind.as_str(), form()[1].note.as_str()),
            ("integer or null", "at least 1 · default 100")
        );
    }

    #[test]
    fn what_is_empty_is_not_sent() {
        let form = form();
        let mut entries = blank(&form);
        entries.insert("pattern".into(), " x ".into());
        assert_eq!(
            Value::Object(arguments(&form, &entries).unwrap()),
            json!({"pattern": " x ", "follow": true})
        );
        entries.insert("follow".into(), String::new());
        assert_eq!(
            Value::Object(arguments(&form, &entries).unwrap()),
            json!({"pattern": " x ", "follow": false})
        );
    }

    #[test]
    fn every_kind_of_entry_becomes_its_value_and_back() {
        let form = form();
        let entered = entered(&[
            ("pattern", "a"),
            ("limit", "5"),
            ("ratio", "0.5"),
            ("hidden", "true"),
            ("follow", "true"),
            ("mode", "2"),
            ("tags", "a\n\nb c"),
            ("items", "[{\"a\": 1}]"),
            ("any", "null"),
        ]);
        let sent = arguments(&form, &entered).unwrap();
        assert_eq!(
            Value::Object(sent.clone()),
            json!({"pattern": "a", "limit": 5, "ratio": 0.5, "hidden": true, "follow": true, "mode": 3,
                "tags": ["a", "b c"], "items": [{"a": 1}], "any": null})
        );
        let shown = entries(&form, &sent).unwrap();
        assert_eq!(arguments(&form, &shown).unwrap(), sent);
    }

    #[test]
    fn mistakes_stand_beside_their_field() {
        let form = form();
        let entered = entered(&[("limit", "many"), ("ratio", "x"), ("items", "[")]);
        let mistakes = arguments(&form, &entered).unwrap_err();
        assert_eq!(mistakes.keys().collect::<Vec<_>>(), ["items", "limit", "pattern", "ratio"]);
        assert_eq!(mistakes["items"], "This is not JSON: line 1, column 1.");
    }

    #[test]
    fn raw_arguments_that_the_form_cannot_show_are_named() {
        let form = form();
        for (raw, expected) in [
            ("{\"nope\": 1}", "The form has no field for nope."),
            ("{\"mode\": \"x\"}", "x is not among the choices of mode."),
            ("{\"limit\": \"1\"}", "The form cannot show the value of limit."),
        ] {
            assert_eq!(entries(&form, &parse_raw(raw).unwrap()).unwrap_err(), expected);
        }
        assert!(parse_raw("[1]").is_err());
        assert!(parse_raw("{").is_err());
        assert!(parse_raw(" ").unwrap().is_empty());
    }

    #[test]
    fn pointers_name_parameters() {
        assert_eq!(parameter_of("/arguments/pattern").as_deref(), Some("pattern"));
        assert_eq!(parameter_of("/arguments/items/0/text").as_deref(), Some("items"));
        assert_eq!(parameter_of("/arguments/a~1b~0c").as_deref(), Some("a/b~c"));
        assert_eq!(parameter_of("/arguments"), None);
        assert_eq!(parameter_of("/conversation_id"), None);
    }
}
