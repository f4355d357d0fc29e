//! The built-in functions.
//!
//! [`register`] adds them all to a registry. Each has its own file: its arguments, what it says of itself, and its
//! body. What they share stands beside them: [`Workspaces`] is the only way to a file, [`WebClient`] the only way to
//! the network.

mod blocking;
mod files;
mod planning;
#[cfg(test)]
mod testing;
mod units;
mod web;
mod workspace;

use std::sync::Arc;

use toolshelf_runtime::store::Store;
use toolshelf_runtime::{Clock, RegistryBuilder};

pub use web::{WebClient, WebConfig, WebError};
pub use workspace::{WorkspaceError, Workspaces};

/// What the built-in functions need of the outside.
pub struct Builtins {
    /// Where users' files are.
    pub workspaces: Workspaces,
    /// Fetches pages.
    pub web: WebClient,
    /// Keeps todo lists.
    pub store: Arc<dyn Store>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Registers all built-in functions.
#[must_use]
pub fn register(builder: RegistryBuilder, builtins: Builtins) -> RegistryBuilder {
    let Builtins { workspaces, web, store, clock } = builtins;
    let builder = files::register(builder, &workspaces);
    let builder = web::register(builder, web);
    planning::register(builder, store, clock)
}
