//! Turns a session cookie or an API key into somebody who may ask.

use std::sync::Arc;

use toolshelf_api::{KeyScope, Me};
use toolshelf_core::{Caller, Identity, KeyIdentity, Role};
use toolshelf_runtime::store::{ApiKeyRow, UserRow};

use crate::Service;
use crate::access::Standing;
use crate::error::ServiceError;
use crate::references;
use crate::secrets::{KEY_PREFIX, csrf_token, hash_token, same};

/// Somebody whose identity was just proven.
#[derive(Clone, Debug)]
pub struct Actor {
    caller: Caller,
    proof: Proof,
}

#[derive(Clone, Debug)]
enum Proof {
    Session(SessionProof),
    Key(Vec<KeyScope>),
}

/// The browser session that proved an identity.
#[derive(Clone, Debug)]
pub struct SessionProof {
    /// SHA-256 of the session's token.
    pub token_hash: [u8; 32],
    /// What each write must send.
    pub csrf_token: String,
}

impl Actor {
    /// Who it is.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// What counts for access.
    pub fn standing(&self) -> Standing<'_> {
        match &self.proof {
            Proof::Session(_) => Standing::Session(self.role()),
            Proof::Key(scopes) => Standing::Key(self.role(), scopes),
        }
    }

    /// The browser session, unless a key speaks.
    pub fn session(&self) -> Option<&SessionProof> {
        match &self.proof {
            Proof::Session(session) => Some(session),
            Proof::Key(_) => None,
        }
    }

    /// Whether a write that sends this token comes from a page of ours. Keys need none: no browser sends them by
    /// itself.
    pub fn accepts_csrf_token(&self, sent: Option<&str>) -> bool {
        match &self.proof {
            Proof::Session(session) => sent.is_some_and(|sent| same(sent, &session.csrf_token)),
            Proof::Key(_) => true,
        }
    }

    /// Whether the actor may call tools: a person may, a key needs the scope.
    pub(crate) fn may_call(&self) -> bool {
        match &self.proof {
            Proof::Session(_) => true,
            Proof::Key(scopes) => scopes.contains(&KeyScope::Call),
        }
    }

    /// The answer to `GET /me`.
    pub fn me(&self) -> Me {
        let identity = self.caller.identity();
        let (csrf_token, scopes) = match &self.proof {
            Proof::Session(session) => (Some(session.csrf_token.clone()), None),
            Proof::Key(scopes) => (None, Some(scopes.clone())),
        };
        Me {
            id: identity.user_id.to_string(),
            username: identity.username.to_string(),
            role: identity.role,
            csrf_token,
            scopes,
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.caller.identity().role
    }

    pub(crate) fn user_id(&self) -> &str {
        &self.caller.identity().user_id
    }

    pub(crate) fn username(&self) -> &str {
        &self.caller.identity().username
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        self.caller.identity().key.as_ref().map(|key| key.id.as_ref())
    }

    pub(crate) fn key_name(&self) -> Option<&str> {
        self.caller.identity().key.as_ref().map(|key| key.name.as_ref())
    }
}

impl Service {
    /// Whose session the cookie's token opens.
    pub async fn authenticate_session(&self, token: &str) -> Result<Actor, ServiceError> {
        const ENDED: ServiceError = ServiceError::Unauthenticated("The session has ended. Sign in again.");
        let token_hash = hash_token(token);
        let found = self.store().read().await?.find_session(&token_hash).await?;
        let Some((session, user)) = found else { return Err(ENDED) };
        if session.expires_at <= self.now() || user.disabled {
            return Err(ENDED);
        }
        let proof = SessionProof { token_hash, csrf_token: csrf_token(token) };
        Ok(Actor { caller: caller(&user, None), proof: Proof::Session(proof) })
    }

    /// For whom the API key speaks. A wrong, revoked or expired key and one of a disabled user get the same answer.
    pub async fn authenticate_key(&self, token: &str) -> Result<Actor, ServiceError> {
        const REFUSED: ServiceError =
            ServiceError::Unauthenticated("The API key is wrong, expired or revoked. Make a new one.");
        if !token.starts_with(KEY_PREFIX) {
            return Err(REFUSED);
        }
        let found = self.store().read().await?.find_api_key_by_token(&hash_token(token)).await?;
        let Some((key, user)) = found else { return Err(REFUSED) };
        let ended = key.revoked_at.is_some() || key.expires_at.is_some_and(|at| at <= self.now());
        if ended || user.disabled {
            return Err(REFUSED);
        }
        let scopes =
            key.scopes.iter().map(|scope| KeyScope::parse(scope)).collect::<Option<Vec<_>>>().ok_or_else(
                || ServiceError::Internal(format!("the API key {} has an unknown scope", key.id)),
            )?;
        Ok(Actor { caller: caller(&user, Some(key_identity(&key)?)), proof: Proof::Key(scopes) })
    }
}

/// The one place that says who somebody is.
fn caller(user: &UserRow, key: Option<KeyIdentity>) -> Caller {
    #[expect(clippy::disallowed_methods, reason = "this is the authenticator")]
    Caller::authenticated(Identity {
        user_id: user.id.as_str().into(),
        username: user.username.as_str().into(),
        role: user.role,
        key,
    })
}

fn key_identity(key: &ApiKeyRow) -> Result<KeyIdentity, ServiceError> {
    let pinned = match &key.pinned {
        None => None,
        // A pin that cannot be read must not become no pin.
        Some(stored) => Some(references::read(stored).ok_or_else(|| {
            ServiceError::Internal(format!("the pin of the API key {} cannot be read", key.id))
        })?),
    };
    Ok(KeyIdentity { id: key.id.as_str().into(), name: Arc::from(key.name.as_str()), pinned })
}
