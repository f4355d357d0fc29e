//! Whether a schema of somebody who is not trusted can be checked against in bounded time and space.

use std::collections::HashMap;

use serde_json::Value;

use crate::names::visible_line;

/// How deep a schema may nest.
const DEPTH_MAX: usize = 64;
/// How many schemas may apply to one value in place, each counted as often as it is reached.
const IN_PLACE_MAX: u32 = 10_000;
/// How many of them may follow from each other.
const CHAIN_MAX: usize = 200;

/// The keywords whose schemas apply to the same value as the schema that they stand in.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// Refuses a schema that nests too deep, refers to another document or to nothing, or whose references would have one value
/// checked without end.
pub(crate) fn check_schema(root: &Value) -> Result<(), String> {
    well_formed(root, root, 0)?;
    every_cost(root, root, &mut HashMap::new())
}

/// How many schemas apply in place, and how many of them follow from each other; none while it is being worked out.
type Costs = HashMap<*const Value, Option<(u32, usize)>>;

fn well_formed(root: &Value, value: &Value, depth: usize) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("Its inputSchema nests deeper than {DEPTH_MAX} levels."));
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| well_formed(root, item, depth + 1)),
        Value::Object(fields) => {
            // These change what a reference means, and no server needs them for a tool's parameters.
            for keyword in ["$dynamicRef", "$recursiveRef"] {
                if fields.get(keyword).is_some_and(Value::is_string) {
                    return Err(format!("Its inputSchema uses {keyword}."));
                }
            }
            if depth > 0 && fields.get("$id").is_some_and(Value::is_string) {
                return Err("A part of its inputSchema has an $id of its own.".to_owned());
            }
            if let Some(Value::String(reference)) = fields.get("$ref")
                && target(root, reference).is_none()
            {
                let shown = visible_line(reference, 80);
                return Err(format!("Its inputSchema refers to something outside of it ({shown})."));
            }
            fields.values().try_for_each(|field| well_formed(root, field, depth + 1))
        }
        _ => Ok(()),
    }
}

/// What a reference inside the document leads to.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Works out for each schema of the document how many schemas apply in place. A schema that reaches itself in place would
/// never be done.
fn every_cost<'a>(root: &'a Value, value: &'a Value, costs: &mut Costs) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| every_cost(root, item, costs)),
        Value::Object(fields) => {
            cost(root, value, 0, costs)?;
            fields.values().try_for_each(|field| every_cost(root, field, costs))
        }
        _ => Ok(()),
    }
}

/// The cost of a schema, itself included.
fn cost<'a>(
    root: &'a Value,
    schema: &'a Value,
    depth: usize,
    costs: &mut Costs,
) -> Result<(u32, usize), String> {
    const TOO_LONG: &str = "The references of its inputSchema form too long a chain.";
    let Value::Object(fields) = schema else { return Ok((1, 1)) };
    match costs.get(&std::ptr::from_ref(schema)) {
        Some(Some(known)) => return Ok(*known),
        Some(None) => return Err("A reference of its inputSchema leads to itself.".to_owned()),
        None => {}
    }
    if depth > CHAIN_MAX {
        return Err(TOO_LONG.to_owned());
    }
    costs.insert(std::ptr::from_ref(schema), None);
    let reference = fields.get("$ref").and_then(Value::as_str).and_then(|text| target(root, text));
    let parts = IN_PLACE.iter().flat_map(|keyword| -> Vec<&Value> {
        match fields.get(*keyword) {
            Some(Value::Array(items)) => items.iter().collect(),
            Some(Value::Object(schemas)) if *keyword == "dependentSchemas" => schemas.values().collect(),
            Some(schema @ Value::Object(_)) => vec![schema],
            _ => Vec::new(),
        }
    });
    let (mut sum, mut chain) = (1_u32, 1);
    for part in reference.into_iter().chain(parts) {
        let (more, longer) = cost(root, part, depth + 1, costs)?;
        sum = sum.saturating_add(more);
        chain = chain.max(longer + 1);
    }
    if sum > IN_PLACE_MAX {
        return Err("The references of its inputSchema multiply without measure.".to_owned());
    }
    if chain > CHAIN_MAX {
        return Err(TOO_LONG.to_owned());
    }
    costs.insert(std::ptr::from_ref(schema), Some((sum, chain)));
    Ok((sum, chain))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check_schema;

    #[test]
    fn schemas_that_can_be_checked() {
        for schema in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {"next": {"$ref": "#"}}}),
            json!({"type": "object", "$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}),
            json!({"type": "object", "$defs": {"tree": {"type": "object", "properties":
                {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
                "properties": {"root": {"$ref": "#/$defs/tree"}}}),
            json!({"type": "object", "properties": {"$ref": {"type": "string"}}}),
            json!({"type": "object", "$id": "https://example.org/a", "anyOf": [{"required": ["a"]}]}),
        ] {
            assert_eq!(check_schema(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn schemas_that_would_never_be_done_or_lead_elsewhere() {
        let mut doubling = json!({"type": "object", "$defs": {"a0": {"type": "string"}}});
        for level in 1..40 {
            let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
            doubling["$defs"][format!("a{level}")] = json!({"allOf": [below, below]});
        }
        let mut chain = json!({"type": "object", "$defs": {"a0": {"type": "string"}}});
        for level in 1..5_000 {
            chain["$defs"][format!("a{level}")] = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        }
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({"properties": {"a": deep}});
        }
        for (schema, word) in [
            (json!({"$ref": "#"}), "itself"),
            (json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}), "itself"),
            (json!({"allOf": [{"$ref": "#"}]}), "itself"),
            (json!({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}), "itself"),
            (json!({"if": {"not": {"$ref": "#/if"}}}), "itself"),
            (doubling, "multiply"),
            (chain, "chain"),
            (deep, "deeper"),
            (json!({"properties": {"a": {"$ref": "https://evil.example/s.json"}}}), "outside"),
            (json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}), "outside"),
            (json!({"properties": {"a": {"$ref": "#/$defs/none"}}}), "outside"),
            (json!({"properties": {"a": {"$ref": "#anchor"}}}), "outside"),
            (json!({"properties": {"a": {"$id": "x"}}}), "$id"),
            (json!({"properties": {"a": {"$dynamicRef": "#x"}}}), "$dynamicRef"),
        ] {
            let error = check_schema(&schema).unwrap_err();
            assert!(
                error.contains(word),
                "{error}: {}",
                Value::to_string(&schema).split_at(60.min(schema.to_string().len())).0
            );
        }
    }
}
