//! How a server is reached: as it is asked for, stored and shown. What is secret is sealed apart from the rest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolshelf_api::{FieldError, NewConnection, ServerSettings, ShownConnection};
use toolshelf_runtime::store::{McpServerRow, StoreError};
use toolshelf_runtime::{Connection, Environment, UpstreamSpec};
use url::Url;

use crate::error::ServiceError;
use crate::sealing::{Place, Sealer};

/// Headers that belong to the protocol.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// How a server is reached, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub(super) enum Stored {
    Stdio { command: String, args: Vec<String>, env: Vec<String> },
    Http { url: String, headers: Vec<String> },
}

/// A connection with its secrets by name.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Complete {
    pub(super) public: Stored,
    pub(super) secrets: BTreeMap<String, String>,
}

impl Complete {
    /// Checks what is asked for. A value that is null is that of `before`.
    pub(super) fn check(
        asked: NewConnection,
        before: Option<&BTreeMap<String, String>>,
        pointer: &str,
    ) -> Result<Self, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut wrong = |place: String, message: &str| {
            errors.push(FieldError { pointer: format!("{pointer}{place}"), message: message.to_owned() });
        };
        let (public, values, member) = match asked {
            NewConnection::Stdio { command, args, env } => {
                let command = command.trim().to_owned();
                if command.is_empty()
                    || command.chars().count() > 1_000
                    || command.chars().any(char::is_control)
                {
                    wrong("/command".to_owned(), "Name the program: 1 to 1,000 characters in one line.");
                }
                if args.len() > 200 {
                    wrong("/args".to_owned(), "Use at most 200 arguments.");
                }
                for (position, arg) in args.iter().enumerate() {
                    if arg.chars().count() > 10_000 || arg.contains('\0') {
                        wrong(
                            format!("/args/{position}"),
                            "Use at most 10,000 characters, and no zero byte.",
                        );
                    }
                }
                for name in env.keys().filter(|name| !is_variable(name)) {
                    wrong(
                        format!("/env/{}", escaped(name)),
                        "Name the variable with letters, digits and '_', beginning with no digit.",
                    );
                }
                (Stored::Stdio { command, args, env: env.keys().cloned().collect() }, env, "env")
            }
            NewConnection::Http { url, headers } => {
                let url = url.trim().to_owned();
                if let Err(message) = check_url(&url) {
                    wrong("/url".to_owned(), message);
                }
                for name in headers.keys() {
                    if !is_token(name) {
                        wrong(format!("/headers/{}", escaped(name)), "This is no name of a header.");
                    } else if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                        wrong(
                            format!("/headers/{}", escaped(name)),
                            "This header belongs to the protocol. Leave it out.",
                        );
                    }
                }
                (Stored::Http { url, headers: headers.keys().cloned().collect() }, headers, "headers")
            }
        };
        if values.len() > 100 {
            wrong(format!("/{member}"), "Use at most 100.");
        }
        let mut secrets = BTreeMap::new();
        for (name, value) in values {
            let place = format!("/{member}/{}", escaped(&name));
            let value = match (value, before.and_then(|before| before.get(&name))) {
                (Some(value), _) => value,
                (None, Some(before)) => before.clone(),
                (None, None) => {
                    wrong(place, "Enter a value: none can be read that was entered before.");
                    continue;
                }
            };
            let plain = |value: &str| value.chars().all(|c| !c.is_control());
            if value.len() > 100_000 || value.contains('\0') || (member == "headers" && !plain(&value)) {
                wrong(place, "Use at most 100,000 characters, and no control characters.");
                continue;
            }
            secrets.insert(name, value);
        }
        if errors.is_empty() { Ok(Self { public, secrets }) } else { Err(errors) }
    }

    /// Whether it runs a program on this machine.
    pub(super) fn runs_a_program(&self) -> bool {
        matches!(self.public, Stored::Stdio { .. })
    }

    /// The secrets as they are stored.
    pub(super) fn sealed(
        &self,
        sealer: &Sealer,
        environment: &Environment,
        server: &str,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        if self.secrets.is_empty() {
            return Ok(None);
        }
        let text = serde_json::to_string(&self.secrets).map_err(not_json)?;
        Ok(Some(sealer.seal(environment, place(server), &text)))
    }

    fn connection(&self) -> Connection {
        let pairs = |names: &[String]| {
            let pairs = names.iter().filter_map(|name| Some((name.clone(), self.secrets.get(name)?.clone())));
            pairs.collect()
        };
        match &self.public {
            Stored::Stdio { command, args, env } => {
                Connection::Stdio { command: command.clone(), args: args.clone(), env: pairs(env) }
            }
            Stored::Http { url, headers } => Connection::Http { url: url.clone(), headers: pairs(headers) },
        }
    }

    /// What is to be connected.
    pub(super) fn spec(&self, server: &str, generation: u64, settings: &ServerSettings) -> UpstreamSpec {
        UpstreamSpec {
            name: Arc::from(server),
            generation,
            connection: self.connection(),
            call_timeout: Duration::from_secs(settings.limits.call_timeout_seconds.into()),
        }
    }
}

