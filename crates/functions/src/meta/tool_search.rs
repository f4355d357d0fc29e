//! `tool_search`, the loader: finds tools whose parameters were not sent, and loads them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::{FOUND_MAX, Kind, LOADER, QUERIES_MAX, Search, search};
use toolshelf_runtime::{CallContext, FunctionError, FunctionSpec, RegistryBuilder, ToolReturn, thousands};

/// The most characters of a result. A tool that does not fit is named, and asked for alone.
const BUDGET: usize = 100_000;

/// How many tools are found unless the call says otherwise.
const LIMIT: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What the tools should do, in a few words each; several short texts find more than one long one. A word after a plus
    /// sign must be in the tool's name.
    #[serde(default)]
    #[schemars(length(max = 10), inner(length(max = 500)))]
    queries: Vec<String>,
    /// Exact names of tools to load, as a list or as one text with commas.
    #[serde(default)]
    select: Option<Select>,
    /// The most tools that the queries find.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Select {
    /// One text with commas.
    Text(String),
    /// A list.
    List(#[schemars(length(max = 64))] Vec<String>),
}

fn limit() -> usize {
    LIMIT
}

pub(super) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    let spec = FunctionSpec {
        title: Some("Search tools"),
        kind: Kind::Meta,
        max_result_chars: BUDGET + 10_000,
        timeout: Duration::from_secs(10),
        ..FunctionSpec::new(
            LOADER,
            "meta",
            "Finds tools whose parameters were not sent yet, by exact names or by what they should do, and loads them: \
             from then on they can be called like all others. Use it before you call a tool that only the catalog names.",
        )
    };
    builder
        .function(spec, |context: CallContext, arguments: Arguments| async move { find(&context, arguments) })
}

fn find(context: &CallContext, arguments: Arguments) -> Result<ToolReturn, FunctionError> {
    let select = match arguments.select {
        None => Vec::new(),
        Some(Select::List(names)) => names,
        Some(Select::Text(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let select: Vec<String> = select.into_iter().filter(|name| !name.is_empty()).collect();
    if arguments.queries.is_empty() && select.is_empty() {
        return Err(FunctionError::new("Say what to look for in queries, or name tools in select."));
    }
    let queries = arguments.queries.into_iter().take(QUERIES_MAX).collect();
    let wanted = Search::read(queries, select, arguments.limit.min(FOUND_MAX));
    let found = search(&context.snapshot, &context.request, &wanted)
        .map_err(|error| FunctionError::new(error.to_string()))?;

    let (mut text, mut loads, mut tools, mut left_out) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for found in &found.tools {
        let tool = context.snapshot.tool(found.index);
        let mut shown = json!({
            "name": tool.name(),
            "description": tool.description(),
            "parameters": tool.parameters(),
        });
        if found.already_available {
            shown["already_available"] = Value::Bool(true);
        }
        let line = shown.to_string();
        if text.len() + line.len() > BUDGET && !tools.is_empty() {
            left_out.push(tool.name().to_string());
            continue;
        }
        text.push_str(&line);
        text.push('\n');
        tools.push(shown);
        if !found.already_available {
            loads.push(Arc::clone(tool.name()));
        }
    }
    if tools.is_empty() {
        text.push_str("No tool that can be called here fits. Try other words, fewer of them, or a name from the catalog.\n");
    }
    if !left_out.is_empty() {
        let _ = writeln!(
            text,
            "Not loaded, because more than {} characters were found; ask for them alone: {}",
            thousands(BUDGET as u64),
            left_out.join(", ")
        );
    }
    if !found.unknown.is_empty() {
        let _ = writeln!(text, "No such tool can be called here: {}", found.unknown.join(", "));
    }
    let data = json!({ "tools": tools, "unknown": found.unknown, "left_out": left_out });
    Ok(ToolReturn { text: text.trim_end().to_owned(), data: Some(data), loads, is_error: false })
}
