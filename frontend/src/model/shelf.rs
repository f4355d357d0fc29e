//! The shelf as it is shown: which tools, in which groups.

use toolshelf_api::Tool;

use super::text::capitalized;

/// Which tools to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Show {
    /// Every tool.
    #[default]
    All,
    /// Those that can run now and that nobody stopped.
    Available,
    /// Those that cannot run now, or that wait for an admin.
    Unavailable,
    /// Those that an admin disabled.
    Disabled,
}

impl Show {
    /// In the order of the buttons.
    pub const EVERY: [Self; 4] = [Self::All, Self::Available, Self::Unavailable, Self::Disabled];

    /// The button's text.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Available => "Available",
            Self::Unavailable => "Unavailable",
            Self::Disabled => "Disabled",
        }
    }

    /// The value in the address; `all` is left out of it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Available => "available",
            Self::Unavailable => "unavailable",
            Self::Disabled => "disabled",
        }
    }

    /// Reads the value of an address; anything else means all.
    pub fn parse(text: &str) -> Self {
        Self::EVERY.into_iter().find(|show| show.as_str() == text).unwrap_or_default()
    }

    /// The one group beside `All` that a tool belongs to.
    pub fn of(tool: &Tool) -> Self {
        if tool.disabled.is_some() {
            Self::Disabled
        } else if tool.available.ok && tool.held.is_none() {
            Self::Available
        } else {
            Self::Unavailable
        }
    }
}

/// How many tools each button would show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; 4]);

impl Counts {
    /// Counts a tool.
    pub fn add(&mut self, tool: &Tool) {
        self.0[Show::All as usize] += 1;
        self.0[Show::of(tool) as usize] += 1;
    }

    /// How many there are.
    pub fn of(&self, show: Show) -> usize {
        self.0[show as usize]
    }
}

/// A group of the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The source and service, which name the group in the page.
    pub key: String,
    /// The group's name for people.
    pub title: String,
    /// The kind of source for people.
    pub kind: String,
    /// How many tools the group has, shown or not.
    pub total: usize,
    /// How many of its tools are in the open profile, shown or not.
    pub members: usize,
    /// The shown tools, as indexes into the catalog.
    pub rows: Vec<usize>,
}

impl Group {
    /// A group for tools of the same source and service as this one.
    pub fn of(tool: &Tool) -> Self {
        let (kind, name) = tool.source.split_once(':').unwrap_or((&tool.source, ""));
        let (title, kind) = match kind {
            // The protocol's name is no word.
            "builtin" if tool.service == "mcp" => ("MCP".to_owned(), "built-in".to_owned()),
            "builtin" => (capitalized(&tool.service), "built-in".to_owned()),
            "mcp" => (tool.service.clone(), "MCP server".to_owned()),
            "plugin" if name == tool.service => (tool.service.clone(), "plugin".to_owned()),
            other => (tool.service.clone(), format!("{other} {name}")),
        };
        Self { key: Self::key(tool), title, kind, total: 0, members: 0, rows: Vec::new() }
    }

    /// What tools of one group have in common.
    pub fn key(tool: &Tool) -> String {
        format!("{}/{}", tool.source, tool.service)
    }

    /// The upstream server that a group's key names.
    pub fn server(key: &str) -> Option<&str> {
        key.strip_prefix("mcp:")?.split('/').next()
    }

    /// Whether a tool belongs here.
    pub fn holds(&self, tool: &Tool) -> bool {
        self.key.strip_prefix(tool.source.as_str()).and_then(|rest| rest.strip_prefix('/'))
            == Some(&tool.service)
    }
}

/// What a filter leaves of the shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The groups that have something to show.
    pub groups: Vec<Group>,
    /// How many tools are shown.
    pub shown: usize,
    /// What the text leaves, by state.
    pub counts: Counts,
    /// How many of the shown tools are in the open profile.
    pub shown_members: usize,
}

impl View {
    /// The shown tools in the order of the list: group, row, and index into the catalog.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, usize, usize)> {
        self.groups.iter().enumerate().flat_map(|(group, rows)| {
            rows.rows.iter().enumerate().map(move |(row, tool)| (group, row, *tool))
        })
    }
}

/// Whether a row shows badges, which makes it higher on phones.
pub fn has_badges(tool: &Tool) -> bool {
    tool.defer
        || tool.needs_conversation
        || tool.disabled.is_some()
        || tool.held.is_some()
        || !tool.available.ok
}
