//! Which connections wait for a request, so that those that wait longest can make room.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// The connections that wait for a request.
#[derive(Default)]
pub(super) struct Waiting(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    next: u64,
    /// Who began to wait first has the lowest number.
    by_age: BTreeMap<u64, CancellationToken>,
}

impl Waiting {
    fn with<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn enter(&self, ending: CancellationToken) -> u64 {
        self.with(|queue| {
            let number = queue.next;
            queue.next += 1;
            queue.by_age.insert(number, ending);
            number
        })
    }

    fn leave(&self, number: u64) {
        self.with(|queue| queue.by_age.remove(&number));
    }

    /// Tells the connection that waits longest to end, if any waits.
    pub(super) fn end_longest(&self) {
        if let Some((_, ending)) = self.with(|queue| queue.by_age.pop_first()) {
            ending.cancel();
        }
    }
}

/// One connection, which waits for a request or answers one.
pub(super) struct Connection {
    all: Arc<Waiting>,
    ending: CancellationToken,
    /// Its number while it waits.
    number: Mutex<Option<u64>>,
}

impl Connection {
    /// A connection that waits for its first request.
    pub(super) fn new(all: Arc<Waiting>, ending: CancellationToken) -> Self {
        let number = Mutex::new(Some(all.enter(ending.clone())));
        Self { all, ending, number }
    }

    /// Is cancelled when the connection should end as soon as it waits.
    pub(super) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// Ends the wait, until what it returns is dropped.
    pub(super) fn answering(self: &Arc<Self>) -> Answering {
        self.stop_waiting();
        Answering(Arc::clone(self))
    }

    fn stop_waiting(&self) {
        if let Some(number) = self.number.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.all.leave(number);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}

/// While this is there, the connection answers a request.
pub(super) struct Answering(Arc<Connection>);

impl Answering {
    /// A body that counts as the answer until it is sent.
    pub(super) fn until_sent(self, body: Body) -> Answer {
        Answer { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let number = self.0.all.enter(self.0.ending.clone());
        *self.0.number.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
    }
}

/// The body of an answer.
pub(super) struct Answer {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
