//! API keys.

use chrono::{DateTime, Datelike as _, Utc};
use toolshelf_api::{ApiKey, CreateApiKey, CreatedApiKey, KeyScope, Page};
use toolshelf_core::{RequestError, Role, Snapshot, Toolset};
use toolshelf_runtime::store::ApiKeyRow;

use crate::Service;
use crate::account_rules::Fields;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::paging::page;
use crate::references;
use crate::secrets::{KEY_PREFIX, hash_token, new_token};
use crate::times::rfc3339;

fn shape(snapshot: &Snapshot, row: &ApiKeyRow, owner: &str) -> ApiKey {
    ApiKey {
        id: row.id.clone(),
        name: row.name.clone(),
        owner: owner.to_owned(),
        scopes: row.scopes.iter().filter_map(|scope| KeyScope::parse(scope)).collect(),
        profile: row.pinned.as_deref().map(|pinned| references::shown(snapshot, pinned)),
        expires_at: row.expires_at.map(rfc3339),
        created_at: rfc3339(row.created_at),
        revoked_at: row.revoked_at.map(rfc3339),
    }
}

impl Service {
    /// One page of the actor's keys, newest first; of all keys for an admin. The cursor is the id of the last key of
    /// the page before.
    pub async fn list_api_keys(
        &self,
        actor: &Actor,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<ApiKey>, ServiceError> {
        let of = (actor.role() != Role::Admin).then(|| actor.user_id());
        let snapshot = self.registry().snapshot().load()?;
        let rows = self.store().read().await?.list_api_keys(of).await?;
        let items: Vec<ApiKey> = rows.iter().map(|(row, owner)| shape(&snapshot, row, owner)).collect();
        page(items, |key: &ApiKey| &key.id, cursor, limit)
    }

    /// Makes a key for the actor. Its token is in the answer and nowhere else.
    pub async fn create_api_key(
        &self,
        actor: &Actor,
        new: CreateApiKey,
    ) -> Result<CreatedApiKey, ServiceError> {
        let mut fields = Fields::default();
        let name = new.name.trim();
        fields.line("/name", name, 64);
        let mut scopes = new.scopes;
        scopes.sort_unstable();
        scopes.dedup();
        if scopes.is_empty() {
            fields.refuse("/scopes", "Choose at least one scope.");
        }
        if scopes.contains(&KeyScope::Admin) && actor.role() != Role::Admin {
            fields.refuse("/scopes", "Only an admin's key can have the scope admin.");
        }
        let expires_at = match new.expires_at.as_deref().map(DateTime::parse_from_rfc3339) {
            None => None,
            // A later year is not RFC 3339 any more.
            Some(Ok(at)) if at > self.now() && at.with_timezone(&Utc).year() <= 9999 => {
                Some(at.with_timezone(&Utc))
            }
            Some(Ok(_)) => {
                fields.refuse("/expires_at", "Use a time that is still to come, before the year 10000.");
                None
            }
            Some(Err(_)) => {
                fields.refuse("/expires_at", "Write the time as RFC 3339, such as 2027-01-31T00:00:00Z.");
                None
            }
        };
        fields.finish()?;
        let snapshot = self.registry().snapshot().load()?;
        let toolset = new.profile.as_deref().map(|name| Toolset::named(&snapshot, name)).transpose();
        let toolset = toolset.map_err(|error| ServiceError::Request { error, pointer: "/profile" })?;
        let pinned = toolset.as_ref().and_then(references::stored);

        let token = format!("{KEY_PREFIX}{}", new_token(self.environment()));
        let row = ApiKeyRow {
            id: self.environment().new_id(),
            user_id: actor.user_id().to_owned(),
            name: name.to_owned(),
            token_hash: hash_token(&token),
            scopes: scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            pinned,
            expires_at,
            created_at: self.now(),
            revoked_at: None,
        };
        let mut unit = self.begin_for(actor).await?;
        // Its profile may have been deleted since the snapshot was read; in here nobody deletes one.
        if let (Some(Toolset::Profile(id)), Some(name)) = (&toolset, new.profile)
            && unit.find_profile(id).await?.is_none()
        {
            let error = RequestError::RetiredToolset { name };
            return Err(ServiceError::Request { error, pointer: "/profile" });
        }
        unit.insert_api_key(&row).await?;
        let detail = format!("Scopes: {}.", row.scopes.join(", "));
        unit.append_audit(&by_actor(actor, row.created_at, "api_key.created", &row.name, detail)).await?;
        unit.commit().await?;
        Ok(CreatedApiKey { key: shape(&snapshot, &row, actor.username()), token })
    }

    /// Revokes a key of the actor's, or any key for an admin. Revoking twice is no error.
    pub async fn revoke_api_key(&self, actor: &Actor, id: &str) -> Result<ApiKey, ServiceError> {
        let mut unit = self.begin_for(actor).await?;
        let found = unit.find_api_key(id).await?;
        // Another user's key answers like one that does not exist.
        let visible = found.filter(|(row, _)| actor.role() == Role::Admin || row.user_id == actor.user_id());
        let Some((mut row, owner)) = visible else { return Err(ServiceError::not_found("API key", id)) };
        if row.revoked_at.is_none() {
            let now = self.now();
            unit.revoke_api_key(id, now).await?;
            row.revoked_at = Some(now);
            let detail = format!("It was {owner}'s.");
            unit.append_audit(&by_actor(actor, now, "api_key.revoked", &row.name, detail)).await?;
            unit.commit().await?;
            self.accounts_changed();
        }
        Ok(shape(&*self.registry().snapshot().load()?, &row, &owner))
    }
}
