//! From what is known of a server's tools to what snapshots hold.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolshelf_api::{Hold, RejectedTool, ServerSettings, ToolMarks};
use toolshelf_core::{
    Held, HeldKind, McpDefinition, McpMarks, NotRegistered, RejectedDefinition, ServerTools, UpstreamCall,
    mcp_tool_name, visible_line,
};
use toolshelf_runtime::store::{McpServerRow, UpstreamToolRow};

use crate::times::rfc3339;

/// How many different names of a server's tools are ever known. One that invents new names without end fills nothing.
const KNOWN_MAX: usize = 20_000;
/// How many refused tools of a server are kept by name. More say nothing new.
const REJECTED_MAX: usize = 200;

/// What a list of a server comes to, beside what was known before.
pub(super) struct Listing {
    /// All that is known now.
    pub(super) rows: Vec<UpstreamToolRow>,
    /// Those rows that are to be stored.
    pub(super) changed: Vec<UpstreamToolRow>,
    /// Tools that do not enter the registry because too many names are known.
    pub(super) refused: Option<RejectedTool>,
    /// What happened, for the audit log; empty if nothing did.
    pub(super) happened: String,
}

/// A tool as a server lists it now, read.
pub(super) struct Listed {
    definition: McpDefinition,
    /// The definition as it is stored.
    text: String,
    hash: String,
}

/// What a server lists now, by name at the server, and what of it is refused. It takes a moment for thousands of tools, and
/// nobody has to wait for it.
pub(super) struct Lists {
    tools: HashMap<String, Listed>,
    rejected: Vec<RejectedTool>,
}

impl Lists {
    pub(super) fn read(listed: &[Value]) -> Self {
        let (mut tools, mut rejected) = (HashMap::with_capacity(listed.len()), Rejected::default());
        for value in listed {
            match McpDefinition::read(value) {
                Err(refused) => rejected.add(refused),
                Ok(definition) if tools.contains_key(definition.original()) => {
                    let name = visible_line(definition.original(), 80);
                    let reason = "The server lists it twice.".to_owned();
                    rejected.add(RejectedDefinition { name, reason });
                }
                Ok(definition) => {
                    let (text, hash) = (definition.whole().to_string(), definition.hash());
                    tools.insert(definition.original().to_owned(), Listed { definition, text, hash });
                }
            }
        }
        Self { tools, rejected: rejected.finish() }
    }

    /// The definition that is in force for a tool, if it is the one that the server lists.
    fn in_force(&self, row: &UpstreamToolRow) -> Option<&McpDefinition> {
        let is_listed = row.listed && row.pending.is_none();
        self.tools.get(&row.original).filter(|_| is_listed).map(|listed| &listed.definition)
    }
}

/// Compares a list with what was known: what is new, what changed, what waits for an admin, what went.
pub(super) fn read_list(
    server: &McpServerRow,
    hold: Hold,
    known: Vec<UpstreamToolRow>,
    lists: &Lists,
    now: DateTime<Utc>,
) -> Listing {
    let mut rows: BTreeMap<String, UpstreamToolRow> =
        known.into_iter().map(|row| (row.original.clone(), row)).collect();
    let before = rows.clone();
    let (mut known_names, mut too_many) = (rows.len(), 0);
    let (mut new, mut changed, mut waiting) = (0, 0, 0);
    for (original, Listed { text, hash, .. }) in &lists.tools {
        let (original, text) = (original.clone(), text.clone());
        match rows.get_mut(&original) {
            None if known_names >= KNOWN_MAX => too_many += 1,
            None => {
                known_names += 1;
                new += 1;
                let waits = hold == Hold::NewAndChanged;
                waiting += usize::from(waits);
                rows.insert(
                    original.clone(),
                    UpstreamToolRow {
                        server: server.name.clone(),
                        original,
                        accepted: (!waits).then(|| text.clone()),
                        accepted_generation: if waits { 0 } else { server.generation },
                        pending: waits.then_some(text),
                        pending_since: waits.then_some(now),
                        listed: true,
                    },
                );
            }
            Some(row) => {
                row.listed = true;
                // The same text is the same definition; another one may be, with its members in another order.
                let is = |stored: Option<&str>| {
                    stored.is_some_and(|stored| stored == text || hash_of(stored).as_ref() == Some(hash))
                };
                let is_accepted = row.accepted_generation == server.generation && is(row.accepted.as_deref());
                let waits_already = is(row.pending.as_deref());
                if is_accepted {
                    (row.pending, row.pending_since) = (None, None);
                } else if hold == Hold::Off {
                    changed += 1;
                    row.accepted = Some(text);
                    row.accepted_generation = server.generation;
                    (row.pending, row.pending_since) = (None, None);
                } else if !waits_already {
                    // One that waits and changes once more is no news for the log.
                    let news = usize::from(row.pending.is_none());
                    changed += news;
                    waiting += news;
                    (row.pending, row.pending_since) = (Some(text), Some(now));
                }
            }
        }
    }
    let mut gone = 0;
    for row in rows.values_mut().filter(|row| row.listed && !lists.tools.contains_key(&row.original)) {
        row.listed = false;
        gone += 1;
    }
    let changed_rows = rows.values().filter(|row| before.get(&row.original) != Some(row)).cloned().collect();
    let counts = [(new, "new"), (changed, "changed"), (waiting, "held for an admin"), (gone, "gone")];
    let happened: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let refused = (too_many > 0).then(|| RejectedTool {
        name: format!("{too_many} new ones"),
        reason: format!("The server has listed {KNOWN_MAX} different names, and more are not taken."),
    });
    Listing {
        rows: rows.into_values().collect(),
        changed: changed_rows,
        refused,
        happened: happened.join(", "),
    }
}

