//! The catalog that the browser holds, and the filter over it.

use std::collections::HashMap;
use std::sync::Arc;

use toolshelf_api::{Boot, NotRegistered, Tool, Verdict};

use super::profile::Members;
use super::shelf::{Counts, Group, Show, View};

/// All tools with their verdicts, at one revision.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The revision of the snapshot that this shows.
    pub revision: u64,
    /// Tools that did not enter the registry.
    pub not_registered: Vec<NotRegistered>,
    tools: Vec<Arc<Tool>>,
    /// What the filter looks into, for each tool, in lower case.
    texts: Vec<String>,
    places: HashMap<String, usize>,
    verdicts: HashMap<Arc<str>, Arc<Verdict>>,
}

impl Catalog {
    /// The catalog of a boot document.
    pub fn new(boot: Boot) -> Self {
        let mut catalog = Self { not_registered: boot.not_registered, ..Self::default() };
        catalog.replace(boot.revision, boot.tools);
        catalog.set_verdicts(boot.verdicts);
        catalog
    }

    /// Takes a whole list of tools.
    pub fn replace(&mut self, revision: u64, tools: Vec<Tool>) {
        self.revision = revision;
        self.texts = tools.iter().map(text_of).collect();
        self.places = tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), place)).collect();
        self.tools = tools.into_iter().map(Arc::new).collect();
    }

    /// Takes the verdicts of a resolution.
    pub fn set_verdicts(&mut self, verdicts: Vec<Verdict>) {
        self.verdicts =
            verdicts.into_iter().map(|verdict| (Arc::clone(&verdict.tool), Arc::new(verdict))).collect();
    }

    /// Takes one tool as it is now. Says whether the catalog knows its name; if not, the list must be read again.
    pub fn update(&mut self, mut tool: Tool) -> bool {
        // The list holds summaries; a write answers with more.
        tool.parameters = None;
        let Some(&place) = self.places.get(&tool.name) else { return false };
        self.texts[place] = text_of(&tool);
        self.tools[place] = Arc::new(tool);
        true
    }

    /// All tools, in the order of lists.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.places.get(name).map(|place| &self.tools[*place])
    }

    /// The tools of an upstream server.
    pub fn of_server<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<Tool>> {
        self.tools.iter().filter(move |tool| tool.source.strip_prefix("mcp:") == Some(name))
    }

    /// Up to `limit` tools whose texts hold every word, those first whose names hold them.
    pub fn look_up(&self, text: &str, limit: usize) -> Vec<&Arc<Tool>> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let holds = |text: &str| words.iter().all(|word| text.contains(word));
        let (mut found, mut elsewhere) = (Vec::new(), Vec::new());
        for (tool, _) in self.tools.iter().zip(&self.texts).filter(|(_, text)| holds(text)) {
            if holds(&tool.name.to_lowercase()) { found.push(tool) } else { elsewhere.push(tool) }
        }
        found.extend(elsewhere);
        found.truncate(limit);
        found
    }

    /// What was decided about a tool, for a call outside of a conversation.
    pub fn verdict(&self, name: &str) -> Option<&Arc<Verdict>> {
        self.verdicts.get(name)
    }

    /// Tokens of all tools that a request could get.
    pub fn tokens(&self) -> u64 {
        let sent = |tool: &&Arc<Tool>| tool.disabled.is_none() && tool.held.is_none();
        self.tools.iter().filter(sent).map(|tool| u64::from(tool.tokens)).sum()
    }

    /// What a text and a state leave. Every word of the text must be somewhere in a tool's texts.
    pub fn filter(&self, text: &str, show: Show) -> View {
        self.filter_in(text, show, None)
    }

    /// The same beside an open profile, of which `members` holds the tools.
    pub fn filter_in(&self, text: &str, show: Show, members: Option<&Members>) -> View {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut counts = Counts::default();
        let (mut shown, mut shown_members) = (0, 0);
        for (place, (tool, text)) in self.tools.iter().zip(&self.texts).enumerate() {
            // Tools come ordered by group, so the group is the last one or a new one.
            if !groups.last().is_some_and(|group| group.holds(tool)) {
                groups.push(Group::of(tool));
            }
            let Some(group) = groups.last_mut() else { continue };
            group.total += 1;
            let is_in = members.is_some_and(|members| members.tools.contains(&tool.name));
            group.members += usize::from(is_in);
            if members.is_some_and(|members| !members.mode.shows(is_in)) {
                continue;
            }
            if !words.iter().all(|word| text.contains(word)) {
                continue;
            }
            counts.add(tool);
            if show == Show::All || show == Show::of(tool) {
                group.rows.push(place);
                shown += 1;
                shown_members += usize::from(is_in);
            }
        }
        groups.retain(|group| !group.rows.is_empty());
        View { groups, shown, counts, shown_members }
    }
}

