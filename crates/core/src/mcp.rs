//! Definitions of tools as MCP servers list them: read, checked, and made into tools.
//!
//! A definition is data of somebody who is not trusted. One that breaks a rule is refused by itself, with the reason.

use serde_json::{Map, Value};

use crate::card::Held;
use crate::names::{mcp_tool_name, short_hash, visible_line, visible_text};
use crate::schema::check_schema;
use crate::source::Source;
use crate::tool::{DefinitionError, Effect, Exposure, Kind, Tool, ToolDefinition, UpstreamCall};

/// The most bytes of a tool's parameters as JSON.
const SCHEMA_MAX: usize = 256 * 1024;
/// The most characters of a description.
const DESCRIPTION_MAX: usize = 20_000;
/// The most characters of a name at the server.
const ORIGINAL_MAX: usize = 256;
/// The most characters of a title; what is longer is cut.
const TITLE_MAX: usize = 200;

/// A tool's definition as a server listed it.
#[derive(Clone, Debug, PartialEq)]
pub struct McpDefinition {
    original: String,
    title: Option<String>,
    description: String,
    parameters: Value,
    annotations: Annotations,
    exposure: Exposure,
    whole: Value,
}

/// What a server says about the effects of a tool. Whether it counts is an admin's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Annotations {
    read_only: Option<bool>,
    destructive: Option<bool>,
    open_world: Option<bool>,
}

/// Says why a definition is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedDefinition {
    /// The tool's name, as far as it has one; safe to show.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What admins say about a tool of a server.
#[derive(Clone, Debug)]
pub struct McpMarks {
    /// Whether models may see it (L2).
    pub expose: bool,
    /// Whether its schema comes on demand (L6).
    pub defer: bool,
    /// Channels in which it is not used (L3).
    pub unsafe_in: Vec<String>,
    /// Presets that it is put in.
    pub toolsets: Vec<String>,
    /// What it does, in one word.
    pub kind: Option<Kind>,
    /// What a call changes.
    pub effect: Option<Effect>,
    /// Whether what the server says about effects counts.
    pub trust_annotations: bool,
    /// Why it waits for an admin's decision.
    pub held: Option<Held>,
    /// How a call reaches the server.
    pub call: UpstreamCall,
}

impl McpDefinition {
    /// Reads a definition as it came.
    pub fn read(value: &Value) -> Result<Self, RejectedDefinition> {
        let Value::Object(fields) = value else {
            return Err(rejected("", "It is no JSON object."));
        };
        let original = match fields.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            Some(Value::String(_)) => return Err(rejected("", "Its name is empty.")),
            _ => return Err(rejected("", "It has no name that is a text.")),
        };
        let wrong = |reason: String| RejectedDefinition { name: visible_line(&original, 80), reason };
        if original.chars().count() > ORIGINAL_MAX {
            return Err(wrong(format!("Its name is longer than {ORIGINAL_MAX} characters.")));
        }
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(wrong(format!("Its {name} is no text."))),
        };
        let description = text("description")?.unwrap_or_default();
        if description.chars().count() > DESCRIPTION_MAX {
            return Err(wrong(format!(
                "Its description is longer than {} characters.",
                grouped(DESCRIPTION_MAX)
            )));
        }
        let (annotations, annotated_title) = annotations(fields.get("annotations")).map_err(&wrong)?;
        let title = text("title")?.map(str::to_owned).or(annotated_title);
        let title = title.map(|title| visible_line(&title, TITLE_MAX)).filter(|title| !title.is_empty());
        let parameters = parameters(fields.get("inputSchema")).map_err(&wrong)?;
        Ok(Self {
            title,
            description: visible_text(description).trim().to_owned(),
            parameters,
            annotations,
            exposure: visibility(fields.get("_meta")),
            whole: told(fields),
            original,
        })
    }

    /// The name at the server. Policy is keyed by it.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The definition as it is kept and compared: what models and people are told and what decides about it, and nothing
    /// that changes from one list to the next.
    pub fn whole(&self) -> &Value {
        &self.whole
    }

    /// A hash of it, whatever the order of members.
    pub fn hash(&self) -> String {
        let mut sorted = self.whole.clone();
        sorted.sort_all_objects();
        short_hash(&sorted.to_string())
    }

    /// The tool.
    pub fn tool(&self, server: &str, marks: McpMarks) -> Result<Tool, DefinitionError> {
        let trusted = marks.trust_annotations.then_some(self.annotations);
        let effect = marks.effect.unwrap_or_else(|| trusted.map_or(Effect::Unknown, Annotations::effect));
        let kind = marks.kind.unwrap_or(match effect {
            Effect::Read => Kind::Read,
            Effect::Write | Effect::Destructive => Kind::Write,
            Effect::External => Kind::Network,
            Effect::Unknown => Kind::Execute,
        });
        Tool::new(ToolDefinition {
            name: mcp_tool_name(server, &self.original),
            title: self.title.clone(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
            source: Source::mcp(server),
            service: server.to_owned(),
            method: self.original.clone(),
            toolsets: marks.toolsets,
            unsafe_in: marks.unsafe_in,
            exposure: if marks.expose { self.exposure.clone() } else { Exposure::HiddenByAdmin },
            defer: marks.defer,
            needs_conversation: false,
            kind,
            effect,
            held: marks.held,
            upstream: Some(marks.call),
        })
    }
}

