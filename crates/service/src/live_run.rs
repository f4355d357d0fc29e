//! A run that goes on: what it is now, and what happened last, for whoever listens.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) state: RunState,
    pub(crate) code: Option<String>,
    pub(crate) detail: Option<String>,
}

/// A run that goes on.
pub(crate) struct LiveRun {
    pub(crate) id: String,
    pub(crate) conversation_id: String,
    /// Cancelled when the run is to stop.
    pub(crate) stop: CancellationToken,
    is_cancelled: AtomicBool,
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
    /// `stop` is cancelled when everything stops.
    pub(crate) fn new(run: Run, events: &Events, stop: CancellationToken) -> Self {
        let (sender, _) = broadcast::channel(HISTORY);
        let at = events.take_place();
        Self {
            id: run.id.clone(),
            conversation_id: run.conversation_id.clone(),
            stop,
            is_cancelled: AtomicBool::new(false),
            state: Mutex::new(State { run, at, history: VecDeque::new(), forgotten: at, sender }),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the run to stop because somebody wants it to.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.stop.cancel();
    }

    /// Whether somebody wants it to stop; otherwise the server stops.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// The run as it is.
    pub(crate) fn run(&self) -> Run {
        self.state().run.clone()
    }

    /// A part as it is.
    pub(crate) fn node(&self, number: u32) -> Option<RunNode> {
        self.state().run.nodes.iter().find(|node| node.number == number).cloned()
    }

    /// Ends the run and what still goes on in it, and tells whoever listens.
    pub(crate) fn end(&self, events: &Events, ended: Ended, at: &str) {
        for node in end_nodes(&self.run(), ended.state, at) {
            self.publish(events, RunEvent::Node { node: Box::new(node) });
        }
        self.state().run.finished_at = Some(at.to_owned());
        let Ended { state, code, detail } = ended;
        self.publish(events, RunEvent::Finished { state, code, detail });
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
    // Parts that begin side by side may be kept in another order than that of their numbers.
    match nodes.binary_search_by_key(&node.number, |known| known.number) {
        Ok(place) => nodes[place].clone_from(node),
        Err(place) => nodes.insert(place, node.clone()),
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
        let live = LiveRun::new(run(), &events, CancellationToken::new());
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
