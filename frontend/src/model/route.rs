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
    /// An address that the app does not know.
    Unknown,
}

impl Route {
    /// Reads the path of an address.
    pub fn parse(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        match path {
            "/functions" => return Self::Functions { tool: None },
            "/chat" => return Self::Chat { id: None },
            _ => {}
        }
        if let Some(id) = path.strip_prefix("/chat/").filter(|id| !id.contains('/')) {
            return Self::Chat { id: Some(id.to_owned()) };
        }
        match path.strip_prefix("/functions/") {
            // A tool's name holds nothing that an address must escape; what does is no tool's name.
            Some(name) if !name.contains('/') => Self::Functions { tool: Some(name.to_owned()) },
            _ => Self::Unknown,
        }
    }

    /// The path of this place.
    pub fn path(&self) -> String {
        match self {
            Self::Functions { tool: Some(name) } => format!("/functions/{name}"),
            Self::Chat { id: Some(id) } => format!("/chat/{id}"),
            Self::Chat { id: None } => "/chat".to_owned(),
            Self::Functions { tool: None } | Self::Unknown => "/functions".to_owned(),
        }
    }

    /// The open tool's name.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Functions { tool } => tool.as_deref(),
            Self::Chat { .. } | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn paths_are_read_as_written() {
        for path in ["/functions", "/functions/web_fetch", "/chat", "/chat/019ca945"] {
            assert_eq!(Route::parse(path).path(), path);
        }
        assert_eq!(Route::parse("/functions/"), Route::Functions { tool: None });
        assert_eq!(Route::parse("/functions/read").tool(), Some("read"));
        for path in ["/", "/function", "/functionsx", "/functions/a/b", "/chats", "/chat/a/b"] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }
}