impl Lists {
    /// What does not enter the registry.
    pub(super) fn rejected(&self) -> &[RejectedTool] {
        &self.rejected
    }
}

/// Refused tools, at most [`REJECTED_MAX`] of them by name.
#[derive(Default)]
struct Rejected {
    kept: Vec<RejectedTool>,
    more: usize,
}

impl Rejected {
    fn add(&mut self, refused: RejectedDefinition) {
        if self.kept.len() < REJECTED_MAX {
            let name = if refused.name.is_empty() { "unnamed".to_owned() } else { refused.name };
            self.kept.push(RejectedTool { name, reason: refused.reason });
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self) -> Vec<RejectedTool> {
        if self.more > 0 {
            let name = format!("and {} more", self.more);
            self.kept.push(RejectedTool { name, reason: "They are not named here.".to_owned() });
        }
        self.kept
    }
}

/// The hash of a definition as it is stored; none if it cannot be read any more.
pub(super) fn hash_of(text: &str) -> Option<String> {
    read(text).map(|definition| definition.hash())
}

fn read(text: &str) -> Option<McpDefinition> {
    McpDefinition::read(&serde_json::from_str(text).ok()?).ok()
}

/// Why a tool waits.
pub(super) fn held_kind(row: &UpstreamToolRow) -> Option<HeldKind> {
    let pending = row.pending.as_deref()?;
    Some(match row.accepted.as_deref() {
        None => HeldKind::New,
        Some(accepted) if hash_of(accepted) == hash_of(pending) => HeldKind::Moved,
        Some(_) => HeldKind::Changed,
    })
}

/// What a snapshot holds of a server.
pub(super) fn server_tools(
    server: &McpServerRow,
    settings: &ServerSettings,
    rows: &[UpstreamToolRow],
    refused: &[RejectedTool],
    lists: Option<&Lists>,
    down: Option<String>,
) -> ServerTools {
    let mut rejected: Vec<NotRegistered> = refused
        .iter()
        .map(|tool| NotRegistered {
            name: mcp_tool_name(&server.name, &tool.name).into(),
            reason: tool.reason.as_str().into(),
        })
        .collect();
    let mut tools = Vec::with_capacity(rows.len());
    for row in rows.iter().filter(|row| row.listed) {
        let Some(text) = row.accepted.as_deref().or(row.pending.as_deref()) else { continue };
        let make = |definition: &McpDefinition| {
            definition.tool(&server.name, marks(server, settings, row)).map_err(|error| error.to_string())
        };
        let tool = match lists.and_then(|lists| lists.in_force(row)) {
            Some(definition) => make(definition),
            None => read(text)
                .ok_or_else(|| "What is stored of it cannot be read. Refresh the server.".to_owned())
                .and_then(|definition| make(&definition)),
        };
        match tool {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(reason) => rejected.push(NotRegistered {
                name: mcp_tool_name(&server.name, &row.original).into(),
                reason: reason.into(),
            }),
        }
    }
    ServerTools { tools, rejected, down: down.map(Into::into) }
}

fn marks(server: &McpServerRow, settings: &ServerSettings, row: &UpstreamToolRow) -> McpMarks {
    let own = settings.tools.get(&row.original).cloned().unwrap_or_default();
    let ToolMarks { expose, defer, unsafe_in, toolsets, kind, effect } = own;
    let held =
        held_kind(row).map(|kind| Held { kind, since: row.pending_since.map(rfc3339).unwrap_or_default() });
    McpMarks {
        expose: expose.unwrap_or(settings.expose),
        defer: defer.unwrap_or(settings.defer),
        unsafe_in: unsafe_in.unwrap_or_else(|| settings.unsafe_in.clone()),
        toolsets: toolsets.unwrap_or_default(),
        kind,
        effect,
        trust_annotations: settings.trust_annotations,
        held,
        call: UpstreamCall {
            generation: server.generation,
            max_result_chars: usize::try_from(settings.limits.max_result_chars).unwrap_or(usize::MAX),
        },
    }
}

/// What is known of tools, by server.
pub(super) fn by_server(rows: Vec<UpstreamToolRow>) -> HashMap<String, Vec<UpstreamToolRow>> {
    let mut servers: HashMap<String, Vec<UpstreamToolRow>> = HashMap::new();
    for row in rows {
        servers.entry(row.server.clone()).or_default().push(row);
    }
    servers
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Value, json};
    use toolshelf_api::Hold;
    use toolshelf_runtime::store::{McpServerRow, UpstreamToolRow};

