//! Profiles, their history, the names that are kept for them, and when each tool was first seen.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_core::{NewTools, fold_name};
use toolshelf_runtime::store::{ProfileRow, ProfileVersionRow, Profiles, RetiredNameRow, StoreError};

use crate::columns::columns;
use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// Profiles, up to the condition.
macro_rules! select_profiles {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "profiles": "id", "name", "description", "owner_id", "tools", "pinned", "new_tools",
                "new_tools_since", "revision", "created_at", "updated_at"
            ),
            " FROM profiles ",
            $rest
        )
    };
}

/// Versions of profiles, up to the condition.
macro_rules! select_versions {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "profile_versions": "profile_id", "revision", "name", "description", "owner_id", "tools", "pinned",
                "new_tools", "new_tools_since", "created_at", "updated_at", "actor"
            ),
            " FROM profile_versions ",
            $rest
        )
    };
}

/// The profile in a row of a table. Versions have the same columns but for the name of the id, and an error must name
/// the table that it is about.
macro_rules! read_columns {
    ($stored:ident, $table:literal, $id:literal) => {
        ProfileRow {
            id: $stored.get(concat!($table, ".", $id))?,
            name: $stored.get(concat!($table, ".name"))?,
            description: $stored.get(concat!($table, ".description"))?,
            owner_id: $stored.get(concat!($table, ".owner_id"))?,
            tools: read_texts($stored, concat!($table, ".tools"))?,
            pinned: read_texts($stored, concat!($table, ".pinned"))?,
            new_tools: read_new_tools($stored, concat!($table, ".new_tools"))?,
            new_tools_since: $stored.number(concat!($table, ".new_tools_since"))?,
            revision: $stored.number(concat!($table, ".revision"))?,
            created_at: $stored.time(concat!($table, ".created_at"))?,
            updated_at: $stored.time(concat!($table, ".updated_at"))?,
        }
    };
}

fn read_profile(row: &SqliteRow) -> Result<ProfileRow, StoreError> {
    let stored = Stored::new(row, &["profiles.id"]);
    Ok(read_columns!(stored, "profiles", "id"))
}

fn read_version(row: &SqliteRow) -> Result<ProfileVersionRow, StoreError> {
    let stored = Stored::new(row, &["profile_versions.profile_id", "profile_versions.revision"]);
    Ok(ProfileVersionRow {
        profile: read_columns!(stored, "profile_versions", "profile_id"),
        actor: stored.get("profile_versions.actor")?,
    })
}

fn read_retired_name(row: &SqliteRow) -> Result<RetiredNameRow, StoreError> {
    let stored = Stored::new(row, &["retired_names.name_key"]);
    Ok(RetiredNameRow {
        name: stored.get("retired_names.name")?,
        profile_id: stored.get("retired_names.profile_id")?,
        owner_id: stored.get("retired_names.owner_id")?,
        until: stored.time("retired_names.until")?,
    })
}

fn read_sighting(row: &SqliteRow) -> Result<(String, u64), StoreError> {
    let stored = Stored::new(row, &["tool_sightings.tool"]);
    Ok((stored.get("tool_sightings.tool")?, stored.number("tool_sightings.sighting")?))
}

fn read_texts(stored: Stored<'_>, column: &'static str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(stored.get(column)?).map_err(|error| stored.damaged(column, error))
}

fn texts(texts: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(texts).map_err(|error| StoreError::Database(Box::new(error)))
}

fn read_new_tools(stored: Stored<'_>, column: &'static str) -> Result<NewTools, StoreError> {
    match stored.get(column)? {
        "ignore" => Ok(NewTools::Ignore),
        "include" => Ok(NewTools::Include),
        "hold" => Ok(NewTools::Hold),
        other => Err(stored.damaged(column, format_args!("{other:?} says nothing about new tools"))),
    }
}

fn new_tools_text(new_tools: NewTools) -> &'static str {
    match new_tools {
        NewTools::Ignore => "ignore",
        NewTools::Include => "include",
        NewTools::Hold => "hold",
    }
}

#[async_trait]
impl Profiles for SqliteUnit {
    async fn list_profiles(&mut self) -> Result<Vec<ProfileRow>, StoreError> {
        let rows = self.all(sqlx::query(select_profiles!("ORDER BY profiles.id"))).await?;
        rows.iter().map(read_profile).collect()
    }

