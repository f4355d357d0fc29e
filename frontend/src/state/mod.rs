//! What the app knows and does, apart from how it looks.

mod address;
mod app;
mod chat;
mod live;
mod profiles;
mod theme;
mod toasts;
mod upstreams;

pub(crate) use app::{App, Draft, Load, changed_meanwhile, use_app};
pub(crate) use chat::{Chat, use_chat};
pub(crate) use profiles::Ask;
pub(crate) use theme::{Theme, Themes};
pub(crate) use toasts::Toast;
pub(crate) use upstreams::ServerAsk;
