//! One page for each kind of address.

mod chat;
mod explain;
mod functions;
mod unknown;
mod upstreams;

pub(crate) use chat::ChatPage;
pub(crate) use explain::ExplainPage;
pub(crate) use functions::FunctionsPage;
pub(crate) use unknown::UnknownPage;
pub(crate) use upstreams::UpstreamsPage;
