//! Users, as admins manage them.

use toolshelf_api::{CreateUser, Page, UpdateUser, User};
use toolshelf_core::Role;
use toolshelf_runtime::store::{StoreError, UserRow};

use crate::Service;
use crate::account_rules::Fields;
use crate::audit::by_actor;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::paging::page;
use crate::times::rfc3339;

fn shape(row: &UserRow) -> User {
    User {
        id: row.id.clone(),
        username: row.username.clone(),
        role: row.role,
        disabled: row.disabled,
        revision: row.revision,
        created_at: rfc3339(row.created_at),
        updated_at: rfc3339(row.updated_at),
    }
}

impl Service {
    /// One page of all users by name. The cursor is the id of the last user of the page before.
    pub async fn list_users(&self, cursor: Option<&str>, limit: usize) -> Result<Page<User>, ServiceError> {
        let rows = self.store().read().await?.list_users().await?;
        page(rows.iter().map(shape).collect(), |user: &User| &user.id, cursor, limit)
    }

    /// One user.
    pub async fn get_user(&self, id: &str) -> Result<User, ServiceError> {
        let row = self.store().read().await?.find_user(id).await?;
        row.as_ref().map(shape).ok_or_else(|| ServiceError::not_found("user", id))
    }

    /// Makes a user.
    pub async fn create_user(&self, actor: &Actor, new: CreateUser) -> Result<User, ServiceError> {
        let mut fields = Fields::default();
        fields.username("/username", &new.username);
        fields.password("/password", &new.password);
        fields.finish()?;
        let password_hash = self.inner.passwords.hash(new.password, self.environment()).await?;
        let now = self.now();
        let row = UserRow {
            id: self.environment().new_id(),
            username: new.username,
            role: new.role,
            disabled: false,
            password_hash,
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        let mut unit = self.begin_for(actor).await?;
        unit.insert_user(&row).await.map_err(|error| match error {
            StoreError::Taken(_) => ServiceError::conflict(
                "name_taken",
                format!("There is a user named {:?} already. Choose another name.", row.username),
            ),
            other => other.into(),
        })?;
        let detail = format!("As {}.", role_name(row.role));
        unit.append_audit(&by_actor(actor, now, "user.created", &row.username, detail)).await?;
        unit.commit().await?;
        Ok(shape(&row))
    }

    /// Changes a user; ends the user's sessions if the password or the role changes or the user is disabled.
    pub async fn update_user(
        &self,
        actor: &Actor,
        id: &str,
        expected_revision: Option<u64>,
        change: UpdateUser,
    ) -> Result<User, ServiceError> {
        let mut fields = Fields::default();
        if let Some(password) = &change.password {
            fields.password("/password", password);
        }
        fields.finish()?;
        let password_hash = match change.password {
            Some(password) => Some(self.inner.passwords.hash(password, self.environment()).await?),
            None => None,
        };

        let mut unit = self.begin_for(actor).await?;
        let before = unit.find_user(id).await?.ok_or_else(|| ServiceError::not_found("user", id))?;
        if expected_revision.is_some_and(|expected| expected != before.revision) {
            return Err(stale(&before)?);
        }
        let mut row = before.clone();
        let mut changes = Vec::new();
        if let Some(hash) = password_hash {
            row.password_hash = hash;
            changes.push("new password".to_owned());
        }
        if let Some(role) = change.role.filter(|role| *role != before.role) {
            row.role = role;
            changes.push(format!("now {}", role_name(role)));
        }
        if let Some(disabled) = change.disabled.filter(|disabled| *disabled != before.disabled) {
            row.disabled = disabled;
            changes.push(if disabled { "disabled" } else { "enabled" }.to_owned());
        }
        if changes.is_empty() {
            return Ok(shape(&before));
        }
        row.revision += 1;
        row.updated_at = self.now();
        if !unit.update_user(&row, before.revision).await? {
            return Err(stale(&before)?);
        }
        if unit.count_active_admins().await? == 0 {
            return Err(ServiceError::conflict(
                "last_admin",
                "This is the last admin who can sign in. Make another user an admin first.",
            ));
        }
        unit.delete_sessions_of(id).await?;
        unit.append_audit(&by_actor(
            actor,
            row.updated_at,
            "user.updated",
            &row.username,
            changes.join(", "),
        ))
        .await?;
        unit.commit().await?;
        self.accounts_changed();
        Ok(shape(&row))
    }

    /// Gives a user a new random password, enables the user if disabled, and ends the user's sessions. For whoever
    /// has the data folder at hand, when nobody can sign in any more.
    pub async fn reset_password(&self, username: &str) -> Result<String, ServiceError> {
        let password = crate::secrets::new_token(self.environment());
        let password_hash = self.inner.passwords.hash(password.clone(), self.environment()).await?;
        let mut unit = self.store().begin().await?;
        let found = unit.find_user_by_name(username).await?;
        let before = found.ok_or_else(|| ServiceError::not_found("user", username))?;
        let row = UserRow {
            password_hash,
            disabled: false,
            revision: before.revision + 1,
            updated_at: self.now(),
            ..before.clone()
        };
        if !unit.update_user(&row, before.revision).await? {
            return Err(stale(&before)?);
        }
        unit.delete_sessions_of(&row.id).await?;
        let entry = crate::audit::by_system(
            row.updated_at,
            "user.updated",
            &row.username,
            "new password, by the command line",
        );
        unit.append_audit(&entry).await?;
        unit.commit().await?;
        Ok(password)
    }
}

fn stale(current: &UserRow) -> Result<ServiceError, ServiceError> {
    let current = serde_json::to_value(shape(current))
        .map_err(|error| ServiceError::Internal(format!("a user cannot be written as JSON: {error}")))?;
    Ok(ServiceError::Stale { current })
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::User => "user",
    }
}
