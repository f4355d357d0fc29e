//! Profiles: the list beside the catalog, the editor above it, and the dialogs.

mod dialogs;
mod editor;
mod sidebar;

pub(crate) use dialogs::ProfileDialog;
pub(crate) use editor::{Bulk, EditorHead};
pub(crate) use sidebar::Sidebar;
