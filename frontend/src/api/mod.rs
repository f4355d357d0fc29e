//! The HTTP API, as the browser uses it.

mod chat;
mod events;
mod http;
mod profiles;
mod tools;
mod upstreams;

pub(crate) use chat::{Offer, RunStream};
pub(crate) use events::{Events, Notice};
pub(crate) use http::{Failure, ask_password_with};
pub(crate) use tools::Api;
