//! Upstream MCP servers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolshelf_core::{Effect, Kind};

use crate::change::Change;

/// An upstream MCP server. How to reach it, its log and its instructions are shown to admins only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpServer {
    /// Its name: `[a-z][a-z0-9-]{0,30}`. Its tools' names begin with it.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How to reach it; absent for whoever is no admin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ShownConnection>,
    /// Whether it is connected at all.
    pub enabled: bool,
    /// What admins say about it and its tools.
    #[serde(flatten)]
    pub settings: ServerSettings,
    /// Whether it answers.
    pub status: ServerStatus,
    /// How many tools it has in the registry.
    pub tool_count: u64,
    /// Tools of its list that did not enter the registry, and why.
    pub rejected: Vec<RejectedTool>,
    /// How many of its tools wait for an admin's decision.
    pub change_count: u64,
    /// What it says of itself, for admins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<ServerDetails>,
    /// The last lines of its program's standard error, oldest first; for admins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// Grows with each change that an admin makes.
    pub revision: u64,
    /// When it was added.
    pub created_at: String,
    /// When an admin last changed it.
    pub updated_at: String,
}

/// How to reach a server, without values of variables and headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum ShownConnection {
    /// A program on the server's machine.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables: whether the value can be opened. If not, enter it again.
        env: BTreeMap<String, bool>,
    },
    /// Streamable HTTP.
    Http {
        /// The address of the endpoint.
        url: String,
        /// Its headers: whether the value can be opened. If not, enter it again.
        headers: BTreeMap<String, bool>,
    },
}

/// What admins say about a server and its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerSettings {
    /// Whether its tools' schemas come on demand (L6).
    pub defer: bool,
    /// Whether models may see its tools at all (L2).
    pub expose: bool,
    /// Channels in which its tools are not used (L3).
    pub unsafe_in: Vec<String>,
    /// Which of its tools wait for an admin.
    pub hold: Hold,
    /// Whether what it says about effects of its tools counts.
    pub trust_annotations: bool,
    /// How long and how much.
    pub limits: ServerLimits,
    /// What differs for single tools, by their names at the server.
    pub tools: BTreeMap<String, ToolMarks>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            defer: true,
            expose: true,
            unsafe_in: Vec::new(),
            hold: Hold::default(),
            trust_annotations: false,
            limits: ServerLimits::default(),
            tools: BTreeMap::new(),
        }
    }
}

/// Which tools of a server wait until an admin accepts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// None.
    Off,
    /// Those whose definition changed.
    #[default]
    Changed,
    /// Those too that were never seen before.
    NewAndChanged,
}

/// How long and how much a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServerLimits {
    /// How long one call may take, in seconds: 1 to 3,600.
    pub call_timeout_seconds: u32,
    /// The most characters of a result that a model gets: 1,000 to 1,000,000.
    pub max_result_chars: u32,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self { call_timeout_seconds: 60, max_result_chars: 30_000 }
    }
}

/// What differs for one tool. What is absent is as the server's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ToolMarks {
    /// Whether models may see it at all (L2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expose: Option<bool>,
    /// Whether its schema comes on demand (L6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer: Option<bool>,
    /// Channels in which it is not used (L3), in place of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsafe_in: Option<Vec<String>>,
    /// Presets that it is put in, such as `web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolsets: Option<Vec<String>>,
    /// What it does, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What a call changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// Whether a server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerStatus {
    /// Whether it does.
    pub state: ServerState,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it is as it is.
    pub since: String,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<String>,
}

/// Whether a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// A connection is being made for the first time.
    Connecting,
    /// It answers.
    Ready,
    /// It cannot be reached or does not answer.
    Down,
    /// An admin switched it off.
    Disabled,
}

/// What a server says of itself. It is data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerDetails {
    /// Its name, as it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of the protocol that is spoken with it.
    pub protocol: String,
    /// What it says to models. It is never sent to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
}

/// A tool of a server's list that did not enter the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RejectedTool {
    /// Its name, as far as it has one.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// How to reach a server, with values.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "transport", rename_all = "snake_case", deny_unknown_fields)]
pub enum NewConnection {
    /// A program on the server's machine.
    Stdio {
        /// The program: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Its variables beside `PATH`, `HOME` and `LANG`. In a change, null keeps the value that is there.
        #[serde(default)]
        env: BTreeMap<String, Option<String>>,
    },
    /// Streamable HTTP.
    Http {
        /// The address of the endpoint.
        url: String,
        /// Headers of each request. In a change, null keeps the value that is there.
        #[serde(default)]
        headers: BTreeMap<String, Option<String>>,
    },
}

/// Adds a server.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateMcpServer {
    /// Its name: `[a-z][a-z0-9-]{0,30}`, and no name or group of a built-in tool.
    pub name: String,
    /// Its name for people; the name, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How to reach it.
    pub connection: NewConnection,
    /// Whether to connect it; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What to say about it and its tools.
    #[serde(default)]
    pub settings: UpdateServerSettings,
}

/// Changes a server. What is absent stays.
#[derive(Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UpdateMcpServer {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How to reach it. All its tools count as changed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<NewConnection>,
    /// Whether it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What to say about it and its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<UpdateServerSettings>,
}

/// What to change of what admins say about a server and its tools. What is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UpdateServerSettings {
    /// Whether its tools' schemas come on demand (L6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer: Option<bool>,
    /// Whether models may see its tools at all (L2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expose: Option<bool>,
    /// Channels in which its tools are not used (L3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsafe_in: Option<Vec<String>>,
    /// Which of its tools wait for an admin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Whether what it says about effects of its tools counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_annotations: Option<bool>,
    /// How long and how much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ServerLimits>,
    /// What differs for single tools: each named tool is set to what is given, null takes it back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub tools: BTreeMap<String, Change<ToolMarks>>,
}

/// What a trial of a connection came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TriedConnection {
    /// Whether it answers.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the server says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<ServerDetails>,
    /// The names that its tools would have.
    pub tools: Vec<String>,
    /// Tools that would not enter the registry, and why.
    pub rejected: Vec<RejectedTool>,
    /// The last lines of its program's standard error.
    pub log: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// Confirms the password, so that for ten minutes the session may change what runs on the server's machine.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmPassword {
    /// The password.
    pub password: String,
}
