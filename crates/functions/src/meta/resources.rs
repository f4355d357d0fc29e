//! `list_mcp_resources` and `read_mcp_resource`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::{Kind, visible_line};
use toolshelf_runtime::{CallContext, Check, FunctionSpec, RegistryBuilder, ToolReturn, UpstreamQuery};

use super::{ask, ask_all};

/// The most entries that a list names.
const LISTED_MAX: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The name of one server; every server that can be asked, if absent.
    #[serde(default)]
    server: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The server's name.
    server: String,
    /// The resource's URI, as the list gives it.
    uri: String,
}

pub(super) fn register(builder: RegistryBuilder, check: &Check) -> RegistryBuilder {
    let list = FunctionSpec {
        title: Some("List MCP resources"),
        kind: Kind::Meta,
        defer: true,
        check: Some(Arc::clone(check)),
        ..FunctionSpec::new(
            "list_mcp_resources",
            "mcp",
            "Lists the resources of MCP servers, such as files or records, with their URIs. Only servers of which a tool \
             can be called here are asked.",
        )
    };
    let read = FunctionSpec {
        title: Some("Read an MCP resource"),
        kind: Kind::Read,
        defer: true,
        check: Some(Arc::clone(check)),
        ..FunctionSpec::new(
            "read_mcp_resource",
            "mcp",
            "Reads one resource of an MCP server by its URI, as the list of resources gives it.",
        )
    };
    builder
        .function(list, |context: CallContext, arguments: List| async move {
            let answers = ask_all(&context, arguments.server, UpstreamQuery::ListResources).await?;
            Ok(listed(answers, "resources", &["uri", "name", "description"]))
        })
        .function(read, |context: CallContext, arguments: Read| async move {
            let query = UpstreamQuery::ReadResource(arguments.uri);
            Ok(contents(&ask(&context, &arguments.server, query).await?))
        })
}

/// What servers list, a line for each entry.
pub(super) fn listed(
    answers: Vec<(String, Result<Value, String>)>,
    member: &str,
    fields: &[&str],
) -> ToolReturn {
    let (mut lines, mut entries, mut left_out) = (Vec::new(), Vec::new(), 0);
    for (server, answer) in answers {
        match answer {
            Err(reason) => lines.push(format!("{server}: cannot be asked. {}", visible_line(&reason, 200))),
            Ok(answer) => {
                for entry in answer[member].as_array().into_iter().flatten() {
                    if entries.len() >= LISTED_MAX {
                        left_out += 1;
                        continue;
                    }
                    let texts = fields.iter().filter_map(|field| entry[*field].as_str());
                    let texts: Vec<String> = texts.map(|text| visible_line(text, 200)).collect();
                    lines.push(format!("{server}: {}", texts.join(" | ")));
                    entries.push(json!({ "server": server, "entry": entry }));
                }
            }
        }
    }
    if lines.is_empty() {
        lines.push(format!("No server that can be asked here has {member}."));
    }
    if left_out > 0 {
        lines.push(format!("and {left_out} more; name one server"));
    }
    ToolReturn { text: lines.join("\n"), data: Some(json!({ member: entries })), ..ToolReturn::default() }
}

/// The texts of a resource; of what is no text, what it is.
fn contents(answer: &Value) -> ToolReturn {
    let parts = answer["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = parts
        .iter()
        .map(|part| {
            part["text"].as_str().map_or_else(
                || {
                    let kind = part["mimeType"].as_str().unwrap_or("of an unknown kind");
                    format!("[no text: {}]", visible_line(kind, 80))
                },
                str::to_owned,
            )
        })
        .collect();
    ToolReturn::from(texts.join("\n\n"))
}
