-- What is said in conversations, and what happens in between.

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled', 'interrupted')),
    code TEXT,
    detail TEXT,
    snapshot_revision INTEGER NOT NULL CHECK (snapshot_revision >= 0),
    started_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;

CREATE INDEX idx_runs_conversation_id ON runs (conversation_id);
-- At most one run goes on in a conversation.
CREATE UNIQUE INDEX idx_runs_running ON runs (conversation_id) WHERE state = 'running';

-- A tool call has its row before it runs, so that none ever runs twice.
CREATE TABLE run_nodes (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    parent INTEGER CHECK (parent < number),
    kind TEXT NOT NULL CHECK (kind IN ('user_message', 'model_call', 'tool_call')),
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled', 'interrupted')),
    name TEXT NOT NULL,
    -- JSON: what the model wrote.
    arguments TEXT,
    text TEXT NOT NULL,
    code TEXT,
    -- JSON: why the tool was refused.
    verdict TEXT,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (run_id, number)
) STRICT;

CREATE TABLE messages (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- 1, 2, 3 within the conversation.
    number INTEGER NOT NULL CHECK (number >= 1),
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    -- JSON: what the message said about tools, a profile by its id.
    tools_override TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, number)
) STRICT;

CREATE UNIQUE INDEX idx_messages_id ON messages (id);
CREATE INDEX idx_messages_run_id ON messages (run_id);
