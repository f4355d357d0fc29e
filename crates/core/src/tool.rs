//! Tools: what a source declares, what the registry keeps, and what is shown.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::card::{Available, Held, ToolCard};
use crate::names::{InvalidName, short_hash, validate_tool_name};
use crate::search::Terms;
use crate::source::{Source, SourceKind};

/// What a tool does, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Runs programs.
    Execute,
    /// Talks to the network.
    Network,
    /// Talks to a person.
    Interact,
    /// Works on tools themselves.
    Meta,
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Read,
    /// State that can be changed back.
    Write,
    /// State that cannot be changed back.
    Destructive,
    /// Something outside of this installation.
    External,
    /// Nobody who is trusted said.
    Unknown,
}

/// Who may see a tool (L2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Models may.
    #[default]
    Exposed,
    /// Its author keeps it internal.
    Internal,
    /// An admin keeps it from models.
    HiddenByAdmin,
    /// Its metadata hides it from models, or cannot be read; why.
    HiddenByMetadata(String),
}

/// How a call reaches an upstream MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamCall {
    /// The generation of the server's connection from which the definition came.
    pub generation: u64,
    /// The most characters of a result that a model gets.
    pub max_result_chars: usize,
}

/// What a source declares about a tool. Checked by [`Tool::new`].
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    /// The name on the wire.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the tool does, for the model and for people.
    pub description: String,
    /// The arguments, as a JSON Schema of an object.
    pub parameters: Value,
    /// Where the tool comes from.
    pub source: Source,
    /// A built-in's group, or an MCP tool's server.
    pub service: String,
    /// The name within the service.
    pub method: String,
    /// Presets that the author put the tool in.
    pub toolsets: Vec<String>,
    /// Channels in which the tool must not be used (L3).
    pub unsafe_in: Vec<String>,
    /// Whether a model may see the tool at all (L2).
    pub exposure: Exposure,
    /// Whether the schema comes on demand (L6).
    pub defer: bool,
    /// Whether the tool works only inside a conversation (L4).
    pub needs_conversation: bool,
    /// What the tool does, in one word.
    pub kind: Kind,
    /// What a call changes.
    pub effect: Effect,
    /// Why the tool waits for an admin's decision, if it does (L5).
    pub held: Option<Held>,
    /// How a call reaches the server, for a tool of one.
    pub upstream: Option<UpstreamCall>,
}

/// Says why a definition cannot become a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// The name is not a tool name.
    Name(InvalidName),
    /// The parameters are not a JSON Schema of an object.
    Parameters {
        /// The tool's name.
        name: String,
    },
}

impl std::fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Parameters { name } => {
                write!(f, "the parameters of {name} are not a JSON Schema of type object")
            }
        }
    }
}

impl std::error::Error for DefinitionError {}

/// A registered tool. What decides visibility is private to this crate.
#[derive(Clone, Debug)]
pub struct Tool {
    name: Arc<str>,
    title: Option<String>,
    description: String,
    parameters: Value,
    source: Source,
    service: String,
    method: String,
    toolsets: Vec<String>,
    kind: Kind,
    effect: Effect,
    tokens: u32,
    spellings: [String; 4],
    definition: String,
    fingerprint: u64,
    terms: OnceLock<Terms>,
    upstream: Option<UpstreamCall>,
    pub(crate) unsafe_in: Vec<String>,
    pub(crate) exposure: Exposure,
    pub(crate) defer: bool,
    pub(crate) needs_conversation: bool,
    pub(crate) held: Option<Held>,
}

impl Tool {
    /// Checks a definition and derives what every request needs of it.
    pub fn new(definition: ToolDefinition) -> Result<Self, DefinitionError> {
        let ToolDefinition {
            name,
            title,
            description,
            parameters,
            source,
            service,
            method,
            toolsets,
            unsafe_in,
            exposure,
            defer,
            needs_conversation,
            kind,
            effect,
            held,
            upstream,
        } = definition;
        validate_tool_name(&name).map_err(DefinitionError::Name)?;
        if parameters.get("type").and_then(Value::as_str) != Some("object") {
            return Err(DefinitionError::Parameters { name });
        }
        let tokens = crate::tokens::estimate(&name, &description, &parameters);
        let spellings = [
            format!("{service}:{method}"),
            format!("{service}/{method}"),
            format!("{service}.{method}"),
            // A service with a slash has two spellings with a hyphen; the other one is made in `spellings`.
            format!("{}-{method}", service.replace('/', "_")),
        ];
        let definition = definition_hash(&name, title.as_deref(), &description, &parameters);
        let mut tool = Self {
            name: name.into(),
            title,
            description,
            parameters,
            source,
            service,
            method,
            toolsets,
            kind,
            effect,
            tokens,
            spellings,
            definition,
            fingerprint: 0,
            terms: OnceLock::new(),
            upstream,
            unsafe_in,
            exposure,
            defer,
            needs_conversation,
            held,
        };
        // The definition stands for what is long, and the card without it for all else that lists show.
        let mut hasher = DefaultHasher::new();
        (&tool.definition, serde_json::to_string(&tool.card(false)).unwrap_or_default()).hash(&mut hasher);
        tool.fingerprint = hasher.finish();
        Ok(tool)
    }

