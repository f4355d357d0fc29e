//! One server as callers see it.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{UpstreamError, UpstreamSpec};

use crate::log::Log;

/// How many calls of a server may be running. More wait, within their own time.
const MAX_CALLS: usize = 64;

/// A server that is kept connected by its task.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) spec: UpstreamSpec,
    pub(crate) log: Arc<Log>,
    link: Mutex<Link>,
    pub(crate) calls: Semaphore,
    /// Told when somebody wants a connection or a list now.
    pub(crate) refresh: Notify,
    /// Tells the task to end.
    pub(crate) stop: CancellationToken,
    /// Told by the task when it has ended and nothing of the server is left.
    pub(crate) done: CancellationToken,
}

/// What there is to call over.
#[derive(Debug)]
enum Link {
    Up(Line),
    /// Why not.
    Down(String),
}

/// An open connection.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) peer: Peer<RoleClient>,
    /// Told when it is over, which may be before `rmcp` knows.
    pub(crate) over: CancellationToken,
}

impl Server {
    pub(crate) fn new(spec: UpstreamSpec, log: Arc<Log>) -> Self {
        Self {
            spec,
            log,
            link: Mutex::new(Link::Down("It is being connected.".to_owned())),
            calls: Semaphore::new(MAX_CALLS),
            refresh: Notify::new(),
            stop: CancellationToken::new(),
            done: CancellationToken::new(),
        }
    }

    /// The open connection.
    pub(crate) fn line(&self) -> Result<Line, UpstreamError> {
        match &*self.link.lock().unwrap_or_else(PoisonError::into_inner) {
            Link::Up(line) => Ok(line.clone()),
            Link::Down(reason) => {
                Err(UpstreamError::Down(format!("{} is not connected. {reason}", self.spec.name)))
            }
        }
    }

    pub(crate) fn set_up(&self, line: Line) {
        self.set(Link::Up(line));
    }

    pub(crate) fn set_down(&self, reason: &str) {
        self.set(Link::Down(reason.to_owned()));
    }

    fn set(&self, link: Link) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = link;
    }
}
