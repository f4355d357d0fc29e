//! Profiles: named sets of tools that people curate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::bitset::BitSet;
use crate::names::is_invisible;

/// What happens in a profile with tools that are first seen after it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NewTools {
    /// They are left out: the profile changes only when somebody changes it.
    #[default]
    Ignore,
    /// They are in.
    Include,
    /// They wait until somebody decides.
    Hold,
}

/// A profile as snapshots hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The id, which a rename keeps.
    pub id: Arc<str>,
    /// The name as written.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Arc<str>,
    /// The id of the user who owns it.
    pub owner_id: Arc<str>,
    /// The tools by name, in the order in which they were added; missing ones too.
    pub tools: Vec<Arc<str>>,
    /// Those of `tools` whose schema always ships.
    pub pinned: Vec<Arc<str>>,
    /// What happens with new tools.
    pub new_tools: NewTools,
    /// The sighting after which a tool counts as new.
    pub new_tools_since: u64,
    /// Grows with each change.
    pub revision: u64,
    /// When it was made, as RFC 3339 in UTC.
    pub created_at: Arc<str>,
    /// When it was last changed, as RFC 3339 in UTC.
    pub updated_at: Arc<str>,
}

/// A profile with its tools as positions of one snapshot, worked out when either changes.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) profile: Arc<Profile>,
    pub(crate) selection: Arc<BitSet>,
    /// Those whose schema always ships.
    pub(crate) pinned: Arc<BitSet>,
}

/// The longest name of a profile, in characters.
pub const PROFILE_NAME_MAX: usize = 64;

/// Says why a text is not the name of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidProfileName {
    /// It is empty or longer than [`PROFILE_NAME_MAX`] characters.
    Length,
    /// It holds a character that names cannot hold.
    Character(char),
    /// It starts with a dot.
    LeadingDot,
    /// It is reserved for a toolset that is computed.
    Reserved,
}

impl std::fmt::Display for InvalidProfileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Length => write!(f, "Use 1 to {PROFILE_NAME_MAX} characters."),
            Self::Character(character) if character.is_control() || is_invisible(*character) => {
                write!(f, "Leave out the invisible character U+{:04X}.", u32::from(*character))
            }
            Self::Character(character) => {
                write!(f, "Leave out {character:?}: it has a meaning in addresses and patterns.")
            }
            Self::LeadingDot => f.write_str("Do not start with a dot."),
            Self::Reserved => f.write_str("This name is reserved. Choose another one."),
        }
    }
}

impl std::error::Error for InvalidProfileName {}

/// The name of a profile as it is kept: trimmed and in Unicode normal form C.
pub fn profile_name(text: &str) -> Result<String, InvalidProfileName> {
    let name: String = text.trim().nfc().collect();
    if name.is_empty() || name.chars().count() > PROFILE_NAME_MAX {
        return Err(InvalidProfileName::Length);
    }
    let refused = |character: &char| {
        matches!(character, '/' | '\\' | ':' | ',' | '*' | '?' | '#' | '%')
            || character.is_control()
            || is_invisible(*character)
    };
    if let Some(character) = name.chars().find(refused) {
        return Err(InvalidProfileName::Character(character));
    }
    if name.starts_with('.') {
        return Err(InvalidProfileName::LeadingDot);
    }
    let folded = fold_name(&name);
    if crate::request::Toolset::RESERVED.iter().any(|reserved| *reserved == folded) {
        return Err(InvalidProfileName::Reserved);
    }
    Ok(name)
}

/// What names are compared by: trimmed, in normal form C, without letter case.
pub fn fold_name(name: &str) -> String {
    // Folding can leave a text denormalised, so it is normalised once more.
    let normal: String = name.trim().nfc().collect();
    caseless::default_case_fold_str(&normal).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::{InvalidProfileName as Invalid, fold_name, profile_name};

    #[test]
    fn names_are_trimmed_and_normalised() {
        for (text, name) in [
            ("research", "research"),
            ("  night jobs ", "night jobs"),
            ("客户支持", "客户支持"),
            ("cafe\u{301}", "caf\u{e9}"),
            (&"x".repeat(64), &"x".repeat(64)),
        ] {
            assert_eq!(profile_name(text).as_deref(), Ok(name));
        }
    }

    #[test]
    fn what_cannot_be_a_name() {
        for (text, error) in [
            ("", Invalid::Length),
            ("   ", Invalid::Length),
            (&"x".repeat(65), Invalid::Length),
            ("a/b", Invalid::Character('/')),
            ("a\\b", Invalid::Character('\\')),
            ("preset:x", Invalid::Character(':')),
            ("a,b", Invalid::Character(',')),
            ("*", Invalid::Character('*')),
            ("a?", Invalid::Character('?')),
            ("#1", Invalid::Character('#')),
            ("50%", Invalid::Character('%')),
            ("a\u{7}b", Invalid::Character('\u{7}')),
            ("a\nb", Invalid::Character('\n')),
            ("a\u{202E}b", Invalid::Character('\u{202E}')),
            ("\u{200B}", Invalid::Character('\u{200B}')),
            (".hidden", Invalid::LeadingDot),
            ("default", Invalid::Reserved),
            ("DEFAULT", Invalid::Reserved),
            ("all", Invalid::Reserved),
            ("Full", Invalid::Reserved),
            ("none", Invalid::Reserved),
        ] {
            assert_eq!(profile_name(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn names_are_compared_without_letter_case() {
        for (a, b) in
            [("Research", "rESEARCH"), ("Straße", "STRASSE"), ("CAFÉ", "cafe\u{301}"), ("Σίσυφος", "ΣΊΣΥΦΟΣ")]
        {
            assert_eq!(fold_name(a), fold_name(b), "{a} {b}");
        }
        assert_ne!(fold_name("research"), fold_name("researc"));
    }
}