    use super::{KNOWN_MAX, Listing, Lists, read_list};

    fn server(generation: u64) -> McpServerRow {
        let now = DateTime::from_timestamp(0, 0).unwrap();
        McpServerRow {
            name: "docs".to_owned(),
            title: "docs".to_owned(),
            connection: String::new(),
            secrets: None,
            enabled: true,
            settings: String::new(),
            info: None,
            generation,
            revision: 1,
            created_at: now,
            updated_at: now,
        }
    }

    fn list(generation: u64, hold: Hold, known: Vec<UpstreamToolRow>, tools: &[(&str, &str)]) -> Listing {
        let tools: Vec<Value> = tools
            .iter()
            .map(|(name, about)| json!({"name": name, "description": about, "inputSchema": {"type": "object"}}))
            .collect();
        let now = DateTime::from_timestamp(1, 0).unwrap();
        read_list(&server(generation), hold, known, &Lists::read(&tools), now)
    }

    #[test]
    fn what_a_list_comes_to() {
        let first = list(1, Hold::Changed, vec![], &[("a", "A"), ("b", "B")]);
        assert_eq!((first.happened.as_str(), first.changed.len()), ("2 new", 2));
        let same = list(1, Hold::Changed, first.rows.clone(), &[("b", "B"), ("a", "A")]);
        assert_eq!((same.happened.as_str(), same.changed.len()), ("", 0));
        let changed = list(1, Hold::Changed, first.rows.clone(), &[("a", "A!")]);
        assert_eq!(changed.happened, "1 changed, 1 held for an admin, 1 gone");
        let again = list(1, Hold::Changed, changed.rows.clone(), &[("a", "A?")]);
        assert_eq!(
            (again.happened.as_str(), again.changed.len()),
            ("", 1),
            "no news, and yet another definition waits"
        );
        let back = list(1, Hold::Changed, again.rows, &[("a", "A"), ("b", "B")]);
        assert!(back.rows.iter().all(|row| row.pending.is_none() && row.listed));
        let off = list(1, Hold::Off, first.rows.clone(), &[("a", "A!"), ("b", "B")]);
        assert_eq!((off.happened.as_str(), off.rows[0].pending.is_none()), ("1 changed", true));
        let strict = list(1, Hold::NewAndChanged, vec![], &[("a", "A")]);
        assert_eq!(
            (strict.happened.as_str(), &strict.rows[0].accepted),
            ("1 new, 1 held for an admin", &None)
        );
        let moved = list(2, Hold::Changed, first.rows, &[("a", "A"), ("b", "B")]);
        assert_eq!(moved.happened, "2 changed, 2 held for an admin");
    }

    #[test]
    fn a_server_that_invents_names_without_end_is_known_by_so_many() {
        let names: Vec<String> = (0..KNOWN_MAX + 5).map(|number| format!("t{number}")).collect();
        let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let listing = list(1, Hold::Changed, vec![], &tools);
        assert_eq!(listing.rows.len(), KNOWN_MAX);
        assert_eq!(listing.refused.unwrap().name, "5 new ones");
    }
}
