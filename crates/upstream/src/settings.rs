//! What the adapter is told by the server that it runs in.

use std::time::Duration;

/// What programs get of this machine, and as whom the servers are greeted.
#[derive(Clone, Debug)]
pub struct McpEnvironment {
    /// `PATH` of programs, in which their names are looked up.
    pub path: Option<String>,
    /// `HOME` of programs, and the folder that they are started in.
    pub home: Option<String>,
    /// `LANG` of programs.
    pub lang: Option<String>,
    /// The name of the client.
    pub client_name: String,
    /// The version of the client.
    pub client_version: String,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until a server has been connected, greeted and listed.
    pub connect: Duration,
    /// Before the first retry. Each further one waits twice as long.
    pub first_retry: Duration,
    /// The longest wait before a retry.
    pub longest_retry: Duration,
    /// After a connection that was ready for this long, waits begin with the first again.
    pub stable_after: Duration,
    /// How long a program may take to end after its input was closed, before it is told to.
    pub close_grace: Duration,
    /// How long it may take after it was told to, before it is killed.
    pub term_grace: Duration,
    /// How long to wait for further changes of a list before asking for it.
    pub settle: Duration,
    /// The least time from one list to the next, however often a server says that it changed.
    pub between_lists: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            first_retry: Duration::from_secs(1),
            longest_retry: Duration::from_mins(1),
            stable_after: Duration::from_mins(1),
            close_grace: Duration::from_secs(2),
            term_grace: Duration::from_secs(1),
            settle: Duration::from_millis(100),
            between_lists: Duration::from_secs(1),
        }
    }
}

/// How long to wait before the next retry.
#[derive(Debug)]
pub(crate) struct Backoff {
    timing: Timing,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(timing: Timing) -> Self {
        Self { timing, next: timing.first_retry }
    }

    /// Takes the next wait.
    pub(crate) fn take(&mut self) -> Duration {
        let wait = self.next.min(self.timing.longest_retry);
        self.next = wait.saturating_mul(2);
        wait
    }

    /// Counts a connection that was ready for some time.
    pub(crate) fn was_ready_for(&mut self, time: Duration) {
        if time >= self.timing.stable_after {
            self.next = self.timing.first_retry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_begin_again_after_a_stable_connection() {
        let mut backoff = Backoff::new(Timing::default());
        let waits: Vec<u64> = (0..8).map(|_| backoff.take().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.was_ready_for(Duration::from_secs(59));
        assert_eq!(backoff.take().as_secs(), 60);
        backoff.was_ready_for(Duration::from_mins(1));
        assert_eq!(backoff.take().as_secs(), 1);
    }
}
