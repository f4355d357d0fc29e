//! Addresses of the app.

/// A place in the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The catalog, with one tool open or none.
    Functions {
        /// The open tool's name.
        tool: Option<String>,
    },
    /// The conversations, with one open, or a new one.
    Chat {
        /// The open conversation's id.
        id: Option<String>,
    },
    /// The upstream servers, with one open or none.
    Upstreams {
        /// The open server's name.
        name: Option<String>,
    },
    /// Why a tool is here or missing.
    Explain {
        /// The tool's name, once one is chosen.
        tool: Option<String>,
        /// Where it is asked for: [`NEW`], a conversation's id, or nothing for outside of a conversation.
        place: String,
    },
    /// An address that the app does not know.
    Unknown,
}

/// The place of a question about a conversation that is not there yet.
pub const NEW: &str = "new";

impl Route {
    /// Reads the path of an address, without what follows a question mark.
    pub fn parse(path: &str) -> Self {
        let path = path.trim_matches('/');
        let (page, rest) = path.split_once('/').unwrap_or((path, ""));
        if rest.contains('/') {
            return Self::Unknown;
        }
        // No name in a path holds anything that an address must escape; what does is no such name.
        let rest = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        match page {
            "functions" => Self::Functions { tool: rest },
            "chat" => Self::Chat { id: rest },
            "upstreams" => Self::Upstreams { name: rest },
            "explain" => Self::Explain { tool: rest, place: String::new() },
            _ => Self::Unknown,
        }
    }

    /// The path of this place.
    pub fn path(&self) -> String {
        let (page, rest) = match self {
            Self::Functions { tool } => ("/functions", tool),
            Self::Chat { id } => ("/chat", id),
            Self::Upstreams { name } => ("/upstreams", name),
            Self::Explain { tool, .. } => ("/explain", tool),
            Self::Unknown => ("/functions", &None),
        };
        match rest {
            Some(rest) => format!("{page}/{rest}"),
            None => page.to_owned(),
        }
    }

    /// The open tool's name.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Functions { tool } => tool.as_deref(),
            Self::Chat { .. } | Self::Upstreams { .. } | Self::Explain { .. } | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn paths_are_read_as_written() {
        for path in [
            "/functions",
            "/functions/web_fetch",
            "/chat",
            "/chat/019ca945",
            "/upstreams",
            "/upstreams/github",
            "/explain",
            "/explain/grep",
        ] {
            assert_eq!(Route::parse(path).path(), path);
        }
        assert_eq!(Route::parse("/functions/"), Route::Functions { tool: None });
        assert_eq!(Route::parse("/functions/read").tool(), Some("read"));
        for path in ["/", "/function", "/functionsx", "/functions/a/b", "/chats", "/chat/a/b"] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }
}
