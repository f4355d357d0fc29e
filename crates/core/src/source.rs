//! Where tools come from.

use serde::{Deserialize, Serialize};

/// Where a tool comes from. Written `builtin`, `plugin:NAME` or `mcp:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Source {
    kind: SourceKind,
    name: String,
}

/// The kind of source; the order is that of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A function that ships with Toolshelf.
    Builtin,
    /// A function of a crate linked into a custom build.
    Plugin,
    /// A tool of an upstream MCP server.
    Mcp,
}

impl Source {
    /// The source of functions that ship with Toolshelf.
    pub fn builtin() -> Self {
        Self { kind: SourceKind::Builtin, name: String::new() }
    }

    /// The source of the tools of an upstream MCP server.
    pub fn mcp(server: &str) -> Self {
        Self { kind: SourceKind::Mcp, name: server.to_owned() }
    }

    /// The kind of source.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// The upstream MCP server, if it is one.
    pub fn server(&self) -> Option<&str> {
        (self.kind == SourceKind::Mcp).then_some(self.name.as_str())
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            SourceKind::Builtin => f.write_str("builtin"),
            SourceKind::Plugin => write!(f, "plugin:{}", self.name),
            SourceKind::Mcp => write!(f, "mcp:{}", self.name),
        }
    }
}

impl TryFrom<String> for Source {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "builtin" => Ok(Self::builtin()),
            Some(("plugin", name)) if !name.is_empty() => {
                Ok(Self { kind: SourceKind::Plugin, name: name.to_owned() })
            }
            Some(("mcp", name)) if !name.is_empty() => {
                Ok(Self { kind: SourceKind::Mcp, name: name.to_owned() })
            }
            _ => Err(format!("{text:?} is not a source: use builtin, plugin:NAME or mcp:NAME")),
        }
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn sources_are_read_as_written() {
        for text in ["builtin", "plugin:x", "mcp:github"] {
            assert_eq!(Source::try_from(text.to_owned()).unwrap().to_string(), text);
        }
        for text in ["", "mcp", "mcp:", "other:x", "Builtin"] {
            assert!(Source::try_from(text.to_owned()).is_err(), "{text:?}");
        }
    }
}
