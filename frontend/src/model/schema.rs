//! JSON Schemas as a tree that a person can read.
//!
//! The schema may come from anywhere, so depth and size are bounded and a definition that holds itself ends.

use serde_json::{Map, Value};

use super::text::thousands;

/// How deep the tree goes.
const DEPTH: usize = 6;
/// How many parameters the tree holds.
const PARAMETERS: usize = 400;
/// How many links of references are followed to one schema.
const LINKS: usize = 8;

/// A parameter, or a field of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// The name; for the kinds of a union, what is one of them.
    pub name: String,
    /// The type, such as `string` or `list of integer`.
    pub kind: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for.
    pub description: String,
    /// The only values that it takes, as JSON without the quotes of strings.
    pub choices: Vec<String>,
    /// What it is when it is not given.
    pub default: Option<String>,
    /// Limits such as `1 to 1,000`.
    pub limits: Vec<String>,
    /// The fields of an object, or of a list's objects.
    pub children: Vec<Self>,
    /// Why the tree ends here, if it was cut.
    pub cut: Option<String>,
}

/// The parameters of a tool.
pub fn tree(schema: &Value) -> Vec<Param> {
    let mut reader = Reader { root: schema, left: PARAMETERS, open: Vec::new() };
    let schema = resolve(schema, schema);
    reader.fields(&schema, DEPTH)
}

/// The schema with its references followed; what stands beside a reference wins.
pub fn resolve(root: &Value, schema: &Value) -> Map<String, Value> {
    let mut resolved = schema.as_object().cloned().unwrap_or_default();
    for _ in 0..LINKS {
        let Some(Value::String(reference)) = resolved.shift_remove("$ref") else { break };
        let Some(Value::Object(target)) =
            reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        else {
            break;
        };
        for (key, value) in target {
            resolved.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    resolved
}

/// The variants of a union other than null, and whether null is one.
pub fn variants<'a>(root: &Value, schema: &'a Map<String, Value>) -> Option<(Vec<&'a Value>, bool)> {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null =
        |variant: &&Value| resolve(root, variant).get("type").and_then(Value::as_str) == Some("null");
    let (nulls, others): (Vec<&Value>, Vec<&Value>) = list.iter().partition(is_null);
    Some((others, !nulls.is_empty()))
}

/// A value as a person would write it: strings without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

struct Reader<'a> {
    root: &'a Value,
    left: usize,
    /// The references that are being read, outermost first.
    open: Vec<String>,
}