    /// The name on the wire.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// A name for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the tool does.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The arguments, as a JSON Schema of an object.
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// Where the tool comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// A built-in's group, or an MCP tool's server.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The name within the service; an MCP tool's name at its server.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// How a call reaches the upstream MCP server, if the tool is one's.
    pub fn upstream(&self) -> Option<UpstreamCall> {
        self.upstream
    }

    /// A hash of what a model is told of the tool. A tool that was loaded stays loaded until it changes.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// Tells tools apart that lists show differently. It holds for one build of the program.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What a search finds the tool by, worked out when it is first searched.
    pub(crate) fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::of(self))
    }

    /// Whether models may see the tool (L2).
    pub(crate) fn is_exposed(&self) -> bool {
        self.exposure == Exposure::Exposed
    }

    /// Whether it is the loader, by which a model asks for the schemas of deferred tools.
    pub fn is_loader(&self) -> bool {
        self.name.as_ref() == LOADER && self.source.kind() == SourceKind::Builtin
    }

    /// What a call changes. It describes and decides no visibility: the loop runs calls that only read side by side.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Estimated tokens of the tool in a request.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// Whether the author, or an admin, put the tool in this preset.
    pub(crate) fn is_in_preset(&self, preset: &str) -> bool {
        self.toolsets.iter().any(|name| name == preset)
    }

    /// Every way in which a pattern may spell the tool.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        let hyphenated = self.service.contains('/').then(|| format!("{}-{}", self.service, self.method));
        std::iter::once(self.name.as_ref())
            .chain(self.spellings.iter().map(String::as_str))
            .map(std::borrow::Cow::Borrowed)
            .chain(hyphenated.map(std::borrow::Cow::Owned))
    }

    /// The order of lists: kind of source, source, service, name.
    pub(crate) fn order(&self) -> (&Source, &str, &str) {
        (&self.source, &self.service, &self.name)
    }

    /// The tool as it is shown, without what is decided about it.
    pub(crate) fn card(&self, full: bool) -> ToolCard {
        ToolCard {
            name: self.name.to_string(),
            title: self.title.clone(),
            description: self.description.clone(),
            source: self.source.to_string(),
            service: self.service.clone(),
            method: self.method.clone(),
            parameters: full.then(|| self.parameters.clone()),
            toolsets: self.toolsets.clone(),
            unsafe_in: self.unsafe_in.clone(),
            defer: self.defer,
            needs_conversation: self.needs_conversation,
            kind: self.kind,
            effect: self.effect,
            disabled: None,
            held: self.held.clone(),
            available: Available { ok: true, reason: None },
            tokens: self.tokens,
            revision: 0,
        }
    }
}

/// The name of the loader.
pub const LOADER: &str = "tool_search";

/// SHA-256 of what a model is told of a tool, whatever the order of members in its schema; 32 hex digits of it.
fn definition_hash(name: &str, title: Option<&str>, description: &str, parameters: &Value) -> String {
    let mut whole = serde_json::json!([name, title, description, parameters]);
    whole.sort_all_objects();
    let mut hash = short_hash(&whole.to_string());
    hash.truncate(32);
    hash
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::{DefinitionError, Effect, Exposure, Kind, Source, Tool, ToolDefinition};

    /// A plain definition for tests.
    pub(crate) fn definition_of(service: &str, method: &str) -> ToolDefinition {
        ToolDefinition {
            name: method.to_owned(),
            title: None,
            description: format!("Does {method}."),
            parameters: json!({"type": "object"}),
            source: Source::builtin(),
            service: service.to_owned(),
            method: method.to_owned(),
            toolsets: Vec::new(),
            unsafe_in: Vec::new(),
            exposure: Exposure::Exposed,
            defer: false,
            needs_conversation: false,
            kind: Kind::Read,
            effect: Effect::Read,
            held: None,
            upstream: None,
        }
    }

    pub(crate) fn tool_of(service: &str, method: &str) -> Tool {
        Tool::new(definition_of(service, method)).unwrap()
    }

    #[test]
    fn parameters_must_describe_an_object() {
        for parameters in [json!({}), json!({"type": "string"}), json!(null), json!([])] {
            let definition = ToolDefinition { parameters, ..definition_of("files", "read") };
            assert_eq!(
                Tool::new(definition).unwrap_err(),
                DefinitionError::Parameters { name: "read".into() }
            );
        }
    }
}