    async fn find_profile(&mut self, id: &str) -> Result<Option<ProfileRow>, StoreError> {
        let row = self.optional(sqlx::query(select_profiles!("WHERE profiles.id = $1")).bind(id)).await?;
        row.as_ref().map(read_profile).transpose()
    }

    async fn insert_profile(&mut self, profile: &ProfileRow) -> Result<(), StoreError> {
        // A conflict is found by the count of rows and not by an error, which on PostgreSQL would end the transaction.
        let added = self
            .execute(
                sqlx::query(
                    "INSERT INTO profiles (id, name, name_key, description, owner_id, tools, pinned, new_tools, \
                     new_tools_since, revision, created_at, updated_at) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
                     ON CONFLICT (name_key) DO NOTHING",
                )
                .bind(&profile.id)
                .bind(&profile.name)
                .bind(fold_name(&profile.name))
                .bind(&profile.description)
                .bind(&profile.owner_id)
                .bind(texts(&profile.tools)?)
                .bind(texts(&profile.pinned)?)
                .bind(new_tools_text(profile.new_tools))
                .bind(signed(profile.new_tools_since)?)
                .bind(signed(profile.revision)?)
                .bind(micros(profile.created_at))
                .bind(micros(profile.updated_at)),
            )
            .await?;
        if added == 0 { Err(StoreError::Taken("name")) } else { Ok(()) }
    }

    async fn update_profile(
        &mut self,
        profile: &ProfileRow,
        expected_revision: u64,
    ) -> Result<bool, StoreError> {
        // Callers pass on what clients expect, and no stored revision is that large.
        let Ok(expected_revision) = i64::try_from(expected_revision) else { return Ok(false) };
        // An update cannot skip a conflict as an insertion can, so it looks for one by itself.
        let changed = self
            .execute(
                sqlx::query(
                    "UPDATE profiles SET name = $1, name_key = $2, description = $3, tools = $4, pinned = $5, \
                     new_tools = $6, new_tools_since = $7, revision = $8, updated_at = $9 \
                     WHERE id = $10 AND revision = $11 AND NOT EXISTS \
                     (SELECT 1 FROM profiles AS other WHERE other.name_key = $2 AND other.id <> $10)",
                )
                .bind(&profile.name)
                .bind(fold_name(&profile.name))
                .bind(&profile.description)
                .bind(texts(&profile.tools)?)
                .bind(texts(&profile.pinned)?)
                .bind(new_tools_text(profile.new_tools))
                .bind(signed(profile.new_tools_since)?)
                .bind(signed(profile.revision)?)
                .bind(micros(profile.updated_at))
                .bind(&profile.id)
                .bind(expected_revision),
            )
            .await?;
        if changed == 1 {
            return Ok(true);
        }
        // Writers wait for each other, so if the revision is the expected one now, it was then, and the name is why.
        let current = self
            .count(
                sqlx::query("SELECT COUNT(*) FROM profiles WHERE id = $1 AND revision = $2")
                    .bind(&profile.id)
                    .bind(expected_revision),
            )
            .await?;
        if current == 0 { Ok(false) } else { Err(StoreError::Taken("name")) }
    }

    async fn delete_profile(&mut self, id: &str) -> Result<(), StoreError> {
        // The foreign keys of what belongs to it do the rest.
        self.execute(sqlx::query("DELETE FROM profiles WHERE id = $1").bind(id)).await?;
        Ok(())
    }

    async fn put_profile_version(&mut self, version: &ProfileVersionRow) -> Result<(), StoreError> {
        let profile = &version.profile;
        self.execute(
            sqlx::query(
                "INSERT INTO profile_versions (profile_id, revision, name, description, owner_id, tools, pinned, \
                 new_tools, new_tools_since, created_at, updated_at, actor) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
                 ON CONFLICT (profile_id, revision) DO UPDATE SET name = excluded.name, \
                 description = excluded.description, owner_id = excluded.owner_id, tools = excluded.tools, \
                 pinned = excluded.pinned, new_tools = excluded.new_tools, \
                 new_tools_since = excluded.new_tools_since, created_at = excluded.created_at, \
                 updated_at = excluded.updated_at, actor = excluded.actor",
            )
            .bind(&profile.id)
            .bind(signed(profile.revision)?)
            .bind(&profile.name)
            .bind(&profile.description)
            .bind(&profile.owner_id)
            .bind(texts(&profile.tools)?)
            .bind(texts(&profile.pinned)?)
            .bind(new_tools_text(profile.new_tools))
            .bind(signed(profile.new_tools_since)?)
            .bind(micros(profile.created_at))
            .bind(micros(profile.updated_at))
            .bind(&version.actor),
        )
        .await?;
        Ok(())
    }