impl Annotations {
    /// What a call changes; the defaults are those of the protocol (tool annotations).
    fn effect(self) -> Effect {
        if self.read_only == Some(true) {
            Effect::Read
        } else if self.destructive.unwrap_or(true) {
            Effect::Destructive
        } else if self.open_world.unwrap_or(true) {
            Effect::External
        } else {
            Effect::Write
        }
    }
}

fn rejected(name: &str, reason: &str) -> RejectedDefinition {
    RejectedDefinition { name: name.to_owned(), reason: reason.to_owned() }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let mut text = digits[..head].to_owned();
    for (position, digit) in digits[head..].chars().enumerate() {
        if position % 3 == 0 && !text.is_empty() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn annotations(value: Option<&Value>) -> Result<(Annotations, Option<String>), String> {
    let fields = match value {
        None | Some(Value::Null) => return Ok((Annotations::default(), None)),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("Its annotations are no JSON object.".to_owned()),
    };
    let flag = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("Its annotation {name} is neither true nor false.")),
    };
    let annotations = Annotations {
        read_only: flag("readOnlyHint")?,
        destructive: flag("destructiveHint")?,
        open_world: flag("openWorldHint")?,
    };
    Ok((annotations, fields.get("title").and_then(Value::as_str).map(str::to_owned)))
}

/// The parameters, if they are a schema that can be kept, shown and checked.
fn parameters(value: Option<&Value>) -> Result<Value, String> {
    let Some(schema) = value else { return Err("It has no inputSchema.".to_owned()) };
    let Value::Object(fields) = schema else {
        return Err("Its inputSchema is no JSON object.".to_owned());
    };
    if fields.get("type").and_then(Value::as_str) != Some("object") {
        return Err("Its inputSchema does not describe an object (type: object).".to_owned());
    }
    check_schema(schema)?;
    let bytes = schema.to_string().len();
    if bytes > SCHEMA_MAX {
        return Err(format!(
            "Its inputSchema has {} kB, and {} kB are the most.",
            grouped(bytes / 1024),
            SCHEMA_MAX / 1024
        ));
    }
    Ok(schema.clone())
}

/// Whether the metadata lets models see the tool. What cannot be read hides it.
fn visibility(meta: Option<&Value>) -> Exposure {
    let hidden = |reason: &str| Exposure::HiddenByMetadata(reason.to_owned());
    let meta = match meta {
        None | Some(Value::Null) => return Exposure::Exposed,
        Some(Value::Object(meta)) => meta,
        Some(_) => return hidden("Its _meta is no JSON object."),
    };
    let visibility = match meta.get("ui") {
        None | Some(Value::Null) => return Exposure::Exposed,
        Some(Value::Object(ui)) => ui.get("visibility"),
        Some(_) => return hidden("Its _meta.ui is no JSON object."),
    };
    match visibility {
        None | Some(Value::Null) => Exposure::Exposed,
        Some(Value::Array(who)) if who.iter().all(|who| matches!(who.as_str(), Some("model" | "app"))) => {
            if who.iter().any(|who| who == "model") {
                Exposure::Exposed
            } else {
                hidden("Its server made it for apps and not for models.")
            }
        }
        Some(_) => hidden("Its _meta.ui.visibility cannot be read."),
    }
}

/// The members that are kept and compared.
fn told(fields: &Map<String, Value>) -> Value {
    let mut told = Map::new();
    for name in ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] {
        if let Some(value) = fields.get(name).filter(|value| !value.is_null()) {
            told.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(ui) = fields.get("_meta").and_then(|meta| meta.get("ui")) {
        told.insert("_meta".to_owned(), serde_json::json!({ "ui": ui }));
    }
    Value::Object(told)
}
