//! Hashing and checking passwords.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;
use toolshelf_runtime::Environment;

use crate::error::ServiceError;

/// Hashes with Argon2id. Each hash takes 19 MiB for a moment, so only a few run at once.
pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
}

const AT_ONCE: usize = 2;

/// The hash of nobody's password, checked when a user does not exist so that the answer takes as long: a hash of 32 random bytes that were thrown away, with the parameters of [`Argon2::default`]. It is a constant
/// because making it would cost every start as much as a sign-in.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$dG9vbHNoZWxmbm9ib2R5$3m9Qm0Yd0m1oKcR0yq1m0kq3o3b5zZ5vJw1x6eY7u2k";

impl Passwords {
    pub(crate) fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Hashes a password with a salt of 16 random bytes.
    pub(crate) async fn hash(
        &self,
        password: String,
        environment: &Environment,
    ) -> Result<String, ServiceError> {
        let secret = environment.new_secret();
        self.blocking(move || {
            Argon2::default()
                .hash_password_with_salt(password.as_bytes(), &secret[..16])
                .map(|hash| hash.to_string())
                .map_err(|error| ServiceError::Internal(format!("a password could not be hashed: {error}")))
        })
        .await?
    }

    /// Whether the password has this hash; without a hash the answer is no, after the same time.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool, ServiceError> {
        self.blocking(move || {
            let known = hash.is_some();
            let text = hash.as_deref().unwrap_or(NOBODY);
            let parsed = argon2::password_hash::phc::PasswordHash::new(text).map_err(|error| {
                ServiceError::Internal(format!("a stored password hash is damaged: {error}"))
            })?;
            Ok(Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok() && known)
        })
        .await?
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit =
            permit.map_err(|_| ServiceError::Internal("the password hasher was closed".to_owned()))?;
        tokio::task::spawn_blocking(move || {
            // Held by the work itself: a caller who goes away does not make room while the work goes on.
            let _permit = permit;
            work()
        })
        .await
        .map_err(|error| ServiceError::Internal(format!("the password hasher failed: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::phc::PasswordHash;
    use toolshelf_runtime::Environment;

    use super::{NOBODY, Passwords};

    #[tokio::test]
    async fn only_the_right_password_of_somebody_is_right() {
        let (passwords, environment) = (Passwords::new(), Environment::system());
        let hash = passwords.hash("correct horse battery".to_owned(), &environment).await.unwrap();
        let verify = |password: &str, hash: Option<String>| passwords.verify(password.to_owned(), hash);
        assert!(verify("correct horse battery", Some(hash.clone())).await.unwrap());
        assert!(!verify("correct horse batterz", Some(hash.clone())).await.unwrap());
        assert!(!verify("correct horse battery", None).await.unwrap());
        assert!(verify("anything", Some("damaged".to_owned())).await.is_err());
    }

    #[tokio::test]
    async fn nobody_costs_as_much_as_somebody() {
        let hash =
            Passwords::new().hash("correct horse battery".to_owned(), &Environment::system()).await.unwrap();
        let (nobody, somebody) = (PasswordHash::new(NOBODY).unwrap(), PasswordHash::new(&hash).unwrap());
        assert_eq!((nobody.algorithm, nobody.version), (somebody.algorithm, somebody.version));
        assert_eq!(nobody.params, somebody.params);
        assert_eq!(nobody.hash.unwrap().len(), somebody.hash.unwrap().len());
    }
}
