//! The registry, the one call pipeline, and the ports to the outside.
//!
//! A port is a trait that an adapter implements: [`store::Store`] for the database, [`Clock`] and [`Random`] for
//! what must be repeatable in tests. [`Registry`] holds the functions and the snapshot, and [`Registry::invoke`] is
//! the only way in which a tool runs. [`Model`] is the port to models, and [`run_turn`] the loop from a message to its
//! answer.

mod catalog;
mod environment;
mod function;
mod model;
mod output;
mod registry;
mod snapshot_cell;
pub mod store;
mod turn;
mod upstream;

pub use environment::{Clock, Environment, Random, SystemClock, SystemRandom};
pub use function::{CallContext, Check, Function, FunctionError, FunctionSpec};
pub use model::{Model, ModelError, ModelInfo, Piece, Prompt, Round, Said, ToolCall, ToolResult};
pub use output::{DEFAULT_MAX_CHARS, ToolReturn, cap, thousands};
pub use registry::{ArgumentError, CallRefused, Invoked, Registry, RegistryBuilder, RegistryError};
pub use snapshot_cell::{SnapshotCell, Unready};
pub use turn::{Begin, End, TurnError, TurnLog, run_turn};
pub use upstream::{
    Connection, NoUpstreams, Report, ServerInfo, Trial, UpstreamError, UpstreamQuery, UpstreamReports,
    UpstreamSpec, Upstreams,
};
