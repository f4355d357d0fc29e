//! Functions about tools themselves and about the servers that tools come from.

mod prompts;
mod resources;
mod tool_search;

use std::sync::Arc;

use toolshelf_core::{reachable_upstreams, resolve};
use toolshelf_runtime::{CallContext, Check, FunctionError, RegistryBuilder, UpstreamQuery, Upstreams};

/// Registers them.
pub(crate) fn register(builder: RegistryBuilder, upstreams: &Arc<dyn Upstreams>) -> RegistryBuilder {
    let builder = tool_search::register(builder);
    let builder = resources::register(builder, &needs_servers(upstreams));
    prompts::register(builder, &needs_servers(upstreams))
}

/// Whether there is any server to ask.
fn needs_servers(upstreams: &Arc<dyn Upstreams>) -> Check {
    let upstreams = Arc::clone(upstreams);
    Arc::new(move || if upstreams.is_empty() { Err("no MCP server is connected".to_owned()) } else { Ok(()) })
}

/// The servers that the request reaches: those of which it could call a tool.
fn servers(context: &CallContext) -> Result<Vec<String>, FunctionError> {
    let resolution = resolve(&context.snapshot, &context.request)
        .map_err(|error| FunctionError::new(error.to_string()))?;
    Ok(reachable_upstreams(&context.snapshot, &resolution).into_iter().map(str::to_owned).collect())
}

/// Asks one server, if the request reaches it. A server that it does not reach answers like one that does not exist.
async fn ask(
    context: &CallContext,
    server: &str,
    query: UpstreamQuery,
) -> Result<serde_json::Value, FunctionError> {
    let servers = servers(context)?;
    if !servers.iter().any(|known| known == server) {
        let known = if servers.is_empty() { "none".to_owned() } else { servers.join(", ") };
        return Err(FunctionError::new(format!(
            "There is no server named {server:?} here. Servers that can be asked: {known}."
        )));
    }
    context
        .upstreams
        .query(server, query)
        .await
        .map_err(|error| FunctionError::new(format!("{server}: {error}")))
}

/// Asks every server that the request reaches, or the one that is named, side by side; what each says, or why it does not.
async fn ask_all(
    context: &CallContext,
    server: Option<String>,
    query: UpstreamQuery,
) -> Result<Vec<(String, Result<serde_json::Value, String>)>, FunctionError> {
    if let Some(server) = server {
        let answer = ask(context, &server, query).await?;
        return Ok(vec![(server, Ok(answer))]);
    }
    let answers = servers(context)?.into_iter().map(|server| {
        let query = query.clone();
        async move {
            let answer = context.upstreams.query(&server, query).await.map_err(|error| error.to_string());
            (server, answer)
        }
    });
    Ok(futures_util::future::join_all(answers).await)
}
