-- What is chosen in a conversation.
--
-- Toolsets are stored by kind and id: 'default', 'none' or 'profile:ID'. They are no foreign keys: a profile that was
-- deleted must still be noticed as such, and offers nothing.

-- What a person picked.
ALTER TABLE conversations ADD COLUMN pick TEXT;
-- What it started with, and what that was: the user's start profile or the workspace's active one.
ALTER TABLE conversations ADD COLUMN fallback TEXT;
ALTER TABLE conversations ADD COLUMN fallback_origin TEXT CHECK (fallback_origin IN ('start', 'active'));
-- The pin of the API key that made it.
ALTER TABLE conversations ADD COLUMN pin TEXT;
ALTER TABLE conversations ADD COLUMN model TEXT NOT NULL DEFAULT 'console';
ALTER TABLE conversations ADD COLUMN tools_enabled INTEGER NOT NULL DEFAULT 1 CHECK (tools_enabled IN (0, 1));
ALTER TABLE conversations ADD COLUMN web_search INTEGER CHECK (web_search IN (0, 1));
ALTER TABLE conversations ADD COLUMN attended INTEGER NOT NULL DEFAULT 1 CHECK (attended IN (0, 1));

-- For counting who uses a profile.
CREATE INDEX idx_conversations_pick ON conversations (pick);
CREATE INDEX idx_conversations_fallback ON conversations (fallback);
CREATE INDEX idx_conversations_pin ON conversations (pin);

-- The title without letter case, for searching. What is there now gets it as far as the database can fold letters.
ALTER TABLE conversations ADD COLUMN title_key TEXT NOT NULL DEFAULT '';
UPDATE conversations SET title_key = LOWER(title);
