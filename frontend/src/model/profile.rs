//! Editing a profile: which of its tools are shown, what a change did, and how it is taken back.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// Which tools to show beside a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every tool of the catalog.
    #[default]
    All,
    /// Those in the profile.
    In,
    /// Those that are not.
    Out,
}

impl Mode {
    /// In the order of the buttons.
    pub const EVERY: [Self; 3] = [Self::All, Self::In, Self::Out];

    /// The button's text.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "Every tool",
            Self::In => "In this profile",
            Self::Out => "Not in it",
        }
    }

    /// Whether a tool is shown.
    pub fn shows(self, is_in: bool) -> bool {
        match self {
            Self::All => true,
            Self::In => is_in,
            Self::Out => !is_in,
        }
    }
}

/// The tools of an open profile, and which to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Its tools by name.
    pub tools: HashSet<String>,
    /// Which to show.
    pub mode: Mode,
}

/// How much of a group is in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticked {
    /// Nothing.
    None,
    /// A part.
    Some,
    /// Everything.
    All,
}

impl Ticked {
    /// Of `all` tools `count` are in.
    pub fn of(count: usize, all: usize) -> Self {
        match count {
            0 => Self::None,
            count if count == all => Self::All,
            _ => Self::Some,
        }
    }

    /// The value of `aria-checked`.
    pub fn aria(self) -> &'static str {
        match self {
            Self::None => "false",
            Self::Some => "mixed",
            Self::All => "true",
        }
    }
}

/// A change to a profile's tools: exactly what it really changed, so that it can be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Tools that came in.
    pub add: Vec<String>,
    /// Tools that went out.
    pub remove: Vec<String>,
}

impl Edit {
    /// Puts tools in. What is in already is no part of the change.
    pub fn add(names: Vec<String>, members: &HashSet<String>) -> Self {
        let add = names.into_iter().filter(|name| !members.contains(name)).collect();
        Self { add, remove: Vec::new() }
    }

    /// Takes tools out. What is not in is no part of the change.
    pub fn remove(names: Vec<String>, members: &HashSet<String>) -> Self {
        let remove = names.into_iter().filter(|name| members.contains(name)).collect();
        Self { add: Vec::new(), remove }
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { add: self.remove.clone(), remove: self.add.clone() }
    }

    /// A list of tools after the change.
    pub fn apply(&self, tools: &[String]) -> Vec<String> {
        let kept = tools.iter().filter(|name| !self.remove.contains(name));
        let new = self.add.iter().filter(|name| !tools.contains(name));
        kept.chain(new).cloned().collect()
    }

    /// What it did, for a message.
    pub fn sentence(&self, profile: &str) -> String {
        let some = |names: &[String]| match names {
            [one] => one.clone(),
            many => format!("{} tools", many.len()),
        };
        match (self.add.is_empty(), self.remove.is_empty()) {
            (false, true) => format!("{} added to {profile}.", some(&self.add)),
            (true, _) => format!("{} removed from {profile}.", some(&self.remove)),
            (false, false) => {
                format!("{} added to {profile}, {} removed.", some(&self.add), some(&self.remove))
            }
        }
    }
}

/// The changes that can be taken back, and those that were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    done: Vec<Edit>,
    undone: Vec<Edit>,
}

/// How many changes are remembered.
const UNDO_MAX: usize = 100;

impl Undo {
    /// Remembers a change. What was taken back before cannot be done again after it.
    pub fn did(&mut self, edit: Edit) {
        self.undone.clear();
        self.done.push(edit);
        let surplus = self.done.len().saturating_sub(UNDO_MAX);
        self.done.drain(..surplus);
    }

    /// The change to make in order to take the last one back.
    pub fn undo(&mut self) -> Option<Edit> {
        let edit = self.done.pop()?;
        self.undone.push(edit.clone());
        Some(edit.inverse())
    }

    /// The change to make in order to do the last one again that was taken back.
    pub fn redo(&mut self) -> Option<Edit> {
        let edit = self.undone.pop()?;
        self.done.push(edit.clone());
        Some(edit)
    }

    /// Whether there is something to take back.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether there is something to do again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }
}

/// What to know about a number of tools before it is sent to somebody else's program: the caps that are known. They are
/// those programs' own, and change with their versions.
pub fn caps(tools: usize) -> Option<String> {
    const CAPS: [(usize, &str); 3] = [
        (128, "VS Code and OpenAI's API take at most 128 tools in one request"),
        (80, "Cursor takes at most 80 tools"),
        (40, "older versions of Cursor take at most 40 tools"),
    ];
    let (_, text) = CAPS.into_iter().find(|(cap, _)| tools > *cap)?;
    Some(format!("{} tools: {text}, and leave out or refuse the rest.", super::text::thousands(tools as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_change_is_what_it_really_changes() {
        let members: HashSet<String> = names("a b").into_iter().collect();
        assert_eq!(Edit::add(names("a c"), &members), Edit { add: names("c"), remove: vec![] });
        assert_eq!(Edit::remove(names("a c"), &members), Edit { add: vec![], remove: names("a") });
        assert!(Edit::add(names("a"), &members).is_empty());
    }

    #[test]
    fn taking_a_change_back_gives_the_same_tools() {
        let before = names("a b c");
        let members: HashSet<String> = before.iter().cloned().collect();
        for edit in [Edit::add(names("d e"), &members), Edit::remove(names("b c"), &members)] {
            let mut after = edit.inverse().apply(&edit.apply(&before));
            after.sort();
            assert_eq!(after, before);
        }
    }

    #[test]
    fn undo_and_redo_go_back_and_forth() {
        let edit = |name: &str| Edit { add: names(name), remove: vec![] };
        let mut undo = Undo::default();
        assert_eq!(undo.undo(), None);
        undo.did(edit("a"));
        undo.did(edit("b"));
        assert_eq!(undo.undo(), Some(edit("b").inverse()));
        assert_eq!(undo.undo(), Some(edit("a").inverse()));
        assert_eq!((undo.undo(), undo.can_undo(), undo.can_redo()), (None, false, true));
        assert_eq!(undo.redo(), Some(edit("a")));
        undo.did(edit("c"));
        assert_eq!(undo.redo(), None);
        assert_eq!(undo.undo(), Some(edit("c").inverse()));
        let kept: Undo = serde_json::from_str(&serde_json::to_string(&undo).unwrap()).unwrap();
        assert_eq!(kept, undo);
    }

    #[test]
    fn what_a_message_says() {
        for (add, remove, says) in [
            ("a", "", "a added to p."),
            ("a b", "", "2 tools added to p."),
            ("", "a", "a removed from p."),
            ("a", "b c", "a added to p, 2 tools removed."),
        ] {
            assert_eq!(Edit { add: names(add), remove: names(remove) }.sentence("p"), says);
        }
    }

    #[test]
    fn the_highest_cap_that_is_exceeded_is_named() {
        for (tools, part) in
            [(129, Some("128")), (128, Some("80")), (81, Some("80")), (80, Some("40")), (40, None)]
        {
            assert_eq!(
                caps(tools).is_some_and(|text| text.contains(part.unwrap_or("!"))),
                part.is_some(),
                "{tools}"
            );
        }
    }
}
