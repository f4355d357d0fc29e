//! The parts that pages are made of.

mod badges;
mod chat;
mod copy;
mod dialogs;
mod drawer;
mod group;
mod icon;
mod keyboard;
mod menu;
mod nav;
mod profiles;
mod prose;
mod row;
mod shelf;
mod toasts;
mod toolbar;

pub(crate) use badges::Badges;
pub(crate) use chat::{Composer, Stream, TalkList};
pub(crate) use copy::Copy;
pub(crate) use dialogs::{DisableDialog, KeysDialog};
pub(crate) use drawer::Drawer;
pub(crate) use icon::Icon;
pub(crate) use keyboard::{focus_by_id, show_by_id};
pub(crate) use nav::Nav;
pub(crate) use profiles::{Bulk, EditorHead, ProfileDialog, Sidebar};
pub(crate) use prose::Prose;
pub(crate) use row::{DrawnRow, Row};
pub(crate) use shelf::Shelf;
pub(crate) use toasts::ToastList;
pub(crate) use toolbar::Toolbar;
