-- Upstream MCP servers, what is known of their tools, and the deferred tools that conversations loaded.

CREATE TABLE mcp_servers (
    name TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    -- JSON: how to reach it, without secrets.
    connection TEXT NOT NULL,
    -- Sealed; what is in it is bound to this table, row and column.
    secrets BLOB,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- JSON: what admins say about it and its tools.
    settings TEXT NOT NULL,
    -- JSON: what it said of itself when it last answered.
    info TEXT,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- A row outlives its server, so that a server that comes back is compared with the one that was removed.
CREATE TABLE upstream_tools (
    server TEXT NOT NULL,
    original TEXT NOT NULL,
    -- JSON: the definition that is in force.
    accepted TEXT,
    accepted_generation INTEGER NOT NULL CHECK (accepted_generation >= 0),
    -- JSON: the definition that waits for an admin.
    pending TEXT,
    pending_since INTEGER,
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    PRIMARY KEY (server, original),
    CHECK ((pending IS NULL) = (pending_since IS NULL)),
    CHECK (accepted IS NOT NULL OR pending IS NOT NULL)
) STRICT;

CREATE TABLE loaded_tools (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- 1, 2, 3 by first appearance.
    number INTEGER NOT NULL CHECK (number >= 1),
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (conversation_id, number)
) STRICT;
