//! Importing servers from an `mcp.json`, in the shapes of Claude Desktop, Cursor and VS Code.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};
use toolshelf_api::{
    CreateMcpServer, FieldError, ImportMcpServers, ImportedMcpServer, ImportedMcpServers, NewConnection,
    UpdateServerSettings,
};
use toolshelf_core::{SERVER_NAME_MAX, is_server_name, visible_line};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;

use super::connection::{Complete, Stored, escaped};
use super::edits::check_name;

/// The longest document, in bytes.
const DOCUMENT_MAX: usize = 1_000_000;
/// The most servers of a document.
const SERVERS_MAX: usize = 200;

/// A server of a document, read.
struct Found {
    key: String,
    name: String,
    connection: Result<NewConnection, String>,
    enabled: bool,
    needs: BTreeSet<String>,
    ignored: Vec<String>,
}

impl Service {
    /// What a document holds; with `confirm`, its servers are added, all that are named or none.
    pub async fn import_mcp_servers(
        &self,
        actor: &Actor,
        import: ImportMcpServers,
    ) -> Result<ImportedMcpServers, ServiceError> {
        let document = parse(&import.document)?;
        let members = servers_of(&document)?;
        let snapshot = self.registry().snapshot().load()?;
        let taken: HashSet<String> =
            self.store().read().await?.list_mcp_servers().await?.into_iter().map(|row| row.name).collect();
        let mut given = HashSet::new();
        let mut found = Vec::with_capacity(members.len());
        for (key, value) in members {
            let mut server = read(key, value, &import.values);
            server.name = free_name(&server.name, &given);
            given.insert(server.name.clone());
            found.push(server);
        }
        if let Some(only) = &import.only {
            for (position, key) in only.iter().enumerate() {
                if !found.iter().any(|server| server.key == *key) {
                    return Err(ServiceError::invalid(
                        &format!("/only/{position}"),
                        "The document has no server of this name.",
                    ));
                }
            }
        }
        let problem = |server: &Found| {
            if taken.contains(&server.name) {
                return Some(format!("There is a server named {} already.", server.name));
            }
            match &server.connection {
                Err(reason) => Some(reason.clone()),
                Ok(connection) => check_name(&snapshot, &server.name).err().or_else(|| {
                    let wrong = Complete::check(connection.clone(), None, "").err()?;
                    let sentences: Vec<String> = wrong
                        .into_iter()
                        .map(|wrong| format!("{}: {}", wrong.pointer, wrong.message))
                        .collect();
                    Some(sentences.join(" "))
                }),
            }
        };
        let shown: Vec<ImportedMcpServer> = found
            .iter()
            .map(|server| ImportedMcpServer {
                key: server.key.clone(),
                name: server.name.clone(),
                connection: server.connection.as_ref().ok().map(shown),
                enabled: server.enabled,
                needs: server.needs.iter().cloned().collect(),
                ignored: server.ignored.clone(),
                problem: problem(server),
            })
            .collect();
        if !import.confirm {
            return Ok(ImportedMcpServers { servers: shown, added: false });
        }
        let wanted = |key: &str| import.only.as_ref().is_none_or(|only| only.iter().any(|name| name == key));
        let errors: Vec<FieldError> = shown
            .iter()
            .filter(|server| wanted(&server.key))
            .filter_map(|server| {
                let message = server.problem.clone().or_else(|| {
                    let needs = server.needs.join(", ");
                    (!needs.is_empty()).then(|| format!("It needs values for {needs}."))
                })?;
                Some(FieldError { pointer: format!("/document/{}", escaped(&server.key)), message })
            })
            .collect();
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        let mut prepared = Vec::new();
        for server in found.into_iter().filter(|server| wanted(&server.key)) {
            let Ok(connection) = server.connection else { continue };
            let title = visible_line(&server.key, 100);
            let new = CreateMcpServer {
                title: (!title.is_empty()).then_some(title),
                name: server.name,
                connection,
                enabled: Some(server.enabled),
                settings: UpdateServerSettings::default(),
            };
            prepared.push(self.prepare(actor, new, &format!("/document/{}", escaped(&server.key))).await?);
        }
        if prepared.is_empty() {
            return Err(ServiceError::invalid("/only", "Choose at least one server."));
        }
        self.add(actor, prepared).await?;
        let servers = shown.into_iter().filter(|server| wanted(&server.key)).collect();
        Ok(ImportedMcpServers { servers, added: true })
    }
}

fn wrong(message: impl Into<String>) -> ServiceError {
    ServiceError::invalid("/document", message)
}

