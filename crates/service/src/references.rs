//! How toolsets are referred to in rows: by kind and id, so that a rename changes nothing and a delete is noticed.

use toolshelf_core::{Snapshot, Toolset};

/// A toolset as it is stored: `default`, `none` or `profile:ID`. A list has no name and is stored nowhere.
pub(crate) fn stored(toolset: &Toolset) -> Option<String> {
    match toolset {
        Toolset::Default => Some("default".to_owned()),
        Toolset::None => Some("none".to_owned()),
        Toolset::Profile(id) => Some(format!("profile:{id}")),
        Toolset::List(_) => None,
    }
}

/// Reads a stored reference; none if it cannot be read, which must not become no limit. A profile that is gone is no
/// error here: the resolver offers nothing for it and says why.
pub(crate) fn read(stored: &str) -> Option<Toolset> {
    match stored.split_once(':') {
        // The first version stored what was typed, aliases too.
        None if matches!(stored, "default" | "all" | "full") => Some(Toolset::Default),
        None if stored == "none" => Some(Toolset::None),
        Some(("profile", id)) if !id.is_empty() => Some(Toolset::Profile(id.into())),
        _ => None,
    }
}

/// Whether what a stored reference names is gone, or cannot be read.
pub(crate) fn is_missing(snapshot: &Snapshot, stored: &str) -> bool {
    match read(stored) {
        Some(Toolset::Profile(id)) => snapshot.profile(&id).is_none(),
        Some(_) => false,
        None => true,
    }
}

/// A stored reference as people read it.
pub(crate) fn shown(snapshot: &Snapshot, stored: &str) -> String {
    match read(stored) {
        Some(Toolset::Profile(id)) => snapshot
            .profile(&id)
            .map_or_else(|| "a deleted profile".to_owned(), |profile| profile.name.to_string()),
        _ => stored.to_owned(),
    }
}
