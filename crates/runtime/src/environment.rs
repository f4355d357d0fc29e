//! Time, ids and randomness, injected so that tests can repeat them.

use std::sync::Arc;

use chrono::{DateTime, SubsecRound, Utc};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now, cut to microseconds, so that every database gives back what it was given.
    fn now(&self) -> DateTime<Utc>;
}

/// Makes random bytes.
pub trait Random: Send + Sync {
    /// Fills the buffer with bytes that nobody can guess.
    fn fill(&self, buffer: &mut [u8]);
}

/// The operating system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system's clock")]
        Utc::now().trunc_subsecs(6)
    }
}

/// The operating system's source of randomness.
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system has a source of randomness");
    }
}

/// What a use case needs of the outside world besides the store.
#[derive(Clone)]
pub struct Environment {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes random bytes.
    pub random: Arc<dyn Random>,
}

impl Environment {
    /// The real world.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), random: Arc::new(SystemRandom) }
    }

    /// The time now.
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// A new id: a UUID of version 7, so that ids sort by the time at which they were made.
    pub fn new_id(&self) -> String {
        let mut random = [0; 10];
        self.random.fill(&mut random);
        let millis = u64::try_from(self.now().timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }

    /// 256 random bits, for tokens.
    pub fn new_secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        self.random.fill(&mut secret);
        secret
    }
}