/// The document as an object: its text, in which comments and trailing commas may stand, or itself.
fn parse(document: &Value) -> Result<Map<String, Value>, ServiceError> {
    let value = match document {
        Value::String(text) => {
            if text.len() > DOCUMENT_MAX {
                return Err(wrong("The document is longer than 1 MB."));
            }
            if nests_too_deep(text) {
                return Err(wrong("The document nests deeper than 100 levels."));
            }
            let parsed = jsonc_parser::parse_to_serde_value::<Value>(text, &ParseOptions::default());
            parsed.map_err(|error| wrong(format!("The document is no JSON: {error}.")))?
        }
        other => other.clone(),
    };
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(wrong("The document must be a JSON object, such as {\"mcpServers\": {…}}.")),
    }
}

/// Whether brackets open deeper than any such document has them. The parser calls itself for each, so it must not see more.
fn nests_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 100
    })
}

/// The servers of a document: its `mcpServers` (Claude Desktop, Cursor) or `servers` (VS Code), or the object itself if all
/// its members look like servers.
fn servers_of(document: &Map<String, Value>) -> Result<Vec<(&String, &Value)>, ServiceError> {
    let nested = document.get("mcp").and_then(Value::as_object);
    let member = ["mcpServers", "servers"]
        .into_iter()
        .find_map(|name| document.get(name).or_else(|| nested.and_then(|nested| nested.get(name))));
    let servers = match member {
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(wrong("Its servers must be an object of names and servers.")),
        None => {
            let looks = |value: &Value| value.get("command").is_some() || value.get("url").is_some();
            if document.is_empty() || !document.values().all(looks) {
                return Err(wrong("The document has neither mcpServers nor servers."));
            }
            document
        }
    };
    if servers.is_empty() {
        return Err(wrong("The document names no server."));
    }
    if servers.len() > SERVERS_MAX {
        return Err(wrong(format!(
            "The document has {} servers, and {SERVERS_MAX} are the most.",
            servers.len()
        )));
    }
    Ok(servers.iter().collect())
}

/// Reads one server. What cannot be read is its problem and not the document's.
fn read(key: &str, value: &Value, values: &BTreeMap<String, String>) -> Found {
    let mut found = Found {
        key: key.to_owned(),
        name: name_of(key),
        connection: Err(String::new()),
        enabled: true,
        needs: BTreeSet::new(),
        ignored: Vec::new(),
    };
    let Value::Object(fields) = value else {
        found.connection = Err("It is no JSON object.".to_owned());
        return found;
    };
    let off = fields.get("disabled").and_then(Value::as_bool) == Some(true)
        || fields.get("enabled").and_then(Value::as_bool) == Some(false);
    found.enabled = !off;
    let known =
        ["type", "transport", "command", "args", "env", "url", "serverUrl", "headers", "disabled", "enabled"];
    found.ignored = fields
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .map(|name| visible_line(name, 60))
        .collect();
    let mut filler = Filler { values, needs: &mut found.needs };
    found.connection = connection(fields, &mut filler);
    found
}

fn connection(fields: &Map<String, Value>, filler: &mut Filler<'_>) -> Result<NewConnection, String> {
    let kind = fields.get("type").or_else(|| fields.get("transport")).and_then(Value::as_str);
    let url = fields.get("url").or_else(|| fields.get("serverUrl"));
    match (kind, fields.get("command"), url) {
        (Some("sse"), ..) => {
            Err("It uses the transport SSE, which the protocol has given up. Use the server's address for \
                                  Streamable HTTP."
                .to_owned())
        }
        (Some(kind), ..)
            if !matches!(
                kind,
                "stdio" | "http" | "streamable-http" | "streamableHttp" | "streamable_http"
            ) =>
        {
            Err(format!("Its transport {:?} is not known.", visible_line(kind, 40)))
        }
        (_, Some(_), Some(_)) => Err("It has a command and an address. Keep one of them.".to_owned()),
        (_, Some(Value::String(command)), None) => Ok(NewConnection::Stdio {
            command: filler.fill(command),
            args: texts(fields.get("args"), filler)?,
            env: pairs(fields.get("env"), "env", filler)?,
        }),
        (_, None, Some(Value::String(url))) => Ok(NewConnection::Http {
            url: filler.fill(url),
            headers: pairs(fields.get("headers"), "headers", filler)?,
        }),
        (_, Some(_), None) => Err("Its command is no text.".to_owned()),
        (_, None, Some(_)) => Err("Its address is no text.".to_owned()),
        (_, None, None) => Err("It has neither a command nor an address.".to_owned()),
    }
}