    async fn list_profile_versions(
        &mut self,
        id: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ProfileVersionRow>, StoreError> {
        // No profile is ever changed often enough to get the largest revision, so this bound leaves none out.
        let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
        let rows = self
            .all(
                sqlx::query(select_versions!(
                    "WHERE profile_versions.profile_id = $1 AND profile_versions.revision < $2 \
                     ORDER BY profile_versions.revision DESC LIMIT $3"
                ))
                .bind(id)
                .bind(before)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.iter().map(read_version).collect()
    }

    async fn count_profile_versions(&mut self, id: &str) -> Result<u64, StoreError> {
        self.count(sqlx::query("SELECT COUNT(*) FROM profile_versions WHERE profile_id = $1").bind(id)).await
    }

    async fn find_profile_version(
        &mut self,
        id: &str,
        revision: u64,
    ) -> Result<Option<ProfileVersionRow>, StoreError> {
        // Callers pass on what clients ask for, and no stored revision is that large.
        let Ok(revision) = i64::try_from(revision) else { return Ok(None) };
        let row = self
            .optional(
                sqlx::query(select_versions!(
                    "WHERE profile_versions.profile_id = $1 AND profile_versions.revision = $2"
                ))
                .bind(id)
                .bind(revision),
            )
            .await?;
        row.as_ref().map(read_version).transpose()
    }

    async fn list_retired_names(&mut self) -> Result<Vec<RetiredNameRow>, StoreError> {
        let rows = self
            .all(sqlx::query(concat!(
                "SELECT ",
                columns!("retired_names": "name_key", "name", "profile_id", "owner_id", "until"),
                " FROM retired_names ORDER BY retired_names.name_key"
            )))
            .await?;
        rows.iter().map(read_retired_name).collect()
    }

    async fn put_retired_name(&mut self, name: &RetiredNameRow) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO retired_names (name_key, name, profile_id, owner_id, until) \
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name_key) DO UPDATE SET name = excluded.name, \
                 profile_id = excluded.profile_id, owner_id = excluded.owner_id, until = excluded.until",
            )
            .bind(fold_name(&name.name))
            .bind(&name.name)
            .bind(&name.profile_id)
            .bind(&name.owner_id)
            .bind(micros(name.until)),
        )
        .await?;
        Ok(())
    }

    async fn delete_retired_name(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute(sqlx::query("DELETE FROM retired_names WHERE name_key = $1").bind(fold_name(name)))
            .await?;
        Ok(())
    }

    async fn list_tool_sightings(&mut self) -> Result<Vec<(String, u64)>, StoreError> {
        let rows = self
            .all(sqlx::query(concat!(
                "SELECT ",
                columns!("tool_sightings": "tool", "sighting"),
                " FROM tool_sightings ORDER BY tool_sightings.sighting, tool_sightings.tool"
            )))
            .await?;
        rows.iter().map(read_sighting).collect()
    }

    async fn add_tool_sightings(&mut self, tools: &[String]) -> Result<(), StoreError> {
        // Writers wait for each other, so nobody else takes the number between this and the insertions. It comes from
        // the rows themselves, so it is not used up when all tools are known.
        let last = self.number(sqlx::query("SELECT COALESCE(MAX(sighting), 0) FROM tool_sightings")).await?;
        let next = last.checked_add(1).ok_or_else(|| {
            StoreError::Corrupt(format!("tool_sightings.sighting: nothing comes after {last}"))
        })?;
        for tool in tools {
            self.execute(
                sqlx::query(
                    "INSERT INTO tool_sightings (tool, sighting) VALUES ($1, $2) ON CONFLICT (tool) DO NOTHING",
                )
                .bind(tool)
                .bind(next),
            )
            .await?;
        }
        Ok(())
    }
}
