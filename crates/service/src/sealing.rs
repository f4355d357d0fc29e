//! Secrets that must be read again, such as tokens of upstream servers: sealed before they are stored.
//!
//! XChaCha20-Poly1305 with a random nonce. What is sealed is bound to its table, row and column, so that a value cannot be
//! moved to another place. A value that does not open is never an empty one: whoever needs it says "enter it again".

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};
use toolshelf_runtime::Environment;

/// The form of what is stored: this byte, 4 bytes of the key's id, 24 of the nonce, then the text.
const FORM: u8 = 1;
const KEY_ID: usize = 4;
const NONCE: usize = 24;

/// Seals and opens secrets with the key of this installation.
#[derive(Clone)]
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    /// Tells keys apart; it says nothing about the key.
    key_id: [u8; KEY_ID],
}

/// Where a secret is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) table: &'static str,
    pub(crate) row: &'a str,
    pub(crate) column: &'static str,
}

impl Place<'_> {
    /// Lengths stand before the parts, so that no two places read the same.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in [self.table, self.row, self.column] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

impl Sealer {
    /// Seals with a key of 256 random bits.
    pub fn new(key: &[u8; 32]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"toolshelf key id\0");
        hasher.update(key);
        let hash: [u8; 32] = hasher.finalize().into();
        let mut key_id = [0; KEY_ID];
        key_id.copy_from_slice(&hash[..KEY_ID]);
        Self { cipher: XChaCha20Poly1305::new(key.into()), key_id }
    }

    /// Seals a text for its place.
    pub(crate) fn seal(&self, environment: &Environment, place: Place<'_>, text: &str) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        environment.random.fill(&mut nonce);
        let payload = Payload { msg: text.as_bytes(), aad: &place.bytes() };
        let sealed =
            self.cipher.encrypt(&XNonce::from(nonce), payload).expect("a text in memory is short enough");
        [&[FORM][..], &self.key_id, &nonce, &sealed].concat()
    }

    /// Opens what was sealed for this place; none if it was not, or with another key.
    pub(crate) fn open(&self, place: Place<'_>, stored: &[u8]) -> Option<String> {
        let rest = stored.strip_prefix(&[FORM])?;
        let rest = rest.strip_prefix(&self.key_id)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let payload = Payload { msg: sealed, aad: &place.bytes() };
        let opened = self.cipher.decrypt(&XNonce::from(nonce), payload).ok()?;
        String::from_utf8(opened).ok()
    }
}

#[cfg(test)]
mod tests {
    use toolshelf_runtime::Environment;

    use super::{Place, Sealer};

    fn place(row: &str) -> Place<'_> {
        Place { table: "mcp_servers", row, column: "secrets" }
    }

    #[test]
    fn opens_in_its_place_with_its_key_only() {
        let (sealer, environment) = (Sealer::new(&[7; 32]), Environment::system());
        let stored = sealer.seal(&environment, place("github"), "token");
        assert_eq!(sealer.open(place("github"), &stored).as_deref(), Some("token"));
        assert_eq!(sealer.open(place("other"), &stored), None);
        assert_eq!(sealer.open(Place { column: "settings", ..place("github") }, &stored), None);
        assert_eq!(Sealer::new(&[8; 32]).open(place("github"), &stored), None);
        for position in 0..stored.len() {
            let mut damaged = stored.clone();
            damaged[position] ^= 1;
            assert_eq!(sealer.open(place("github"), &damaged), None, "byte {position}");
            assert_eq!(sealer.open(place("github"), &stored[..position]), None, "{position} bytes");
        }
    }

    #[test]
    fn the_same_text_is_sealed_differently_each_time_and_does_not_show() {
        let (sealer, environment) = (Sealer::new(&[7; 32]), Environment::system());
        let (a, b) =
            (sealer.seal(&environment, place("x"), "token"), sealer.seal(&environment, place("x"), "token"));
        assert_ne!(a, b);
        assert!(!a.windows(5).any(|part| part == b"token"));
    }
}