impl Reader<'_> {
    fn fields(&mut self, schema: &Map<String, Value>, depth: usize) -> Vec<Param> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut fields = Vec::new();
        for (name, schema) in properties {
            if self.left == 0 {
                fields.push(Param {
                    name: "…".into(),
                    cut: Some("More follows in the schema.".into()),
                    ..Param::default()
                });
                break;
            }
            let param = self.param(name, schema, depth);
            fields.push(Param { required: required.contains(&name.as_str()), ..param });
        }
        // What must be given comes first; within each half the author's order stays.
        fields.sort_by_key(|field| !field.required);
        fields
    }

    fn param(&mut self, name: &str, schema: &Value, depth: usize) -> Param {
        self.left = self.left.saturating_sub(1);
        let resolved = resolve(self.root, schema);
        let mut param = Param {
            name: name.to_owned(),
            kind: kind(self.root, &resolved, LINKS),
            description: string(&resolved, "description"),
            choices: choices(&resolved),
            default: resolved.get("default").filter(|value| !value.is_null()).map(plain),
            limits: limits(&resolved),
            ..Param::default()
        };
        // Fields are shown for the object inside of lists and of "or null".
        let inner = self.inner(schema);
        if param.choices.is_empty() {
            param.choices = choices(&resolve(self.root, &inner.1));
        }
        let references = inner.0;
        if let Some(repeated) = references.iter().find(|reference| self.open.contains(reference)) {
            let name = repeated.rsplit('/').next().unwrap_or_default();
            param.cut = Some(format!("Has the fields of {name}, as above."));
            return param;
        }
        let object = resolve(self.root, &inner.1);
        let has_fields =
            object.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
        let union = variants(self.root, &object)
            .map(|(variants, _)| variants.into_iter().cloned().collect::<Vec<_>>());
        if !has_fields && union.is_none() {
            return param;
        }
        if depth == 0 || self.left == 0 {
            param.cut = Some("More follows in the schema.".to_owned());
            return param;
        }
        let opened = self.open.len();
        self.open.extend(references);
        param.children = match union {
            // A union of plain types says it all in its kind.
            Some(union)
                if union.iter().any(|variant| resolve(self.root, variant).contains_key("properties")) =>
            {
                union
                    .iter()
                    .enumerate()
                    .map(|(index, variant)| {
                        let title = string(&resolve(self.root, variant), "title");
                        let name = if title.is_empty() { format!("either {}", index + 1) } else { title };
                        self.param(&name, variant, depth - 1)
                    })
                    .collect()
            }
            Some(_) => Vec::new(),
            None => self.fields(&object, depth - 1),
        };
        self.open.truncate(opened);
        param
    }

    /// The schema inside of lists and of "or null", with the references on the way to it.
    fn inner(&self, schema: &Value) -> (Vec<String>, Value) {
        let mut references = Vec::new();
        let mut schema = schema.clone();
        for _ in 0..LINKS {
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                references.push(reference.to_owned());
            }
            let resolved = resolve(self.root, &schema);
            let next = match variants(self.root, &resolved) {
                Some((others, true)) if others.len() == 1 => others.first().map(|other| (*other).clone()),
                _ => resolved.get("items").filter(|items| items.is_object()).cloned(),
            };
            match next {
                Some(next) => schema = next,
                None => break,
            }
        }
        (references, schema)
    }
}

