-- The tables of the first version.
--
-- What another database must keep, so that the same statements work there: every name, and these meanings.
--   * A time is the number of microseconds since 1970-01-01T00:00:00Z, so it orders the same everywhere.
--   * An id is text. Ids of users, keys and conversations grow with time.
--   * A hash is the 32 bytes of a SHA-256.
--   * A flag is FALSE or TRUE, which SQLite spells 0 or 1.

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL,
    -- The name in lower case. It is what is unique, because databases differ in how they fold letters.
    username_key TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
    disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    password_hash TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX idx_users_username_key ON users (username_key);

CREATE TABLE sessions (
    token_hash BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_sessions_user_id ON sessions (user_id);
CREATE INDEX idx_sessions_expires_at ON sessions (expires_at);

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    token_hash BLOB NOT NULL CHECK (length(token_hash) = 32),
    -- A JSON array of strings. Nothing is ever searched by scope, so it needs no table of its own.
    scopes TEXT NOT NULL,
    pinned TEXT,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE UNIQUE INDEX idx_api_keys_token_hash ON api_keys (token_hash);
CREATE INDEX idx_api_keys_user_id_created_at ON api_keys (user_id, created_at);

-- The token of the set-up link: the check on the key lets at most one row exist.
CREATE TABLE setup_tokens (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    token_hash BLOB NOT NULL CHECK (length(token_hash) = 32),
    expires_at INTEGER NOT NULL
) STRICT;

-- What admins decided about tools. A row outlives its tool, so there is nothing that it could refer to.
CREATE TABLE tool_states (
    tool TEXT NOT NULL PRIMARY KEY,
    disabled_by TEXT,
    disabled_reason TEXT,
    -- RFC 3339 text as it is shown; it is never compared.
    disabled_at TEXT,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    CHECK (
        (disabled_by IS NULL AND disabled_reason IS NULL AND disabled_at IS NULL)
        OR (disabled_by IS NOT NULL AND disabled_reason IS NOT NULL AND disabled_at IS NOT NULL)
    )
) STRICT;

-- The counter of everything that snapshots show: exactly one row.
CREATE TABLE snapshot_revision (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    revision INTEGER NOT NULL CHECK (revision >= 0)
) STRICT;

INSERT INTO snapshot_revision (singleton, revision) VALUES (1, 0);

CREATE TABLE conversations (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_conversations_user_id_id ON conversations (user_id, id);

CREATE TABLE todos (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 4294967295),
    text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'done')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, number)
) STRICT;

-- Names are copied here and refer to nothing: an entry says what was true when it was written.
-- AUTOINCREMENT keeps an id from being given out again after old entries were removed.
CREATE TABLE audit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT,
    api_key TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
