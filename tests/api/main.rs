//! Everything that can be shown over HTTP, by resource.

mod access;
mod account;
mod audit;
mod bodies;
mod calls;
mod connections;
mod contract;
mod conversations;
mod cross_site;
mod disable;
mod durability;
mod events;
mod headers;
mod hosts;
mod keys;
mod lists;
mod login;
mod pages;
mod race;
mod routing;
mod secrets;
mod setup;
mod standing;
mod todos;
mod users;
mod web_fetch;
