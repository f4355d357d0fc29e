//! One page for each kind of address.

mod chat;
mod functions;
mod unknown;

pub(crate) use chat::ChatPage;
pub(crate) use functions::FunctionsPage;
pub(crate) use unknown::UnknownPage;
