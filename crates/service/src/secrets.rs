//! Tokens: made of 256 random bits, kept as SHA-256.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use toolshelf_runtime::Environment;

/// What API keys begin with, so that a leaked one is recognised.
pub(crate) const KEY_PREFIX: &str = "ts_";

/// A new token: 256 random bits in 43 URL-safe characters.
pub(crate) fn new_token(environment: &Environment) -> String {
    URL_SAFE_NO_PAD.encode(environment.new_secret())
}

/// What is kept of a token. A fast hash is enough: nobody can guess 256 random bits.
pub(crate) fn hash_token(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// What a page of a session must send with each write. It follows from the session's token, which only the cookie
/// holds, so another site can neither read nor guess it.
pub(crate) fn csrf_token(session_token: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"toolshelf csrf token\0");
    hasher.update(session_token.as_bytes());
    URL_SAFE_NO_PAD.encode(hasher.finalize())
}

/// Compares without telling by the time how much is alike.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}
