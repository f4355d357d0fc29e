//! Profiles and toolsets.

use serde::{Deserialize, Serialize};
use toolshelf_core::NewTools;

use crate::conversations::ChosenToolset;

/// A profile: a named set of tools. `default` is computed and cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Profile {
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its tools by name, missing ones too.
    pub tools: Vec<String>,
    /// Those of `tools` that are not registered now. They are kept, and come back by themselves.
    pub missing: Vec<String>,
    /// Those of `tools` whose schema always ships.
    pub pinned: Vec<String>,
    /// What happens with tools that are first seen after it was made.
    pub new_tools: NewTools,
    /// New tools that wait until somebody adds or removes them.
    pub held: Vec<String>,
    /// The name of its owner; absent for `default`.
    pub owner: Option<String>,
    /// Whether the caller may change it.
    pub can_edit: bool,
    /// Who uses it, so that an editor can say whom a change touches.
    pub used_by: ProfileUse,
    /// Grows with each change; the value of the `ETag`.
    pub revision: u64,
    /// Estimated tokens of its tools in a request.
    pub tokens: u32,
    /// When it was made; absent for `default`.
    pub created_at: Option<String>,
    /// When it was last changed; absent for `default`.
    pub updated_at: Option<String>,
}

/// Who uses a profile. Only numbers: whose they are is not everybody's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileUse {
    /// Conversations that picked it or started with it.
    pub conversations: u64,
    /// API keys that are pinned to it and still work.
    pub keys: u64,
    /// Users whose new conversations start with it; the workspace counts as one when it is active.
    pub starts: u64,
    /// Whether any of these belong to somebody else than the caller.
    pub others: bool,
}

/// The profile that new conversations start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ActiveProfile {
    /// The toolset's name.
    pub name: String,
}

/// The profile that the caller's own new conversations start with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StartProfile {
    /// The toolset's name; null leaves the choice to the workspace.
    pub name: Option<String>,
}

/// What the caller's new conversations start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StartsWith {
    /// The caller's own choice; null leaves it to the workspace.
    pub name: Option<String>,
    /// What that comes to.
    pub in_force: ChosenToolset,
}

/// Makes a profile.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateProfile {
    /// 1 to 64 characters, none of `/ \ : , * ? # %`, not starting with a dot; unique in any letter case.
    pub name: String,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The toolset to copy; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Exactly these tools, instead of a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// What happens with new tools; `ignore` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tools: Option<NewTools>,
}

/// Changes a profile. Absent fields stay.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateProfile {
    /// A new name. The old one leads to the profile for 90 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A new description, at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Exactly these tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Those of the tools whose schema always ships.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<String>>,
    /// What happens with new tools from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tools: Option<NewTools>,
}

/// Adds and removes tools in one revision, all or nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditProfileTools {
    /// Tools to add at the end; those that are in stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Tools to remove; those that are not in are no error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
}

/// Copies a profile under another name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CloneProfile {
    /// The copy's name.
    pub name: String,
}

/// Makes a profile as it was at a revision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreProfile {
    /// The revision to go back to. Going back is a new revision itself.
    pub revision: u64,
}

/// A profile as it was at one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileVersion {
    /// The revision.
    pub revision: u64,
    /// When it was made so.
    pub at: String,
    /// The name of the user who made it so; absent when the system did.
    pub by: Option<String>,
    /// The name that it had.
    pub name: String,
    /// What it was for.
    pub description: String,
    /// The tools that it held.
    pub tools: Vec<String>,
    /// Those whose schema always shipped.
    pub pinned: Vec<String>,
    /// What happened with new tools.
    pub new_tools: NewTools,
}

/// A name that resolves to a set of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolsetSummary {
    /// What to write as `toolset`.
    pub name: String,
    /// `reserved` or `profile`.
    pub kind: String,
    /// How many tools of the catalog it holds.
    pub count: u64,
    /// Estimated tokens of them in a request.
    pub tokens: u32,
}
