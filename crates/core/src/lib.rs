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

mod bitset;
mod compiled;
mod evaluate;
pub mod explain;
mod names;
mod pattern;
mod profile;
mod request;
mod resolve;
mod snapshot;
mod tokens;
mod tool;
mod turn;
mod verdict;

pub use compiled::Compiled;
pub use evaluate::evaluate;
pub use names::{InvalidName, TOOL_NAME_MAX, closest, is_invisible, validate_tool_name};
pub use pattern::{InvalidPattern, Pattern};
pub use profile::{InvalidProfileName, NewTools, PROFILE_NAME_MAX, Profile, fold_name, profile_name};
pub use request::{
    Approvals, Caller, Conversation, Identity, KeyIdentity, ModelLimits, Request, RequestError, Role, Scope,
    Toolset,
};
pub use resolve::{CatalogEntry, LimitKind, OverLimit, Refusal, Resolution, Tokens, authorize_call, resolve};
pub use snapshot::{Availability, Disable, ProfileTools, Snapshot, SnapshotError, ToolIndex};
pub use tokens::{METHOD as TOKEN_METHOD, estimate as estimate_tokens};
pub use tool::{
    Available, DefinitionError, Disabled, Effect, Held, HeldKind, Kind, NotRegistered, Source, SourceKind,
    Tool, ToolCard, ToolDefinition,
};
pub use turn::{InvalidOverride, InvalidPart, TurnOverride};
pub use verdict::{By, ByKind, Cause, Code, Fix, FixAction, FixWho, Layer, Outcome, Verdict};
