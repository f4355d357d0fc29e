//! Reads what the API says about upstream servers.
//!
//! By hand: the derived way of reading these dozen shapes weighs as much as the page that shows them. The tests write
//! each shape as the API does and read it back.

use std::collections::BTreeMap;

use serde_json::Value;
use toolshelf_api::{
    DiffChange, DiffLine, Hold, RejectedTool, ServerDetails, ServerLimits, ServerSettings, ServerState,
    ServerStatus, ToolChange, ToolChangeKind, TriedConnection,
};

use super::upstream::{Connection, ImportedServer, Server};

fn text(value: &Value, field: &str) -> String {
    maybe(value, field).unwrap_or_default()
}

fn maybe(value: &Value, field: &str) -> Option<String> {
    value[field].as_str().map(str::to_owned)
}

fn flag(value: &Value, field: &str) -> bool {
    value[field].as_bool().unwrap_or_default()
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_default()
}

fn small(value: &Value, field: &str) -> u32 {
    u32::try_from(number(value, field)).unwrap_or(u32::MAX)
}

/// A list of anything.
pub fn list<T>(value: &Value, field: &str, read: impl Fn(&Value) -> T) -> Vec<T> {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(read).collect()
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    list(value, field, |text| text.as_str().unwrap_or_default().to_owned())
}

fn flags(value: &Value, field: &str) -> Vec<(String, bool)> {
    let entries = value[field].as_object().into_iter().flatten();
    entries.map(|(name, flag)| (name.clone(), flag.as_bool().unwrap_or_default())).collect()
}

fn connection(value: &Value) -> Option<Connection> {
    let value = value.get("connection").filter(|connection| connection.is_object())?;
    Some(Connection {
        transport: text(value, "transport"),
        command: text(value, "command"),
        args: texts(value, "args"),
        env: flags(value, "env"),
        url: text(value, "url"),
        headers: flags(value, "headers"),
    })
}

fn details(value: &Value) -> Option<ServerDetails> {
    let value = value.get("info").filter(|info| info.is_object())?;
    Some(ServerDetails {
        name: text(value, "name"),
        version: text(value, "version"),
        protocol: text(value, "protocol"),
        instructions: maybe(value, "instructions"),
        resources: flag(value, "resources"),
        prompts: flag(value, "prompts"),
    })
}

fn rejected(value: &Value) -> RejectedTool {
    RejectedTool { name: text(value, "name"), reason: text(value, "reason") }
}

/// A [`toolshelf_api::McpServer`]; none without a name.
pub fn server(value: &Value) -> Option<Server> {
    let status = &value["status"];
    let limits = &value["limits"];
    Some(Server {
        name: maybe(value, "name").filter(|name| !name.is_empty())?,
        title: text(value, "title"),
        connection: connection(value),
        enabled: flag(value, "enabled"),
        settings: ServerSettings {
            defer: flag(value, "defer"),
            expose: flag(value, "expose"),
            unsafe_in: texts(value, "unsafe_in"),
            hold: match value["hold"].as_str()? {
                "off" => Hold::Off,
                "new_and_changed" => Hold::NewAndChanged,
                _ => Hold::Changed,
            },
            trust_annotations: flag(value, "trust_annotations"),
            limits: ServerLimits {
                call_timeout_seconds: small(limits, "call_timeout_seconds"),
                max_result_chars: small(limits, "max_result_chars"),
            },
            tools: BTreeMap::new(),
        },
        status: ServerStatus {
            state: match status["state"].as_str()? {
                "ready" => ServerState::Ready,
                "connecting" => ServerState::Connecting,
                "disabled" => ServerState::Disabled,
                _ => ServerState::Down,
            },
            reason: maybe(status, "reason"),
            since: text(status, "since"),
            retry_at: maybe(status, "retry_at"),
        },
        tool_count: number(value, "tool_count"),
        rejected: list(value, "rejected", rejected),
        change_count: number(value, "change_count"),
        info: details(value),
        log: texts(value, "log"),
        revision: number(value, "revision"),
    })
}

/// A [`toolshelf_api::ImportedMcpServer`].
pub fn imported(value: &Value) -> ImportedServer {
    ImportedServer {
        key: text(value, "key"),
        name: text(value, "name"),
        connection: connection(value),
        enabled: flag(value, "enabled"),
        needs: texts(value, "needs"),
        ignored: texts(value, "ignored"),
        problem: maybe(value, "problem"),
    }
}

/// What a trial of a connection came to.
pub fn tried(value: &Value) -> TriedConnection {
    TriedConnection {
        ok: flag(value, "ok"),
        reason: maybe(value, "reason"),
        info: details(value),
        tools: texts(value, "tools"),
        rejected: list(value, "rejected", rejected),
        log: texts(value, "log"),
        duration_ms: number(value, "duration_ms"),
    }
}

