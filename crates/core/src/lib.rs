//! Decides which tools a request may see, and says why.
//!
//! Everything in this crate is pure: no input or output, no clock, no async, no lock. It compiles for
//! `wasm32-unknown-unknown`, so the browser shows verdicts with the same code that made them.
//!
//! The way through: a [`Snapshot`] holds what is registered and decided; a [`Request`] says who asks and in
//! which scope; [`Compiled`] is the request translated to this snapshot; [`evaluate`] gives the [`Verdict`] of
//! one tool; [`resolve`] is `evaluate` over all tools plus the list; [`authorize_call`] is `evaluate` for the
//! one tool that is about to run. The fields that decide visibility are private to this crate, so the compiler
//! proves that nothing else reads them.

mod availability;
mod bitset;
mod card;
mod compiled;
mod evaluate;
pub mod explain;
mod mcp;
mod names;
mod pattern;
mod profile;
mod request;
mod resolve;
mod schema;
mod search;
mod snapshot;
mod source;
mod tokens;
mod tool;
mod turn;
mod verdict;

pub use availability::{Availability, Unavailable};
pub use card::{Available, Disabled, Held, HeldKind, NotRegistered, ToolCard};
pub use compiled::Compiled;
pub use evaluate::evaluate;
pub use mcp::{McpDefinition, McpMarks, RejectedDefinition};
pub use names::{
    InvalidName, SERVER_NAME_MAX, TOOL_NAME_MAX, closest, is_invisible, is_server_name, mcp_tool_name,
    validate_tool_name, visible_line, visible_text,
};
pub use pattern::{InvalidPattern, Pattern};
pub use profile::{InvalidProfileName, NewTools, PROFILE_NAME_MAX, Profile, fold_name, profile_name};
pub use request::{
    Approvals, Caller, Conversation, Identity, KeyIdentity, Loaded, ModelLimits, Request, RequestError, Role,
    Scope, Toolset, merge_loaded,
};
pub use resolve::{
    Authorized, CatalogEntry, LimitKind, OverLimit, Refusal, Resolution, Tokens, authorize_call,
    reachable_upstreams, resolve,
};
pub use search::{FOUND_MAX, Found, FoundTool, QUERIES_MAX, Search, search};
pub use snapshot::{Disable, ProfileTools, ServerTools, Snapshot, SnapshotError, ToolIndex};
pub use source::{Source, SourceKind};
pub use tokens::{METHOD as TOKEN_METHOD, estimate as estimate_tokens};
pub use tool::{DefinitionError, Effect, Exposure, Kind, LOADER, Tool, ToolDefinition, UpstreamCall};
pub use turn::{InvalidOverride, InvalidPart, TurnOverride};
pub use verdict::{By, ByKind, Cause, Code, Fix, FixAction, FixWho, Layer, Outcome, Verdict};
