//! Users.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use toolshelf_core::Role;
use toolshelf_runtime::store::{Accounts, StoreError, UserRow};

use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// The columns that [`read_user`] reads.
macro_rules! user_columns {
    () => {
        $crate::columns::columns!(
            "users": "id", "username", "role", "disabled", "password_hash", "revision", "created_at", "updated_at"
        )
    };
}

pub(crate) use user_columns;

/// The user in a row, also of a join.
pub(crate) fn read_user(row: &SqliteRow) -> Result<UserRow, StoreError> {
    let stored = Stored::new(row, &["users.id"]);
    Ok(UserRow {
        id: stored.get("users.id")?,
        username: stored.get("users.username")?,
        role: read_role(stored)?,
        disabled: stored.get("users.disabled")?,
        password_hash: stored.get("users.password_hash")?,
        revision: stored.number("users.revision")?,
        created_at: stored.time("users.created_at")?,
        updated_at: stored.time("users.updated_at")?,
    })
}

fn read_role(stored: Stored<'_>) -> Result<Role, StoreError> {
    const COLUMN: &str = "users.role";
    match stored.get(COLUMN)? {
        "admin" => Ok(Role::Admin),
        "user" => Ok(Role::User),
        other => Err(stored.damaged(COLUMN, format_args!("{other:?} is no role"))),
    }
}

fn role_text(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::User => "user",
    }
}

/// What is unique about a name. Folding here and not in SQL gives the same result on every database, and for
/// letters beyond ASCII.
fn username_key(username: &str) -> String {
    username.to_lowercase()
}

#[async_trait]
impl Accounts for SqliteUnit {
    async fn count_users(&mut self) -> Result<u64, StoreError> {
        self.count(sqlx::query("SELECT COUNT(*) FROM users")).await
    }

    async fn count_active_admins(&mut self) -> Result<u64, StoreError> {
        self.count(sqlx::query("SELECT COUNT(*) FROM users WHERE role = 'admin' AND disabled = FALSE")).await
    }

    async fn list_users(&mut self) -> Result<Vec<UserRow>, StoreError> {
        let rows = self
            .all(sqlx::query(concat!("SELECT ", user_columns!(), " FROM users ORDER BY users.username_key")))
            .await?;
        rows.iter().map(read_user).collect()
    }

    async fn find_user(&mut self, id: &str) -> Result<Option<UserRow>, StoreError> {
        let row = self
            .optional(
                sqlx::query(concat!("SELECT ", user_columns!(), " FROM users WHERE users.id = $1")).bind(id),
            )
            .await?;
        row.as_ref().map(read_user).transpose()
    }

    async fn find_user_by_name(&mut self, username: &str) -> Result<Option<UserRow>, StoreError> {
        let row = self
            .optional(
                sqlx::query(concat!("SELECT ", user_columns!(), " FROM users WHERE users.username_key = $1"))
                    .bind(username_key(username)),
            )
            .await?;
        row.as_ref().map(read_user).transpose()
    }

    async fn insert_user(&mut self, user: &UserRow) -> Result<(), StoreError> {
        // A conflict is found by the count of rows and not by an error, which on PostgreSQL would end the transaction.
        let added = self
            .execute(
                sqlx::query(
                    "INSERT INTO users (id, username, username_key, role, disabled, password_hash, revision, \
                     created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                     ON CONFLICT (username_key) DO NOTHING",
                )
                .bind(&user.id)
                .bind(&user.username)
                .bind(username_key(&user.username))
                .bind(role_text(user.role))
                .bind(user.disabled)
                .bind(&user.password_hash)
                .bind(signed(user.revision)?)
                .bind(micros(user.created_at))
                .bind(micros(user.updated_at)),
            )
            .await?;
        if added == 0 { Err(StoreError::Taken("username")) } else { Ok(()) }
    }

    async fn update_user(&mut self, user: &UserRow, expected_revision: u64) -> Result<bool, StoreError> {
        let changed = self
            .execute(
                sqlx::query(
                    "UPDATE users SET role = $1, disabled = $2, password_hash = $3, revision = $4, updated_at = $5 \
                     WHERE id = $6 AND revision = $7",
                )
                .bind(role_text(user.role))
                .bind(user.disabled)
                .bind(&user.password_hash)
                .bind(signed(user.revision)?)
                .bind(micros(user.updated_at))
                .bind(&user.id)
                .bind(signed(expected_revision)?),
            )
            .await?;
        Ok(changed == 1)
    }
}
