//! Functions on the web, and the client that they use.

mod address;
mod charset;
mod client;
mod config;
mod fetch;
mod html;
mod resolver;
#[cfg(test)]
mod tests;

use toolshelf_runtime::RegistryBuilder;

pub use client::WebClient;
pub use config::{WebConfig, WebError};

/// Registers the functions on the web.
pub(crate) fn register(builder: RegistryBuilder, web: WebClient) -> RegistryBuilder {
    fetch::register(builder, web)
}
