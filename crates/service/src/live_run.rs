//! A run that goes on: what it is now, and what happened last, for whoever listens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use toolshelf_api::{Run, RunEvent, RunNode, RunState};

use crate::events::{EventId, Events};

/// How many events of a run are kept for listeners that come back.
const HISTORY: usize = 512;

/// An event of a run with its place in the sequence of the server.
#[derive(Clone, Debug)]
pub struct NumberedRun {
    /// Its place.
    pub id: EventId,
    /// The event.
    pub event: RunEvent,
}

/// What a listener of a run gets.
pub struct RunSubscription {
    /// What it must hear first: the whole run, or what it missed.
    pub first: Vec<Arc<NumberedRun>>,
    /// What is to come; none once the run is over.
    pub coming: Option<broadcast::Receiver<Arc<NumberedRun>>>,
}

/// Why a run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Somebody wants it to.
    Cancelled,
    /// The server stops.
    Interrupted,
}

/// A run that goes on.
pub(crate) struct LiveRun {
    pub(crate) conversation_id: String,
    /// Cancelled when the run is to stop; the reason is in `stop_reason`.
    pub(crate) stop: CancellationToken,
    stop_reason: Mutex<Option<StopReason>>,
    state: Mutex<State>,
}

struct State {
    run: Run,
    at: EventId,
    history: VecDeque<Arc<NumberedRun>>,
    /// The place of the last event that is no longer kept, or before the first.
    forgotten: EventId,
    sender: broadcast::Sender<Arc<NumberedRun>>,
}

impl LiveRun {
    pub(crate) fn new(run: Run, events: &Events) -> Self {
        let (sender, _) = broadcast::channel(HISTORY);
        let at = events.take_place();
        Self {
            conversation_id: run.conversation_id.clone(),
            stop: CancellationToken::new(),
            stop_reason: Mutex::new(None),
            state: Mutex::new(State { run, at, history: VecDeque::new(), forgotten: at, sender }),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the run to stop; the first reason counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop_reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.stop.cancel();
    }

    pub(crate) fn stop_reason(&self) -> StopReason {
        let reason = *self.stop_reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.unwrap_or(StopReason::Interrupted)
    }

    /// The run as it is.
    pub(crate) fn run(&self) -> Run {
        self.state().run.clone()
    }

    /// Changes the run and tells whoever listens, as one step: nobody sees one without the other.
    pub(crate) fn publish(&self, events: &Events, event: RunEvent) {
        let mut state = self.state();
        match &event {
            RunEvent::Resync { run } => state.run = Run::clone(run),
            RunEvent::Node { node } => put(&mut state.run.nodes, node),
            RunEvent::Delta { number, text } => {
                if let Some(node) = state.run.nodes.iter_mut().find(|node| node.number == *number) {
                    node.text.push_str(text);
                }
            }
            RunEvent::Finished { state: ended, code, detail } => {
                state.run.state = *ended;
                state.run.code.clone_from(code);
                state.run.detail.clone_from(detail);
            }
        }
        let numbered = Arc::new(NumberedRun { id: events.take_place(), event });
        state.at = numbered.id;
        if state.history.len() == HISTORY
            && let Some(oldest) = state.history.pop_front()
        {
            state.forgotten = oldest.id;
        }
        state.history.push_back(Arc::clone(&numbered));
        // Nobody listening is no error.
        let _ = state.sender.send(numbered);
    }

    /// Starts to listen: after the last event that the listener heard, or with the whole run.
    pub(crate) fn subscribe(&self, last_heard: Option<EventId>) -> RunSubscription {
        let state = self.state();
        let kept = last_heard.filter(|heard| *heard >= state.forgotten && *heard <= state.at);
        let is_over = state.run.state.is_over();
        let first = match kept {
            Some(heard) => state.history.iter().filter(|event| event.id > heard).cloned().collect(),
            None if is_over => return over(state.at, state.run.clone()),
            None => vec![whole(state.at, state.run.clone())],
        };
        RunSubscription { first, coming: (!is_over).then(|| state.sender.subscribe()) }
    }
}

/// The event that tells a whole run.
pub(crate) fn whole(id: EventId, run: Run) -> Arc<NumberedRun> {
    Arc::new(NumberedRun { id, event: RunEvent::Resync { run: Box::new(run) } })
}

/// What a listener of a run that is over gets.
pub(crate) fn over(id: EventId, run: Run) -> RunSubscription {
    let (state, code, detail) = (run.state, run.code.clone(), run.detail.clone());
    let finished = NumberedRun { id, event: RunEvent::Finished { state, code, detail } };
    RunSubscription { first: vec![whole(id, run), Arc::new(finished)], coming: None }
}

fn put(nodes: &mut Vec<RunNode>, node: &RunNode) {
    match nodes.iter_mut().find(|known| known.number == node.number) {
        Some(known) => known.clone_from(node),
        None => nodes.push(node.clone()),
    }
}

/// Ends what still goes on in a run.
pub(crate) fn end_nodes(run: &Run, state: RunState, at: &str) -> Vec<RunNode> {
    let open = run.nodes.iter().filter(|node| node.state == RunState::Running);
    open.map(|node| RunNode { state, finished_at: Some(at.to_owned()), ..node.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            id: "r".to_owned(),
            conversation_id: "c".to_owned(),
            state: RunState::Running,
            code: None,
            detail: None,
            nodes: vec![RunNode {
                number: 1,
                parent: None,
                kind: toolshelf_api::NodeKind::ModelCall,
                state: RunState::Running,
                name: "m".to_owned(),
                arguments: None,
                text: String::new(),
                code: None,
                verdict: None,
                started_at: String::new(),
                finished_at: None,
            }],
            snapshot_revision: 0,
            started_at: String::new(),
            finished_at: None,
        }
    }

    /// What a listener knows after these events.
    fn heard(events: &[Arc<NumberedRun>], mut text: String) -> String {
        for event in events {
            match &event.event {
                RunEvent::Resync { run } => text.clone_from(&run.nodes[0].text),
                RunEvent::Delta { text: more, .. } => text.push_str(more),
                RunEvent::Node { .. } | RunEvent::Finished { .. } => {}
            }
        }
        text
    }

    #[test]
    fn whenever_a_listener_goes_and_comes_back_it_knows_everything() {
        let events = Events::new(7);
        let live = LiveRun::new(run(), &events);
        let pieces: Vec<String> = (0..HISTORY + 200).map(|number| format!("{number} ")).collect();
        let mut listeners: Vec<(EventId, String)> = Vec::new();
        let mut all = String::new();
        for piece in &pieces {
            let first = live.subscribe(None).first;
            listeners.push((first.last().unwrap().id, heard(&first, String::new())));
            live.publish(&events, RunEvent::Delta { number: 1, text: piece.clone() });
            // Events of other things take places in between.
            events.take_place();
            all.push_str(piece);
        }
        for (at, knew) in listeners {
            assert_eq!(heard(&live.subscribe(Some(at)).first, knew), all);
        }
        // Places of another run of the server, of the future and of long ago tell the whole run.
        for place in ["6.3", "7.999999", "7.0"] {
            let first = live.subscribe(place.parse().ok()).first;
            assert!(matches!(first[0].event, RunEvent::Resync { .. }), "{place}");
            assert_eq!(heard(&first, String::new()), all);
        }
    }
}
