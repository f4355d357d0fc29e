//! What one message says about tools: the turn override, `tools_override` in the API.

use serde_json::{Map, Value};

use crate::names::closest;
use crate::request::{RequestError, Toolset};
use crate::snapshot::Snapshot;

/// What one message says about tools. A field that is present wins for this message only; an absent one comes from the
/// conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnOverride {
    /// Whether there are tools at all.
    pub(crate) tools: Option<bool>,
    /// The toolset of this message. A list is an exact choice, to which the web switch does not apply.
    pub(crate) toolset: Option<Toolset>,
    /// Whether the `web` group is added or taken away.
    pub(crate) web_search: Option<bool>,
    /// Exact names that are added to the selection.
    pub(crate) add: Vec<String>,
    /// Exact names that are taken out of it.
    pub(crate) remove: Vec<String>,
}

/// Says why a text is no turn override. Nothing was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidOverride {
    /// Parts of it are wrong.
    Parts(Vec<InvalidPart>),
    /// It names a toolset that is not there.
    Toolset(RequestError),
}

/// A part of an override that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPart {
    /// Where, as a JSON Pointer inside the override.
    pub pointer: String,
    /// What to do about it.
    pub message: String,
    /// Close names, when a tool's name is unknown.
    pub suggestions: Vec<String>,
}

/// The most names that a list may hold.
const NAMES_MAX: usize = 5_000;

impl TurnOverride {
    /// Reads an override: null, an object of known fields, or a list of exact names. Every part that is wrong is
    /// reported.
    pub fn parse(snapshot: &Snapshot, value: &Value) -> Result<Self, InvalidOverride> {
        let mut parts = Parts { snapshot, errors: Vec::new() };
        let read = match value {
            Value::Null => Self::default(),
            Value::Array(_) => {
                let list = parts.names("", value);
                Self { toolset: Some(Toolset::List(list)), ..Self::default() }
            }
            Value::Object(fields) => parts.fields(fields)?,
            _ => {
                parts.wrong("", "Use null, a list of tool names, or an object.");
                Self::default()
            }
        };
        if parts.errors.is_empty() { Ok(read) } else { Err(InvalidOverride::Parts(parts.errors)) }
    }

    /// The toolset that the message names by itself.
    pub fn toolset(&self) -> Option<&Toolset> {
        self.toolset.as_ref()
    }

    /// Whether it is a list of exact names.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.toolset, Some(Toolset::List(_)))
    }

    /// Whether there are tools, as far as the message says. A list is a choice of tools, so it turns them on.
    pub(crate) fn tools(&self) -> Option<bool> {
        self.tools.or(self.is_list().then_some(true))
    }
}

struct Parts<'a> {
    snapshot: &'a Snapshot,
    errors: Vec<InvalidPart>,
}

impl Parts<'_> {
    fn wrong(&mut self, pointer: &str, message: &str) {
        let (pointer, message) = (pointer.to_owned(), message.to_owned());
        self.errors.push(InvalidPart { pointer, message, suggestions: Vec::new() });
    }

    fn fields(&mut self, fields: &Map<String, Value>) -> Result<TurnOverride, InvalidOverride> {
        let mut read = TurnOverride::default();
        for (name, value) in fields {
            match name.as_str() {
                "tools" => read.tools = self.flag("/tools", value),
                "web_search" => read.web_search = self.flag("/web_search", value),
                "profile" => match value {
                    Value::String(name) => {
                        let toolset =
                            Toolset::named(self.snapshot, name).map_err(InvalidOverride::Toolset)?;
                        read.toolset = Some(toolset);
                    }
                    _ => self.wrong("/profile", "Use the name of a toolset."),
                },
                "add" => read.add = self.names("/add", value),
                "remove" => read.remove = self.names("/remove", value),
                "bundles" => self.wrong("/bundles", "There are no bundles here yet. Leave this field out."),
                _ => {
                    // A JSON Pointer spells these two characters in its own way.
                    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.wrong(
                        &pointer,
                        "There is no such field. Use tools, profile, web_search, add or remove.",
                    );
                }
            }
        }
        for (position, name) in read.add.iter().enumerate() {
            if read.remove.contains(name) {
                self.wrong(
                    &format!("/add/{position}"),
                    "This tool is in remove as well. Name it in one of the two.",
                );
            }
        }
        Ok(read)
    }

    /// A field that is present says something: null is no answer.
    fn flag(&mut self, pointer: &str, value: &Value) -> Option<bool> {
        if !value.is_boolean() {
            self.wrong(pointer, "Use true or false, or leave the field out.");
        }
        value.as_bool()
    }

    fn names(&mut self, pointer: &str, value: &Value) -> Vec<String> {
        let Value::Array(values) = value else {
            self.wrong(pointer, "Use a list of tool names.");
            return Vec::new();
        };
        if values.len() > NAMES_MAX {
            self.wrong(pointer, "Use at most 5,000 names.");
            return Vec::new();
        }
        let mut names = Vec::with_capacity(values.len());
        for (position, value) in values.iter().enumerate() {
            let pointer = format!("{pointer}/{position}");
            match value {
                Value::String(name) if self.snapshot.find(name).is_some() => names.push(name.clone()),
                Value::String(name) => {
                    let suggestions = closest(name, self.snapshot.catalog_names());
                    let message = format!("There is no tool named {name:?}.");
                    self.errors.push(InvalidPart { pointer, message, suggestions });
                }
                _ => self.wrong(&pointer, "Use the name of a tool."),
            }
        }
        names
    }
}
