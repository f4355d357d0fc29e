//! `SQLite` behind the store ports.
//!
//! [`SqliteStore`] has one connection that writes and a few that only read. `SQLite` in WAL mode lets readers see the
//! last committed state while a writer works, so neither waits for the other. A commit is answered after the disk
//! has it.
//!
//! The statements are written so that `PostgreSQL` takes them too; what differs between databases is in the
//! migrations, in `open` and in `sqlite`. The tests in `tests/store/conformance` say what every adapter must do.

mod accounts;
mod api_keys;
mod audit;
mod columns;
mod conversations;
mod files;
mod mcp_servers;
mod open;
mod profiles;
mod runs;
mod sessions;
mod settings;
mod setup_tokens;
mod sqlite;
mod stored;
mod todos;
mod tool_states;
mod unit;

pub use open::OpenError;
pub use sqlite::SqliteStore;
