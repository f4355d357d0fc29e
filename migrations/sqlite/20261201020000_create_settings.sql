-- What the workspace and each user set once.
--
-- Toolsets are stored by kind and id: 'default', 'none' or 'profile:ID'.

-- The workspace's active toolset: at most one row. Without a row it is 'default'.
CREATE TABLE active_toolset (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    reference TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1)
) STRICT;

-- The toolset that a user's new conversations start with. Without a row it is the workspace's.
CREATE TABLE start_toolsets (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reference TEXT NOT NULL
) STRICT;

CREATE INDEX idx_start_toolsets_reference ON start_toolsets (reference);
