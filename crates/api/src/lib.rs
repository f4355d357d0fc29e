//! Shapes of the HTTP API, shared by server and browser.
//!
//! Paths are under `/api/v1`. Times are RFC 3339 in UTC. Unknown fields in requests are refused. The shapes of
//! tools and verdicts come from `toolshelf-core`, so that what the browser shows is what the resolver said.

mod account;
mod change;
mod conversations;
mod events;
mod functions_meta;
mod lists;
mod problem;
mod profiles;
mod resolve;
mod runs;
mod searches;
mod shell;
mod tool_changes;
mod tools;
mod upstream_imports;
mod upstreams;

pub use account::{
    ApiKey, CreateApiKey, CreateUser, CreatedApiKey, KeyScope, Login, Me, Setup, UpdateUser, User,
};
pub use change::Change;
pub use conversations::{
    ChosenToolset, Conversation, CreateConversation, CreateTurn, Message, MessageRole, StartedRun,
    ToolsetOrigin, UpdateConversation,
};
pub use events::{Event, EventKind};
pub use functions_meta::{FunctionsMeta, ImportedFunctions, ProfileLists};
pub use lists::{AuditEntry, Page};
pub use problem::{FieldError, Problem};
pub use profiles::{
    ActiveProfile, CloneProfile, CreateProfile, EditProfileTools, Profile, ProfileUse, ProfileVersion,
    RestoreProfile, StartProfile, StartsWith, ToolsetSummary, UpdateProfile,
};
pub use resolve::{HeavySource, OfferedTool, OverLimit, Resolve, ResolveTokens, Resolved};
pub use runs::{Model, NodeKind, Run, RunEvent, RunNode, RunState};
pub use searches::{FoundTool, FoundTools, SearchTools};
pub use shell::Boot;
pub use tool_changes::{
    AcceptChanges, ChangeDecision, DecideChange, DiffChange, DiffLine, ToolChange, ToolChangeKind,
};
pub use tools::{Call, CallResult, DisableTool};
pub use upstream_imports::{ImportMcpServers, ImportedMcpServer, ImportedMcpServers};
pub use upstreams::{
    ConfirmPassword, CreateMcpServer, Hold, McpServer, NewConnection, RejectedTool, ServerDetails,
    ServerLimits, ServerSettings, ServerState, ServerStatus, ShownConnection, ToolMarks, TriedConnection,
    UpdateMcpServer, UpdateServerSettings,
};

pub use toolshelf_core::{
    Available, By, ByKind, CatalogEntry, Cause, Code, Disabled, Effect, Fix, FixAction, FixWho, Held,
    HeldKind, Kind, LOADER, Layer, NewTools, NotRegistered, Outcome, Role, ToolCard as Tool, Verdict,
    explain, is_invisible,
};
