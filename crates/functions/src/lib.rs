//! The built-in functions.
//!
//! [`register`] adds them all to a registry. Each has its own file: its arguments, what it says of itself, and its
//! body. What they share stands beside them: [`Workspaces`] is the only way to a file, [`WebClient`] the only way to
//! the network.

mod blocking;
mod files;
mod meta;
mod planning;
#[cfg(test)]
mod testing;
mod units;
mod web;
mod workspace;

use std::sync::Arc;

use toolshelf_runtime::store::Store;
use toolshelf_runtime::{Clock, RegistryBuilder, Upstreams};

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
    /// Upstream MCP servers.
    pub upstreams: Arc<dyn Upstreams>,
}

/// Registers all built-in functions.
#[must_use]
pub fn register(builder: RegistryBuilder, builtins: Builtins) -> RegistryBuilder {
    let Builtins { workspaces, web, store, clock, upstreams } = builtins;
    let builder = files::register(builder, &workspaces);
    let builder = web::register(builder, web);
    let builder = meta::register(builder, &upstreams);
    planning::register(builder, store, clock)
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;

    /// The built-in functions with their service.
    const FUNCTIONS: [(&str, &str); 12] = [
        ("read", "files"),
        ("list", "files"),
        ("glob", "files"),
        ("grep", "files"),
        ("web_fetch", "web"),
        ("todo_create", "planning"),
        ("todo_list", "planning"),
        ("tool_search", "meta"),
        ("list_mcp_resources", "mcp"),
        ("read_mcp_resource", "mcp"),
        ("list_mcp_prompts", "mcp"),
        ("get_mcp_prompt", "mcp"),
    ];

    #[test]
    fn every_function_says_what_it_does_and_takes() {
        let bench = Bench::new();
        let snapshot = bench.registry().snapshot().load().unwrap();
        assert_eq!(snapshot.len(), FUNCTIONS.len());
        for (name, service) in FUNCTIONS {
            let tool = snapshot.tool(snapshot.find(name).unwrap());
            assert_eq!(tool.service(), service);
            // A model reads this with every request, so it is complete and not long.
            let words = tool.description().split_whitespace().count();
            assert!((10..90).contains(&words) && tool.description().ends_with('.'), "{name}: {words} words");
            assert!(!tool.description().contains("  "), "{name}");
            assert_eq!(tool.parameters()["additionalProperties"], false, "{name}");
            for (argument, schema) in tool.parameters()["properties"].as_object().unwrap() {
                let description = schema["description"].as_str().unwrap_or_default();
                assert!(description.ends_with('.'), "{name}.{argument}: {description:?}");
                let is_number = schema["type"] == "integer";
                assert!(!is_number || schema["minimum"].is_number(), "{name}.{argument} has no bounds");
            }
        }
    }
}
