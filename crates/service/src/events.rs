//! Notices of change: a bounded history, and whoever listens.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use toolshelf_api::Event;

/// How many events are kept for listeners that come back.
const HISTORY: usize = 256;

/// The place of an event in the sequence of one run of the server. Written `epoch.seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    epoch: i64,
    sequence: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.sequence)
    }
}

impl std::str::FromStr for EventId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (epoch, sequence) = text.split_once('.').ok_or(())?;
        Ok(Self { epoch: epoch.parse().map_err(|_| ())?, sequence: sequence.parse().map_err(|_| ())? })
    }
}

/// An event with its place.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// Its place.
    pub id: EventId,
    /// The event.
    pub event: Event,
}

/// Tells listeners what changed.
pub struct Events {
    epoch: i64,
    state: Mutex<State>,
}

struct State {
    /// The place of the last event, of runs too: they share one sequence.
    sequence: u64,
    /// The place of the last event that is no longer kept.
    forgotten: u64,
    history: VecDeque<Arc<Numbered>>,
    sender: broadcast::Sender<Arc<Numbered>>,
}

/// What a listener gets.
pub struct Subscription {
    /// Events that it missed; none if it starts anew.
    pub missed: Vec<Arc<Numbered>>,
    /// Whether events were lost, so that the listener must read everything again.
    pub resync: bool,
    /// The place before the first event to come.
    pub at: EventId,
    /// Events to come.
    pub coming: broadcast::Receiver<Arc<Numbered>>,
}

impl Events {
    /// No events yet. The epoch tells runs of the server apart.
    pub(crate) fn new(epoch: i64) -> Self {
        let (sender, _) = broadcast::channel(HISTORY);
        Self {
            epoch,
            state: Mutex::new(State { sequence: 0, forgotten: 0, history: VecDeque::new(), sender }),
        }
    }

    /// Tells all listeners.
    pub(crate) fn publish(&self, event: Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sequence += 1;
        let numbered =
            Arc::new(Numbered { id: EventId { epoch: self.epoch, sequence: state.sequence }, event });
        if state.history.len() == HISTORY
            && let Some(oldest) = state.history.pop_front()
        {
            state.forgotten = oldest.id.sequence;
        }
        state.history.push_back(Arc::clone(&numbered));
        // Nobody listening is no error.
        let _ = state.sender.send(numbered);
    }

    /// The next place of the sequence, for an event that is told elsewhere.
    pub(crate) fn take_place(&self) -> EventId {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sequence += 1;
        EventId { epoch: self.epoch, sequence: state.sequence }
    }

    /// Starts to listen, after the last event that the listener saw.
    pub fn subscribe(&self, last_seen: Option<EventId>) -> Subscription {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let coming = state.sender.subscribe();
        let at = EventId { epoch: self.epoch, sequence: state.sequence };
        let Some(seen) = last_seen else {
            return Subscription { missed: Vec::new(), resync: false, at, coming };
        };
        let resync =
            seen.epoch != self.epoch || seen.sequence < state.forgotten || seen.sequence > state.sequence;
        let missed = if resync {
            Vec::new()
        } else {
            state.history.iter().filter(|event| event.id.sequence > seen.sequence).cloned().collect()
        };
        Subscription { missed, resync, at, coming }
    }
}

#[cfg(test)]
mod tests {
    use toolshelf_api::Event;

    use super::{EventId, Events, HISTORY};

    fn events(count: usize) -> Events {
        let events = Events::new(7);
        for revision in 0..count {
            events.publish(Event::Hello { revision: revision as u64 });
        }
        events
    }

    #[test]
    fn a_listener_that_comes_back_gets_what_it_missed() {
        let subscription = events(5).subscribe("7.3".parse().ok());
        let missed: Vec<String> = subscription.missed.iter().map(|event| event.id.to_string()).collect();
        assert_eq!(missed, ["7.4", "7.5"]);
        assert!(!subscription.resync);
    }

    #[test]
    fn a_gap_another_run_and_the_future_ask_for_a_resync() {
        let events = events(HISTORY + 10);
        for (id, resync) in [("7.10", false), ("7.9", true), ("6.12", true), ("7.9999", true)] {
            let seen: EventId = id.parse().unwrap();
            assert_eq!(events.subscribe(Some(seen)).resync, resync, "{id}");
        }
    }
}
