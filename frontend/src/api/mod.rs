//! The HTTP API, as the browser uses it.

mod chat;
mod events;
mod http;
mod profiles;
mod tools;

pub(crate) use chat::{Offer, RunStream};
pub(crate) use events::{Events, Notice};
pub(crate) use http::Failure;
pub(crate) use tools::Api;
