//! Notices of change, over server-sent events.

use serde::{Deserialize, Serialize};

use toolshelf_core::ToolCard;

use crate::runs::RunEvent;

/// A notice of change. On the wire its `kind` is the event's name, and its id is `epoch.seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// The first event of a stream: where it stands.
    Hello {
        /// The revision of the snapshot.
        revision: u64,
    },
    /// Events were missed: read again what is shown.
    Resync {
        /// The revision of the snapshot.
        revision: u64,
    },
    /// A tool was disabled, enabled or found able or unable to run.
    ToolChanged {
        /// The revision of the snapshot.
        revision: u64,
        /// The tool as it is now, without parameters; absent if it is not registered.
        tool: Option<Box<ToolCard>>,
        /// The tool's name.
        name: String,
    },
    /// A profile was made, changed or deleted.
    ProfileChanged {
        /// The revision of the snapshot.
        revision: u64,
        /// The profile's id.
        id: String,
        /// Its name now; absent when it was deleted.
        name: Option<String>,
    },
    /// Tools came or went, or their definitions changed: read the catalog again.
    CatalogChanged {
        /// The revision of the snapshot.
        revision: u64,
    },
    /// The status of an upstream MCP server, what waits for a decision or what admins say about it changed, or it is gone.
    UpstreamChanged {
        /// The revision of the snapshot.
        revision: u64,
        /// The server's name.
        name: String,
    },
    /// Something happened in a run that the listener named. It has no id of its own: whoever comes back is told the whole
    /// run first, whatever was heard before.
    Run {
        /// The run's id.
        run_id: String,
        /// What happened.
        event: RunEvent,
    },
}

/// The kinds of [`Event`] by the name that an event source listens to.
pub struct EventKind;

impl EventKind {
    /// See [`Event::Hello`].
    pub const HELLO: &'static str = "hello";
    /// See [`Event::Resync`].
    pub const RESYNC: &'static str = "resync";
    /// See [`Event::ToolChanged`].
    pub const TOOL_CHANGED: &'static str = "tool_changed";
    /// See [`Event::ProfileChanged`].
    pub const PROFILE_CHANGED: &'static str = "profile_changed";
    /// See [`Event::CatalogChanged`].
    pub const CATALOG_CHANGED: &'static str = "catalog_changed";
    /// See [`Event::UpstreamChanged`].
    pub const UPSTREAM_CHANGED: &'static str = "upstream_changed";
    /// See [`Event::Run`].
    pub const RUN: &'static str = "run";
}