fn string(schema: &Map<String, Value>, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn choices(schema: &Map<String, Value>) -> Vec<String> {
    if let Some(only) = schema.get("const") {
        return vec![plain(only)];
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(plain).collect();
    }
    // An enumeration with a description for each value is a union of constants.
    let list = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    let constants: Option<Vec<String>> =
        list.and_then(|list| list.iter().map(|variant| variant.get("const").map(plain)).collect());
    constants.unwrap_or_default()
}

/// The type in words.
fn kind(root: &Value, schema: &Map<String, Value>, depth: usize) -> String {
    if depth == 0 {
        return "any".to_owned();
    }
    if !choices(schema).is_empty() {
        return "choice".to_owned();
    }
    if let Some((others, null)) = variants(root, schema) {
        let mut kinds: Vec<String> =
            others.iter().map(|other| kind(root, &resolve(root, other), depth - 1)).collect();
        kinds.dedup();
        if null {
            kinds.push("null".to_owned());
        }
        return kinds.join(" or ");
    }
    let one = |name: &str| match name {
        "array" => match schema.get("items") {
            Some(items) if items.is_object() => {
                format!("list of {}", kind(root, &resolve(root, items), depth - 1))
            }
            _ => "list".to_owned(),
        },
        "string" => match schema.get("format").and_then(Value::as_str) {
            Some(format) => format!("string ({format})"),
            None => "string".to_owned(),
        },
        other => other.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => one(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ if schema.contains_key("properties") => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

fn limits(schema: &Map<String, Value>) -> Vec<String> {
    let mut limits = Vec::new();
    let figure = |key: &str| schema.get(key).map(number);
    let mut span = |from: Option<String>, to: Option<String>, unit: &str| match (from, to) {
        (Some(from), Some(to)) if from == to => limits.push(format!("exactly {from}{unit}")),
        (Some(from), Some(to)) => limits.push(format!("{from} to {to}{unit}")),
        (Some(from), None) if from == "1" && !unit.is_empty() => limits.push("not empty".to_owned()),
        (Some(from), None) if from != "0" || unit.is_empty() => limits.push(format!("at least {from}{unit}")),
        (None, Some(to)) => limits.push(format!("at most {to}{unit}")),
        _ => {}
    };
    span(figure("minimum"), figure("maximum"), "");
    span(figure("minLength"), figure("maxLength"), " characters");
    span(figure("minItems"), figure("maxItems"), " entries");
    if let Some(above) = figure("exclusiveMinimum") {
        limits.push(format!("more than {above}"));
    }
    if let Some(below) = figure("exclusiveMaximum") {
        limits.push(format!("less than {below}"));
    }
    if let Some(Value::String(pattern)) = schema.get("pattern") {
        limits.push(format!("matches {pattern}"));
    }
    limits
}

fn number(value: &Value) -> String {
    match value.as_u64() {
        Some(number) => thousands(number),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Param, tree};

    fn count(params: &[Param]) -> usize {
        params.iter().map(|param| 1 + count(&param.children)).sum()
    }

    #[test]
    fn plain_parameters() {
        let params = tree(&json!({"type": "object", "required": ["b"], "properties": {
            "a": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "Most."},
            "b": {"type": "string", "minLength": 1},
            "c": {"enum": ["x", "y", 1, null]},
            "d": {"type": ["string", "null"]},
            "e": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "f": true
        }}));
        let rows: Vec<_> = params
            .iter()
            .map(|p| (p.name.as_str(), p.kind.as_str(), p.required, p.limits.join("; ")))
            .collect();
        assert_eq!(rows[0], ("b", "string", true, "not empty".to_owned()));
        assert_eq!(rows[1], ("a", "integer", false, "1 to 1,000".to_owned()));
        assert_eq!(rows[2].1, "choice");
        assert_eq!(rows[3].1, "string or null");
        assert_eq!((rows[4].1, rows[4].3.as_str()), ("list of string", "at most 3 entries"));
        assert_eq!(rows[5].1, "any");
        assert_eq!(params[1].default.as_deref(), Some("100"));
        assert_eq!(params[1].description, "Most.");
        assert_eq!(params[2].choices, ["x", "y", "1", "null"]);
    }

    #[test]
    fn references_lists_and_unions_are_followed() {
        let params = tree(&json!({"type": "object",
            "properties": {
                "one": {"$ref": "#/$defs/Item", "description": "Mine."},
                "many": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "maybe": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]},
                "either": {"oneOf": [{"$ref": "#/$defs/Item"}, {"type": "string"}]},
                "named": {"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]},
                "lost": {"$ref": "#/$defs/Nowhere"},
            },
            "$defs": {"Item": {"type": "object", "description": "An item.", "properties": {"text": {"type": "string"}}}}
        }));
        let kinds: Vec<_> = params.iter().map(|p| p.kind.as_str()).collect();
        assert_eq!(
            kinds,
            ["object", "list of object", "object or null", "object or string", "choice", "any"]
        );
        assert_eq!(params[0].description, "Mine.");
        for param in &params[..3] {
            assert_eq!(param.children.len(), 1, "{}", param.name);
            assert_eq!(param.children[0].name, "text");
        }
        assert_eq!(params[3].children.len(), 2);
        assert_eq!(params[4].choices, ["a", "b"]);
    }

    #[test]
    fn a_definition_that_holds_itself_ends() {
        let params = tree(
            &json!({"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
            "$defs": {"Item": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Item"}}}}}}),
        );
        assert_eq!(params[0].children[0].name, "children");
        assert_eq!(params[0].children[0].cut.as_deref(), Some("Has the fields of Item, as above."));
        let looped = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}});
        assert_eq!(tree(&looped)[0].kind, "any");
        let root = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        assert!(count(&tree(&root)) < 10);
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let mut schema = json!({"type": "string"});
        for _ in 0..60 {
            schema = json!({"type": "object", "properties": {"a": schema}});
        }
        assert_eq!(count(&tree(&schema)), 7);
        let wide: serde_json::Map<_, _> =
            (0..3_000).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect();
        assert_eq!(tree(&json!({"type": "object", "properties": wide})).len(), 401);
        for odd in [
            json!(null),
            json!([]),
            json!({"properties": 3}),
            json!({"properties": {"a": {"enum": 1, "type": 7}}}),
        ] {
            tree(&odd);
        }
    }
}
