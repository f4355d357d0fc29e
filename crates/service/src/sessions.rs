//! Signing in and out.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use toolshelf_api::Login;
use toolshelf_runtime::store::{SessionRow, UnitOfWork, UserRow};

use crate::Service;
use crate::access::Denied;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::secrets::{csrf_token, hash_token, new_token};

/// How long a session lasts.
const SESSION_DAYS: i64 = 30;

/// A session that was just opened.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// What the cookie holds. It is shown to nobody else.
    pub token: String,
    /// When the session ends by itself.
    pub expires_at: DateTime<Utc>,
    /// Who signed in.
    pub me: toolshelf_api::Me,
}

impl Service {
    /// Opens a session, and ends the one that the same browser had `before`. A wrong name and a wrong password get the
    /// same answer after the same time.
    pub async fn log_in(
        &self,
        login: Login,
        address: IpAddr,
        before: Option<&Actor>,
    ) -> Result<SignedIn, ServiceError> {
        const WRONG: ServiceError = ServiceError::Unauthenticated("The user name or the password is wrong.");
        self.inner.limits.count(&login.username, address)?;
        let user = self.store().read().await?.find_user_by_name(&login.username).await?;
        let hash = user.as_ref().filter(|user| !user.disabled).map(|user| user.password_hash.clone());
        if !self.inner.passwords.verify(login.password, hash).await? {
            return Err(WRONG);
        }
        let Some(user) = user else { return Err(WRONG) };
        let mut unit = self.store().begin().await?;
        // The password or the role may have changed while the hash was computed.
        let same = unit.find_user(&user.id).await?.is_some_and(|now| now.revision == user.revision);
        if !same {
            return Err(WRONG);
        }
        if let Some(session) = before.and_then(Actor::session) {
            unit.delete_session(&session.token_hash).await?;
        }
        let signed_in = self.open_session(&mut *unit, &user).await?;
        unit.commit().await?;
        self.accounts_changed();
        Ok(signed_in)
    }

    /// Confirms the password of whoever is signed in, so that for a while the session may do what asks for it. Tries count like
    /// those of signing in.
    pub async fn confirm_password(
        &self,
        actor: &Actor,
        password: String,
        address: IpAddr,
    ) -> Result<(), ServiceError> {
        let Some(session) = actor.session() else { return Err(ServiceError::Denied(Denied::SessionOnly)) };
        self.inner.limits.count(actor.username(), address)?;
        let user = self.store().read().await?.find_user(actor.user_id()).await?;
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        if !self.inner.passwords.verify(password, hash.clone()).await? {
            return Err(ServiceError::invalid("/password", "The password is wrong."));
        }
        let mut unit = self.begin_for(actor).await?;
        // The password may have changed while the hash was computed.
        let now = unit.find_user(actor.user_id()).await?.map(|user| user.password_hash);
        if now != hash {
            return Err(ServiceError::invalid("/password", "The password is wrong."));
        }
        unit.confirm_session(&session.token_hash, self.now()).await?;
        unit.commit().await?;
        Ok(())
    }

    /// Ends the actor's session.
    pub async fn log_out(&self, actor: &Actor) -> Result<(), ServiceError> {
        let Some(session) = actor.session() else { return Ok(()) };
        let mut unit = self.store().begin().await?;
        unit.delete_session(&session.token_hash).await?;
        unit.commit().await?;
        self.accounts_changed();
        Ok(())
    }

    pub(crate) async fn open_session(
        &self,
        unit: &mut dyn UnitOfWork,
        user: &UserRow,
    ) -> Result<SignedIn, ServiceError> {
        let token = new_token(self.environment());
        let now = self.now();
        let session = SessionRow {
            token_hash: hash_token(&token),
            user_id: user.id.clone(),
            created_at: now,
            expires_at: now + TimeDelta::days(SESSION_DAYS),
        };
        unit.insert_session(&session).await?;
        let me = toolshelf_api::Me {
            id: user.id.clone(),
            username: user.username.clone(),
            role: user.role,
            csrf_token: Some(csrf_token(&token)),
            scopes: None,
        };
        Ok(SignedIn { token, expires_at: session.expires_at, me })
    }
}