/// A tool that waits for a decision.
pub fn change(value: &Value) -> ToolChange {
    ToolChange {
        tool: text(value, "tool"),
        original: text(value, "original"),
        kind: match value["kind"].as_str() {
            Some("new") => ToolChangeKind::New,
            Some("moved") => ToolChangeKind::Moved,
            _ => ToolChangeKind::Changed,
        },
        since: text(value, "since"),
        definition: text(value, "definition"),
        diff: list(value, "diff", |line| DiffLine {
            change: match line["change"].as_str() {
                Some("added") => DiffChange::Added,
                Some("removed") => DiffChange::Removed,
                Some("skipped") => DiffChange::Skipped,
                _ => DiffChange::Same,
            },
            text: text(line, "text"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolshelf_api::{
        DiffChange, DiffLine, Hold, ImportedMcpServer, McpServer, RejectedTool, ServerDetails, ServerLimits,
        ServerSettings, ServerState, ServerStatus, ShownConnection, ToolChange, ToolChangeKind,
        TriedConnection,
    };

    use super::{change, imported, server, tried};

    fn details() -> ServerDetails {
        ServerDetails {
            name: "fs".to_owned(),
            version: "2".to_owned(),
            protocol: "2025-06-18".to_owned(),
            instructions: Some("Ask first.".to_owned()),
            resources: true,
            prompts: false,
        }
    }

    fn rejected() -> Vec<RejectedTool> {
        vec![RejectedTool { name: "x y".to_owned(), reason: "A space.".to_owned() }]
    }

    fn shown(connection: Option<ShownConnection>, state: ServerState, hold: Hold) -> McpServer {
        let limits = ServerLimits { call_timeout_seconds: 90, max_result_chars: 5_000 };
        let unsafe_in = vec!["api".to_owned()];
        McpServer {
            name: "github".to_owned(),
            title: "GitHub".to_owned(),
            connection,
            enabled: true,
            settings: ServerSettings { unsafe_in, hold, limits, defer: false, ..ServerSettings::default() },
            status: ServerStatus {
                state,
                reason: Some("It ended.".to_owned()),
                since: "2026-01-01T00:00:00Z".to_owned(),
                retry_at: Some("2026-01-01T00:00:08Z".to_owned()),
            },
            tool_count: 3,
            rejected: rejected(),
            change_count: 1,
            info: Some(details()),
            log: vec!["line".to_owned()],
            revision: 7,
            created_at: String::new(),
            updated_at: String::new(),
        }
    }

    #[test]
    fn servers_are_read_as_they_are_written() {
        let stdio = ShownConnection::Stdio {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "a b".to_owned()],
            env: [("TOKEN".to_owned(), true)].into(),
        };
        let http = ShownConnection::Http {
            url: "https://example.com/mcp".to_owned(),
            headers: [("Authorization".to_owned(), false)].into(),
        };
        let states = [ServerState::Ready, ServerState::Connecting, ServerState::Down, ServerState::Disabled];
        let holds = [Hold::Off, Hold::Changed, Hold::NewAndChanged, Hold::Changed];
        let places = [
            (Some(stdio), "npx -y 'a b'", "TOKEN"),
            (Some(http), "https://example.com/mcp", "Authorization"),
        ];
        let none = [(None, "", ""), (None, "", "")];
        for ((state, hold), (connection, line, secret)) in
            states.into_iter().zip(holds).zip(places.into_iter().chain(none))
        {
            let written = shown(connection, state, hold);
            let read = server(&json!(written)).unwrap();
            let place = read.connection.unwrap_or_default();
            assert_eq!(place.line(), line);
            assert_eq!(place.secret_names().first().map_or("", String::as_str), secret);
            assert_eq!((read.status, read.settings, read.enabled), (written.status, written.settings, true));
            assert_eq!((read.name, read.title), (written.name, written.title));
            assert_eq!((read.rejected, read.info, read.log), (written.rejected, written.info, written.log));
            assert_eq!((read.tool_count, read.change_count, read.revision), (3, 1, 7));
        }
        assert_eq!(server(&json!({})), None);
        assert_eq!(server(&json!("text")), None);
    }

    #[test]
    fn what_others_may_not_see_is_absent() {
        let mut value = json!(shown(None, ServerState::Ready, Hold::Off));
        let fields = value.as_object_mut().unwrap();
        for hidden in ["connection", "info", "log"] {
            fields.remove(hidden);
        }
        let read = server(&value).unwrap();
        assert_eq!((read.connection, read.info, read.log.len()), (None, None, 0));
    }

    #[test]
    fn imports_trials_and_changes_are_read_as_they_are_written() {
        let written = ImportedMcpServer {
            key: "My Server".to_owned(),
            name: "my-server".to_owned(),
            connection: None,
            enabled: true,
            needs: vec!["input:token".to_owned()],
            ignored: vec!["icon".to_owned()],
            problem: Some("No.".to_owned()),
        };
        let read = imported(&json!(written));
        assert_eq!((read.key, read.name, read.problem), (written.key, written.name, written.problem));
        assert_eq!((read.needs, read.ignored, read.enabled), (written.needs, written.ignored, true));

        let written = TriedConnection {
            ok: true,
            reason: Some("r".to_owned()),
            info: Some(details()),
            tools: vec!["a__b".to_owned()],
            rejected: rejected(),
            log: vec!["l".to_owned()],
            duration_ms: 12,
        };
        assert_eq!(tried(&json!(written)), written);

        for kind in [ToolChangeKind::New, ToolChangeKind::Changed, ToolChangeKind::Moved] {
            let marks = [DiffChange::Same, DiffChange::Added, DiffChange::Removed, DiffChange::Skipped];
            let written = ToolChange {
                tool: "a__b".to_owned(),
                original: "b".to_owned(),
                kind,
                since: "s".to_owned(),
                definition: "d".to_owned(),
                diff: marks.map(|change| DiffLine { change, text: "t".to_owned() }).into(),
            };
            assert_eq!(change(&json!(written)), written);
        }
    }
}
