//! Addresses of the app.

/// A place in the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The catalog, with one tool open or none.
    Functions {
        /// The open tool's name.
        tool: Option<String>,
    },
    /// An address that the app does not know.
    Unknown,
}

impl Route {
    /// Reads the path of an address.
    pub fn parse(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        if path == "/functions" {
            return Self::Functions { tool: None };
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
            Self::Functions { tool: None } | Self::Unknown => "/functions".to_owned(),
        }
    }

    /// The open tool's name.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Functions { tool } => tool.as_deref(),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn paths_are_read_as_written() {
        for path in ["/functions", "/functions/web_fetch"] {
            assert_eq!(Route::parse(path).path(), path);
        }
        assert_eq!(Route::parse("/functions/"), Route::Functions { tool: None });
        assert_eq!(Route::parse("/functions/read").tool(), Some("read"));
        for path in ["/", "/function", "/functionsx", "/functions/a/b"] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }
}
