//! The web server and command line: routes, pages, assets, configuration, wiring.
//!
//! The adapters meet here: the store, the built-in functions and the web framework. What is decided, is decided in
//! `toolshelf-service` and `toolshelf-core`.

mod accept;
mod assets;
mod cli;
mod config;
mod http;
mod import;
mod pages;
mod secret_key;
mod serve;
mod state;

pub use cli::main;
pub use config::{Config, ConfigError, ProgramEnvironment};
pub use http::{ROUTES, Route, openapi, router};
pub use serve::{Server, start, start_with, start_with_models};
pub use state::AppState;
pub use toolshelf_core::ModelLimits;
pub use toolshelf_upstream::Timing;