impl Stored {
    pub(super) fn read(row: &McpServerRow) -> Result<Self, ServiceError> {
        serde_json::from_str(&row.connection).map_err(|error| damaged(row, "connection", &error))
    }

    /// Whether both lead to the same program or address, so that tools that were accepted of one are accepted of the other.
    pub(super) fn leads_to_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stdio { command, args, .. }, Self::Stdio { command: other, args: others, .. }) => {
                command == other && args == others
            }
            (Self::Http { url, .. }, Self::Http { url: other, .. }) => url == other,
            _ => false,
        }
    }

    /// As it is shown: which values can be opened.
    pub(super) fn shown(&self, opens: bool) -> ShownConnection {
        let names = |names: &[String]| names.iter().map(|name| (name.clone(), opens)).collect();
        match self {
            Self::Stdio { command, args, env } => {
                ShownConnection::Stdio { command: command.clone(), args: args.clone(), env: names(env) }
            }
            Self::Http { url, headers } => {
                ShownConnection::Http { url: url.clone(), headers: names(headers) }
            }
        }
    }

    /// A reason for which it is down, as everybody may read it: without what is for admins only.
    pub(super) fn public_reason(&self, reason: &str) -> String {
        let told: Vec<String> = match self {
            Self::Stdio { command, args, .. } => {
                let program = command.rsplit('/').next().unwrap_or(command).to_owned();
                args.iter().cloned().chain([command.clone(), program]).collect()
            }
            Self::Http { url, .. } => {
                let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
                host.into_iter().chain([url.clone()]).collect()
            }
        };
        // What is shorter than this stands in many words and tells nothing.
        if told.iter().any(|part| part.len() > 2 && reason.contains(part.as_str())) {
            "It cannot be reached. Its page tells admins why.".to_owned()
        } else {
            reason.to_owned()
        }
    }

    /// In a word or two, for the audit log: no argument and no query, which may hold secrets.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Stdio { command, .. } => format!("stdio: {command}"),
            Self::Http { url, .. } => {
                let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
                format!("http: {}", host.unwrap_or_default())
            }
        }
    }
}

/// The secrets of a server; none if they do not open.
pub(super) fn open_secrets(sealer: &Sealer, row: &McpServerRow) -> Option<BTreeMap<String, String>> {
    match &row.secrets {
        None => Some(BTreeMap::new()),
        Some(stored) => serde_json::from_str(&sealer.open(place(&row.name), stored)?).ok(),
    }
}

fn place(server: &str) -> Place<'_> {
    Place { table: "mcp_servers", row: server, column: "secrets" }
}

pub(super) fn damaged(row: &McpServerRow, column: &str, error: &serde_json::Error) -> ServiceError {
    StoreError::Corrupt(format!("mcp_servers.{column} where mcp_servers.name = {}: {error}", row.name)).into()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
pub(super) fn not_json(error: serde_json::Error) -> ServiceError {
    ServiceError::Internal(format!("something cannot be written as JSON: {error}"))
}

/// A name as a part of a JSON Pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn is_variable(name: &str) -> bool {
    let bytes = name.as_bytes();
    matches!(bytes.first(), Some(first) if first.is_ascii_alphabetic() || *first == b'_')
        && bytes.len() <= 200
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether it is a token in the sense of HTTP (RFC 9110, section 5.6.2).
fn is_token(name: &str) -> bool {
    (1..=200).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn check_url(text: &str) -> Result<(), &'static str> {
    let url = Url::parse(text).map_err(|_| "Write the whole address, such as https://example.com/mcp.")?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("The address must begin with http:// or https:// and name a host.");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("Leave name and password out of the address, and send them in a header.");
    }
    if url.fragment().is_some() || text.len() > 2_000 {
        return Err("Use at most 2,000 characters, and no part after '#'.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Stored;

    #[test]
    fn a_reason_for_everybody_names_neither_program_nor_address() {
        let args = vec!["-y".to_owned(), "secret-thing".to_owned()];
        let stdio = Stored::Stdio { command: "/opt/npxx".to_owned(), args, env: vec![] };
        let http = Stored::Http { url: "https://wiki.intern:8443/mcp".to_owned(), headers: vec![] };
        for (stored, reason, shown) in [
            (&stdio, "It ended with exit code 3.", true),
            (&stdio, "The program `npxx` was not found in PATH.", false),
            (&stdio, "It said secret-thing.", false),
            (&http, "It did not answer within 30 seconds.", true),
            (&http, "wiki.intern refuses connections.", false),
        ] {
            let public = stored.public_reason(reason);
            assert_eq!(public == reason, shown, "{public}");
        }
    }
}
