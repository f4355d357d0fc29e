-- Profiles, their history, the names that are kept for them, and when each tool was first seen.
--
-- Beside what the first tables say, another database must keep:
--   * A name_key is the name as toolshelf_core::fold_name folds it. It is what is unique, because databases differ in
--     how they fold letters.
--   * Lists of tools are JSON arrays of strings. Their order has a meaning, they are always read and written whole,
--     and nothing is ever searched by a tool, so they need no table of their own.

CREATE TABLE profiles (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Others work with a profile too, so it must not vanish with its owner: whoever removes a user has to say first
    -- who gets the profiles.
    owner_id TEXT NOT NULL REFERENCES users (id),
    tools TEXT NOT NULL,
    pinned TEXT NOT NULL,
    new_tools TEXT NOT NULL CHECK (new_tools IN ('ignore', 'include', 'hold')),
    new_tools_since INTEGER NOT NULL CHECK (new_tools_since >= 0),
    revision INTEGER NOT NULL CHECK (revision >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX idx_profiles_name_key ON profiles (name_key);

-- A version says what was true when it was made, so apart from its profile it refers to nothing.
CREATE TABLE profile_versions (
    profile_id TEXT NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    tools TEXT NOT NULL,
    pinned TEXT NOT NULL,
    new_tools TEXT NOT NULL CHECK (new_tools IN ('ignore', 'include', 'hold')),
    new_tools_since INTEGER NOT NULL CHECK (new_tools_since >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    actor TEXT,
    PRIMARY KEY (profile_id, revision)
) STRICT;

CREATE TABLE retired_names (
    name_key TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    -- Absent when the profile was deleted; the name itself is kept nevertheless.
    profile_id TEXT REFERENCES profiles (id) ON DELETE SET NULL,
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    until INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_retired_names_profile_id ON retired_names (profile_id);

-- A row outlives its tool, so a tool that comes back is not new.
CREATE TABLE tool_sightings (
    tool TEXT NOT NULL PRIMARY KEY,
    sighting INTEGER NOT NULL CHECK (sighting >= 1)
) STRICT;
