//! Users, their sessions and API keys, and the token of the set-up link.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use toolshelf_core::Role;

use super::StoreError;

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRow {
    /// The id.
    pub id: String,
    /// The name as written; unique without letter case.
    pub username: String,
    /// The role.
    pub role: Role,
    /// Whether the user may not sign in.
    pub disabled: bool,
    /// The password's hash in PHC format.
    pub password_hash: String,
    /// Grows with each change.
    pub revision: u64,
    /// When the user was made.
    pub created_at: DateTime<Utc>,
    /// When the user was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Users.
#[async_trait]
pub trait Accounts {
    /// How many users there are.
    async fn count_users(&mut self) -> Result<u64, StoreError>;
    /// How many users may administer: admins who are not disabled.
    async fn count_active_admins(&mut self) -> Result<u64, StoreError>;
    /// All users by name.
    async fn list_users(&mut self) -> Result<Vec<UserRow>, StoreError>;
    /// The user with this id.
    async fn find_user(&mut self, id: &str) -> Result<Option<UserRow>, StoreError>;
    /// The user with this name, in any letter case.
    async fn find_user_by_name(&mut self, username: &str) -> Result<Option<UserRow>, StoreError>;
    /// Adds a user. [`StoreError::Taken`] if the name is taken.
    async fn insert_user(&mut self, user: &UserRow) -> Result<(), StoreError>;
    /// Replaces role, disabled, password hash, revision and `updated_at`, if the stored revision is
    /// `expected_revision`; says whether it was.
    async fn update_user(&mut self, user: &UserRow, expected_revision: u64) -> Result<bool, StoreError>;
}

/// A browser session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// SHA-256 of the token in the cookie.
    pub token_hash: [u8; 32],
    /// Whose session it is.
    pub user_id: String,
    /// When the password was last entered.
    pub created_at: DateTime<Utc>,
    /// When it ends by itself.
    pub expires_at: DateTime<Utc>,
}

/// Browser sessions.
#[async_trait]
pub trait Sessions {
    /// Adds a session.
    async fn insert_session(&mut self, session: &SessionRow) -> Result<(), StoreError>;
    /// The session with this token and its user, expired or not.
    async fn find_session(
        &mut self,
        token_hash: &[u8; 32],
    ) -> Result<Option<(SessionRow, UserRow)>, StoreError>;
    /// Says that the password of a session was entered again.
    async fn confirm_session(&mut self, token_hash: &[u8; 32], at: DateTime<Utc>) -> Result<(), StoreError>;
    /// Ends a session.
    async fn delete_session(&mut self, token_hash: &[u8; 32]) -> Result<(), StoreError>;
    /// Ends all sessions of a user.
    async fn delete_sessions_of(&mut self, user_id: &str) -> Result<(), StoreError>;
    /// Forgets sessions that ended by themselves.
    async fn delete_sessions_expired_at(&mut self, now: DateTime<Utc>) -> Result<(), StoreError>;
}

/// An API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// The id.
    pub id: String,
    /// Whose key it is.
    pub user_id: String,
    /// What its owner calls it.
    pub name: String,
    /// SHA-256 of the token.
    pub token_hash: [u8; 32],
    /// The scopes as written in the API.
    pub scopes: Vec<String>,
    /// The name of the toolset that everything under this key is cut to.
    pub pinned: Option<String>,
    /// When it ends by itself.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// API keys.
#[async_trait]
pub trait ApiKeys {
    /// Adds a key.
    async fn insert_api_key(&mut self, key: &ApiKeyRow) -> Result<(), StoreError>;
    /// The key with this token and its owner, revoked and expired ones too.
    async fn find_api_key_by_token(
        &mut self,
        token_hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRow, UserRow)>, StoreError>;
    /// The key with this id and the name of its owner.
    async fn find_api_key(&mut self, id: &str) -> Result<Option<(ApiKeyRow, String)>, StoreError>;
    /// Keys with the names of their owners, newest first: of one user, or of all.
    async fn list_api_keys(&mut self, user_id: Option<&str>) -> Result<Vec<(ApiKeyRow, String)>, StoreError>;
    /// Pins all keys that are pinned to one toolset to another.
    async fn repoint_api_keys(&mut self, from: &str, to: &str) -> Result<(), StoreError>;
    /// Revokes a key, unless it is revoked.
    async fn revoke_api_key(&mut self, id: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// The token of the set-up link: at most one.
#[async_trait]
pub trait SetupTokens {
    /// Replaces the token.
    async fn put_setup_token(
        &mut self,
        token_hash: &[u8; 32],
        expires_at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
    /// The hash of the token and when it ends.
    async fn find_setup_token(&mut self) -> Result<Option<([u8; 32], DateTime<Utc>)>, StoreError>;
    /// Uses the token up; says whether it was there, so that of two at once only one gets it.
    async fn take_setup_token(&mut self, token_hash: &[u8; 32]) -> Result<bool, StoreError>;
}
