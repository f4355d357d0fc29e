//! The first account, made through the set-up link.

use std::net::IpAddr;
use std::sync::PoisonError;

use chrono::TimeDelta;
use toolshelf_api::{FunctionsMeta, Setup};
use toolshelf_core::Role;
use toolshelf_runtime::store::{UnitOfWork, UserRow};

use crate::account_rules::Fields;
use crate::audit::by_system;
use crate::error::ServiceError;
use crate::functions_meta::{CheckedFunctions, import};
use crate::secrets::{hash_token, new_token};
use crate::sessions::SignedIn;
use crate::writer::Written;
use crate::{SETUP_LINK_MINUTES, Service};

const NO_LONGER: &str = "This set-up link does not work: it was replaced, is over an hour old, or was mistyped. Restart the \
                         server to get a new one; it is printed at start.";

impl Service {
    /// A new token for the set-up link while there is no account; it replaces the one before.
    pub async fn new_setup_token(&self) -> Result<Option<String>, ServiceError> {
        let mut unit = self.store().begin().await?;
        if unit.count_users().await? > 0 {
            return Ok(None);
        }
        let token = new_token(self.environment());
        unit.put_setup_token(&hash_token(&token), self.now() + TimeDelta::minutes(SETUP_LINK_MINUTES))
            .await?;
        unit.commit().await?;
        Ok(Some(token))
    }

    /// Whether the installation waits for its first account.
    pub async fn needs_setup(&self) -> Result<bool, ServiceError> {
        Ok(self.store().read().await?.count_users().await? == 0)
    }

    /// Makes the first account, an admin, and signs it in. Of two at once only one succeeds.
    pub async fn set_up(&self, setup: Setup, address: IpAddr) -> Result<SignedIn, ServiceError> {
        // No user name holds a space, so this never counts for an account.
        self.inner.limits.count("set up", address)?;
        let token_hash = hash_token(setup.token.trim());
        // Before the costly hash, so that a wrong token costs little.
        self.check_setup_token(&token_hash).await?;
        check_fields(&setup)?;
        let password_hash = self.inner.passwords.hash(setup.password, self.environment()).await?;
        let now = self.now();
        let user = UserRow {
            id: self.environment().new_id(),
            username: setup.username,
            role: Role::Admin,
            disabled: false,
            password_hash,
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        let waiting = self.inner.waiting_import.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(document) = waiting else {
            let mut unit = self.store().begin().await?;
            let signed_in = self.make_first_account(&mut *unit, &token_hash, &user).await?;
            unit.commit().await?;
            return Ok(signed_in);
        };
        // The account and what it owns are made together, so that no stop in between loses either.
        let (service, author) =
            (self.clone(), self.author(user.id.clone(), user.username.clone(), &document));
        self.write(None, move |unit, snapshot| {
            Box::pin(async move {
                let signed_in = service.make_first_account(unit, &token_hash, &user).await?;
                let imported = import(unit, snapshot, &author, &document, false).await?;
                Ok(Written { value: signed_in, deltas: imported.deltas })
            })
        })
        .await
    }

    /// Keeps a document that is imported when the first account is made, because profiles need an owner.
    pub fn import_at_setup(&self, document: FunctionsMeta) -> Result<(), ServiceError> {
        let document = CheckedFunctions::new(document)?;
        document.stands_alone()?;
        if !document.is_empty() {
            *self.inner.waiting_import.lock().unwrap_or_else(PoisonError::into_inner) = Some(document);
        }
        Ok(())
    }

    async fn make_first_account(
        &self,
        unit: &mut dyn UnitOfWork,
        token_hash: &[u8; 32],
        user: &UserRow,
    ) -> Result<SignedIn, ServiceError> {
        if unit.count_users().await? > 0 {
            return Err(done());
        }
        if !unit.take_setup_token(token_hash).await? {
            return Err(ServiceError::invalid("/token", NO_LONGER));
        }
        unit.insert_user(user).await?;
        let detail = "The first admin, by the set-up link.";
        unit.append_audit(&by_system(user.created_at, "user.created", &user.username, detail)).await?;
        self.open_session(unit, user).await
    }

    /// Says what is wrong with a set-up, without making anything or using the token up.
    pub async fn check_setup(&self, setup: &Setup) -> Result<(), ServiceError> {
        self.check_setup_link(&setup.token).await?;
        check_fields(setup)
    }

    /// Says why a set-up token does not work, without using it up.
    pub async fn check_setup_link(&self, token: &str) -> Result<(), ServiceError> {
        self.check_setup_token(&hash_token(token.trim())).await
    }

    async fn check_setup_token(&self, token_hash: &[u8; 32]) -> Result<(), ServiceError> {
        let mut unit = self.store().read().await?;
        if unit.count_users().await? > 0 {
            return Err(done());
        }
        match unit.find_setup_token().await? {
            Some((stored, expires_at)) if stored == *token_hash && expires_at > self.now() => Ok(()),
            _ => Err(ServiceError::invalid("/token", NO_LONGER)),
        }
    }
}

fn check_fields(setup: &Setup) -> Result<(), ServiceError> {
    let mut fields = Fields::default();
    fields.username("/username", &setup.username);
    fields.password("/password", &setup.password);
    fields.finish()
}

fn done() -> ServiceError {
    ServiceError::conflict("already_set_up", "The first account exists already. Sign in with it.")
}