fn texts(value: Option<&Value>, filler: &mut Filler<'_>) -> Result<Vec<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                item.as_str().map(|text| filler.fill(text)).ok_or("An argument is no text.".to_owned())
            })
            .collect(),
        Some(_) => Err("Its args are no list.".to_owned()),
    }
}

fn pairs(
    value: Option<&Value>,
    member: &str,
    filler: &mut Filler<'_>,
) -> Result<BTreeMap<String, Option<String>>, String> {
    match value {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => Ok((name.clone(), Some(filler.fill(text)))),
                Value::Number(number) => Ok((name.clone(), Some(number.to_string()))),
                Value::Bool(flag) => Ok((name.clone(), Some(flag.to_string()))),
                _ => Err(format!("The value of {} in {member} is no text.", visible_line(name, 60))),
            })
            .collect(),
        Some(_) => Err(format!("Its {member} are no object.")),
    }
}

/// Puts values in place of placeholders such as `${input:token}` and `${TOKEN}`, and notes those that have none.
struct Filler<'a> {
    values: &'a BTreeMap<String, String>,
    needs: &'a mut BTreeSet<String>,
}

impl Filler<'_> {
    fn fill(&mut self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((inside, after)) = after.split_once('}') else { break };
            filled.push_str(before);
            // `${NAME:-default}` has a value to fall back on.
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            match (self.values.get(name), default) {
                (Some(value), _) => filled.push_str(value),
                (None, Some(default)) => filled.push_str(default),
                (None, None) => {
                    self.needs.insert(name.to_owned());
                    filled.push_str("${");
                    filled.push_str(inside);
                    filled.push('}');
                }
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

/// The connection as the preview shows it: names of variables and headers, no value.
fn shown(connection: &NewConnection) -> toolshelf_api::ShownConnection {
    let names = |values: &BTreeMap<String, Option<String>>| values.keys().cloned().collect();
    let stored = match connection {
        NewConnection::Stdio { command, args, env } => {
            Stored::Stdio { command: command.clone(), args: args.clone(), env: names(env) }
        }
        NewConnection::Http { url, headers } => Stored::Http { url: url.clone(), headers: names(headers) },
    };
    stored.shown(true)
}

/// A server's name made of what the document calls it.
fn name_of(key: &str) -> String {
    let mut name = String::new();
    for character in key.chars().flat_map(char::to_lowercase) {
        let fits = character.is_ascii_lowercase() || (character.is_ascii_digit() && !name.is_empty());
        if fits {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= SERVER_NAME_MAX {
            break;
        }
    }
    let name = name.trim_end_matches('-').to_owned();
    if is_server_name(&name) { name } else { "server".to_owned() }
}

/// The name, or one with a number that no earlier server of the document has.
fn free_name(name: &str, given: &HashSet<String>) -> String {
    if !given.contains(name) {
        return name.to_owned();
    }
    // There are fewer servers than numbers to try.
    (2..SERVERS_MAX + 2)
        .map(|number| {
            let suffix = format!("-{number}");
            let kept = name.len().min(SERVER_NAME_MAX - suffix.len());
            format!("{}{suffix}", &name[..kept])
        })
        .find(|candidate| !given.contains(candidate))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashSet};

    use super::{Filler, free_name, name_of};

    #[test]
    fn names_are_made_of_what_documents_say() {
        for (key, name) in [
            ("github", "github"),
            ("GitHub MCP", "github-mcp"),
            ("io.github.acme/tools", "io-github-acme-tools"),
            ("1password", "password"),
            ("天气", "server"),
            ("", "server"),
            ("a__b", "a-b"),
            (&"x".repeat(50), &"x".repeat(31)),
        ] {
            assert_eq!(name_of(key), name, "{key}");
        }
        let given = HashSet::from(["a".to_owned(), "a-2".to_owned()]);
        assert_eq!(free_name("a", &given), "a-3");
        assert_eq!(free_name("b", &given), "b");
    }

    #[test]
    fn placeholders_are_filled_or_asked_for() {
        let values = BTreeMap::from([("input:token".to_owned(), "s3cret".to_owned())]);
        let mut needs = BTreeSet::new();
        let mut filler = Filler { values: &values, needs: &mut needs };
        for (text, filled) in [
            ("plain", "plain"),
            ("Bearer ${input:token}", "Bearer s3cret"),
            ("${HOME}/x", "${HOME}/x"),
            ("${PORT:-8080}", "8080"),
            ("${unclosed", "${unclosed"),
            ("a ${input:token} b ${input:token}", "a s3cret b s3cret"),
        ] {
            assert_eq!(filler.fill(text), filled);
        }
        assert_eq!(needs.into_iter().collect::<Vec<_>>(), ["HOME"]);
    }
}
