//! Plain data and arithmetic behind the views.

pub mod catalog;
pub mod chat;
pub mod explain;
pub mod form;
pub mod markdown;
pub mod profile;
pub mod route;
pub mod schema;
pub mod server_form;
pub mod shelf;
pub mod text;
pub mod upstream;
pub mod upstream_read;
pub mod window;
