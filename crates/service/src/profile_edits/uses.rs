//! Who uses a profile: keys that are pinned to it, conversations, what new conversations start with.

use std::collections::HashMap;

use toolshelf_api::ProfileUse;
use toolshelf_core::Role;
use toolshelf_runtime::store::UnitOfWork;

use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::starts::active;

/// Who uses one profile, by user id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// The owner of each key that is pinned to it and works.
    keys: Vec<String>,
    /// Whose conversations refer to it, and how many.
    conversations: Vec<(String, u64)>,
    /// Whose new conversations start with it.
    starts: Vec<String>,
    /// Whether the workspace's do.
    active: bool,
}

/// How a profile is written where it is referred to.
pub(crate) fn stored(id: &str) -> String {
    format!("profile:{id}")
}

/// The users of every profile that has any, by stored reference; with `only`, of that one. One query for each kind of
/// use, however many profiles there are.
pub(crate) async fn all_uses(
    unit: &mut dyn UnitOfWork,
    only: Option<&str>,
) -> Result<HashMap<String, Uses>, ServiceError> {
    let mut uses: HashMap<String, Uses> = HashMap::new();
    let wanted = |reference: &str| only.is_none_or(|only| only == reference);
    for (key, _) in unit.list_api_keys(None).await? {
        if let Some(pinned) = key.pinned.filter(|pinned| key.revoked_at.is_none() && wanted(pinned)) {
            uses.entry(pinned).or_default().keys.push(key.user_id);
        }
    }
    for of_user in unit.list_conversation_uses(only).await? {
        let of_user = (of_user.reference, (of_user.user_id, of_user.conversations));
        uses.entry(of_user.0).or_default().conversations.push(of_user.1);
    }
    for (user_id, reference) in unit.list_start_toolsets().await? {
        if wanted(&reference) {
            uses.entry(reference).or_default().starts.push(user_id);
        }
    }
    let active = active(unit).await?.reference;
    if wanted(&active) {
        uses.entry(active).or_default().active = true;
    }
    Ok(uses)
}

/// The users of one profile.
pub(crate) async fn uses_of(unit: &mut dyn UnitOfWork, id: &str) -> Result<Uses, ServiceError> {
    let reference = stored(id);
    Ok(all_uses(unit, Some(&reference)).await?.remove(&reference).unwrap_or_default())
}

/// Makes everything that refers to a profile refer to another toolset.
pub(crate) async fn repoint(unit: &mut dyn UnitOfWork, id: &str, to: &str) -> Result<(), ServiceError> {
    let from = stored(id);
    unit.repoint_api_keys(&from, to).await?;
    unit.repoint_conversations(&from, to).await?;
    unit.repoint_start_toolsets(&from, to).await?;
    let mut active = active(unit).await?;
    if active.reference == from {
        to.clone_into(&mut active.reference);
        active.revision += 1;
        unit.put_active_toolset(&active).await?;
    }
    Ok(())
}

impl Uses {
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.conversations.is_empty() && self.starts.is_empty() && !self.active
    }

    /// The part that is not the user's own. The workspace's is nobody's own.
    fn of_others(&self, user_id: &str) -> Self {
        let others = |users: &[String]| users.iter().filter(|user| *user != user_id).cloned().collect();
        Self {
            keys: others(&self.keys),
            conversations: self.conversations.iter().filter(|(user, _)| user != user_id).cloned().collect(),
            starts: others(&self.starts),
            active: self.active,
        }
    }

    /// The part that somebody may not re-point or widen.
    pub(crate) fn beyond(&self, actor: &Actor) -> Self {
        if actor.role() == Role::Admin { Self::default() } else { self.of_others(actor.user_id()) }
    }

    /// As the API shows it.
    pub(crate) fn shown(&self, actor: &Actor) -> ProfileUse {
        ProfileUse {
            conversations: self.conversation_count(),
            keys: self.keys.len() as u64,
            starts: self.starts.len() as u64 + u64::from(self.active),
            others: !self.of_others(actor.user_id()).is_empty(),
        }
    }

    fn conversation_count(&self) -> u64 {
        self.conversations.iter().map(|(_, count)| count).sum()
    }

    /// Why a profile with these users cannot just be deleted. Only numbers: whose they are is not everybody's business.
    pub(crate) fn in_use(&self, name: &str) -> ServiceError {
        let mut parts = Vec::new();
        let mut part = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            _ => parts.push(format!("{count} {many}")),
        };
        part(self.keys.len() as u64, "API key", "API keys");
        part(self.conversation_count(), "conversation", "conversations");
        part(self.starts.len() as u64, "user who starts with it", "users who start with it");
        part(u64::from(self.active), "workspace default", "");
        let users = match parts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "Nothing".to_owned(),
        };
        let verb = if users.starts_with("1 ") && !users.contains(" and ") { "uses" } else { "use" };
        ServiceError::conflict("in_use", format!("{users} {verb} {name}. Name a replacement for them."))
    }
}