fn text_of(tool: &Tool) -> String {
    let title = tool.title.as_deref().unwrap_or_default();
    let source = match tool.source.as_str() {
        "builtin" => "built-in builtin",
        other => other,
    };
    // The separator is no text that a person types, so that no word matches across two fields.
    [&tool.name, title, &tool.description, &tool.service, source].join("\u{1f}").to_lowercase()
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;
    use toolshelf_api::Tool;

    use super::Catalog;
    use crate::model::profile::{Members, Mode};
    use crate::model::shelf::{Group, Show, View};

    pub(crate) fn tool(source: &str, service: &str, name: &str) -> Tool {
        serde_json::from_value(json!({
            "name": name, "description": format!("Does {name} well."), "source": source, "service": service,
            "method": name, "toolsets": [], "unsafe_in": [], "defer": false, "needs_conversation": false,
            "kind": "read", "effect": "read", "disabled": null, "available": {"ok": true}, "tokens": 10, "revision": 0
        }))
        .unwrap()
    }

    fn catalog() -> Catalog {
        let mut disabled = tool("builtin", "files", "read");
        disabled.disabled =
            serde_json::from_value(json!({"by": "ann", "reason": "Unsafe", "at": "2026-01-01T00:00:00Z"}))
                .unwrap();
        let mut down = tool("mcp:客户支持", "客户支持", "search_kb");
        down.description = "在客户支持知识库中检索文章。".to_owned();
        down.available.ok = false;
        let mut catalog = Catalog::default();
        catalog.replace(
            3,
            vec![tool("builtin", "files", "grep"), disabled, tool("builtin", "web", "web_fetch"), down],
        );
        catalog
    }

    fn names(catalog: &Catalog, view: &View) -> Vec<String> {
        view.rows().map(|(_, _, place)| catalog.tools()[place].name.clone()).collect()
    }

    #[test]
    fn groups_by_source_and_service() {
        let view = catalog().filter("", Show::All);
        let groups: Vec<_> =
            view.groups.iter().map(|g| (g.title.as_str(), g.kind.as_str(), g.total)).collect();
        assert_eq!(groups, [("Files", "built-in", 2), ("Web", "built-in", 1), ("客户支持", "MCP server", 1)]);
    }

    #[test]
    fn every_word_must_match_somewhere() {
        let catalog = catalog();
        for (text, expected) in [
            ("GREP", vec!["grep"]),
            ("files", vec!["grep", "read"]),
            ("does web", vec!["web_fetch"]),
            ("well built-in", vec!["grep", "read", "web_fetch"]),
            ("知识库", vec!["search_kb"]),
            ("mcp", vec!["search_kb"]),
            ("grep read", vec![]),
            ("  ", vec!["grep", "read", "web_fetch", "search_kb"]),
        ] {
            assert_eq!(names(&catalog, &catalog.filter(text, Show::All)), expected, "{text:?}");
        }
    }

    #[test]
    fn states_are_apart_and_counted_under_the_text() {
        let catalog = catalog();
        let view = catalog.filter("", Show::Disabled);
        assert_eq!(names(&catalog, &view), ["read"]);
        assert_eq!(Show::EVERY.map(|show| view.counts.of(show)), [4, 2, 1, 1]);
        assert_eq!(view.groups[0].total, 2);
        let view = catalog.filter("files", Show::Unavailable);
        assert_eq!((view.shown, view.counts.of(Show::All)), (0, 2));
        assert!(view.groups.is_empty());
    }

    #[test]
    fn beside_a_profile_its_tools_are_counted_and_picked_out() {
        let catalog = catalog();
        let of = |mode| Members { tools: ["read", "search_kb", "gone"].map(str::to_owned).into(), mode };
        for (mode, expected) in [
            (Mode::All, vec!["grep", "read", "web_fetch", "search_kb"]),
            (Mode::In, vec!["read", "search_kb"]),
            (Mode::Out, vec!["grep", "web_fetch"]),
        ] {
            let view = catalog.filter_in("", Show::All, Some(&of(mode)));
            assert_eq!(names(&catalog, &view), expected, "{mode:?}");
            assert_eq!(view.groups[0].members, 1, "{mode:?}");
        }
        let view = catalog.filter_in("files", Show::All, Some(&of(Mode::All)));
        assert_eq!((view.shown, view.shown_members), (2, 1));
    }

    #[test]
    fn a_change_is_found_by_its_new_text() {
        let mut catalog = catalog();
        let mut changed = tool("builtin", "files", "grep");
        changed.description = "Looks into files.".to_owned();
        assert!(catalog.update(changed));
        assert_eq!(names(&catalog, &catalog.filter("looks", Show::All)), ["grep"]);
        assert!(!catalog.update(tool("builtin", "files", "unknown")));
    }

    #[test]
    fn disabled_and_held_tools_cost_nothing() {
        assert_eq!(catalog().tokens(), 30);
        let mut catalog = catalog();
        let mut held = tool("builtin", "files", "grep");
        held.held =
            serde_json::from_value(json!({"kind": "changed", "since": "2026-01-01T00:00:00Z"})).unwrap();
        catalog.update(held);
        assert_eq!(catalog.tokens(), 20);
        assert_eq!(names(&catalog, &catalog.filter("", Show::Unavailable)), ["grep", "search_kb"]);
    }

    #[test]
    fn a_server_is_found_by_its_tools_and_a_tool_by_its_name_first() {
        let catalog = catalog();
        assert_eq!(catalog.of_server("客户支持").count(), 1);
        assert_eq!(catalog.of_server("files").count(), 0);
        assert_eq!(Group::server(&Group::key(&catalog.tools()[3])), Some("客户支持"));
        assert_eq!(Group::server("builtin/files"), None);
        let found: Vec<_> = catalog.look_up("web", 5).into_iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(found, ["web_fetch"]);
        let found: Vec<_> = catalog.look_up("e", 2).into_iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(found, ["grep", "read"]);
    }

    #[test]
    fn five_thousand_tools_filter_within_a_frame() {
        let mut catalog = Catalog::default();
        let tools =
            (0..5_000).map(|i| tool(&format!("mcp:s{}", i / 50), &format!("s{}", i / 50), &format!("t{i}")));
        catalog.replace(1, tools.collect());
        let start = std::time::Instant::now();
        assert_eq!(catalog.filter("t49", Show::All).shown, 111);
        // Unoptimized; in the browser it is several times faster.
        assert!(start.elapsed().as_millis() < 100);
    }
}
