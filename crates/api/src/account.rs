//! Set-up, sign-in, users and API keys.

use serde::{Deserialize, Serialize};

use toolshelf_core::Role;

/// Makes the first account, an admin. Works once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The token of the set-up link.
    pub token: String,
    /// 1 to 64 letters, digits, `.`, `_` or `-`; compared without letter case.
    pub username: String,
    /// At least 12 characters, at most 1,024 bytes.
    pub password: String,
}

/// Opens a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: String,
}

/// Who the request speaks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Me {
    /// The user's id.
    pub id: String,
    /// The user's name.
    pub username: String,
    /// The user's role now.
    pub role: Role,
    /// What a write must send as `X-CSRF-Token`; absent for API keys, which need none.
    pub csrf_token: Option<String>,
    /// The scopes of the API key that speaks for the user; absent in a browser session.
    pub scopes: Option<Vec<KeyScope>>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct User {
    /// The user's id.
    pub id: String,
    /// The user's name.
    pub username: String,
    /// The user's role.
    pub role: Role,
    /// Whether the user may not sign in.
    pub disabled: bool,
    /// Grows with each change; the value of the `ETag`.
    pub revision: u64,
    /// When the user was made.
    pub created_at: String,
    /// When the user was last changed.
    pub updated_at: String,
}

/// Makes a user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateUser {
    /// 1 to 64 letters, digits, `.`, `_` or `-`; compared without letter case.
    pub username: String,
    /// At least 12 characters, at most 1,024 bytes.
    pub password: String,
    /// The user's role.
    pub role: Role,
}

/// Changes a user. Absent fields stay. A new password or role, or disabling, ends the user's sessions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateUser {
    /// A new password: at least 12 characters, at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// A new role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Whether the user may not sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// What an API key may do, cut by its owner's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// Read the catalog, resolve and explain.
    Read,
    /// Change profiles and conversations.
    Curate,
    /// Call tools.
    Call,
    /// Decide approvals.
    Approve,
    /// Connect over MCP.
    Mcp,
    /// Administer; its owner must be an admin.
    Admin,
}

impl KeyScope {
    /// All scopes, in the order of lists.
    pub const ALL: [Self; 6] = [Self::Read, Self::Curate, Self::Call, Self::Approve, Self::Mcp, Self::Admin];

    /// The scope as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Curate => "curate",
            Self::Call => "call",
            Self::Approve => "approve",
            Self::Mcp => "mcp",
            Self::Admin => "admin",
        }
    }

    /// Reads a scope as it is written.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// An API key, without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKey {
    /// The key's id.
    pub id: String,
    /// The key's name.
    pub name: String,
    /// The name of its owner.
    pub owner: String,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// The toolset that everything under this key is cut to.
    pub profile: Option<String>,
    /// When it ends by itself.
    pub expires_at: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// Makes an API key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateApiKey {
    /// 1 to 64 characters.
    pub name: String,
    /// What it may do; at least one.
    pub scopes: Vec<KeyScope>,
    /// The toolset that everything under this key is cut to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// An API key that was just made. The token is shown this once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreatedApiKey {
    /// The key.
    #[serde(flatten)]
    pub key: ApiKey,
    /// What to send as `Authorization: Bearer …`.
    pub token: String,
}
