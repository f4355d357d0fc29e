//! The life of one server.

use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{Report, UpstreamReports};

use crate::connection::{Connection, Shared};
use crate::list;
use crate::server::Server;
use crate::settings::Backoff;
use crate::words::STOPPED;

/// Keeps a server connected until it is stopped.
pub(crate) struct Task {
    pub(crate) server: Arc<Server>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) reports: Arc<dyn UpstreamReports>,
    /// Told when the server of the same name before this one is gone.
    pub(crate) earlier: Option<CancellationToken>,
}

impl Task {
    pub(crate) async fn run(self) {
        // Told also when this panics, because somebody may wait for it.
        let _done = self.server.done.clone().drop_guard();
        if let Some(earlier) = &self.earlier {
            earlier.cancelled().await;
        }
        let timing = self.shared.timing;
        let stop = &self.server.stop;
        let mut backoff = Backoff::new(timing);
        while !stop.is_cancelled() {
            self.report(Report::Connecting).await;
            let opened = Connection::open(&self.shared, &self.server.spec, &self.server.log, stop).await;
            let (connection, reason) = match opened {
                Ok((mut connection, tools)) => {
                    let since = Instant::now();
                    let reason = self.serve(&mut connection, tools).await;
                    backoff.was_ready_for(since.elapsed());
                    (Some(connection), reason)
                }
                Err(reason) => (None, Some(reason)),
            };
            self.server.set_down(reason.as_deref().unwrap_or(STOPPED));
            let close = async {
                if let Some(connection) = connection {
                    connection.close(timing).await;
                }
            };
            // Without a reason it was stopped.
            let Some(reason) = reason else {
                close.await;
                break;
            };
            let retry_in = backoff.take();
            tracing::debug!(server = %self.server.spec.name, reason, ?retry_in, "an upstream server is down");
            tokio::join!(close, self.report(Report::Down { reason, retry_in }));
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(retry_in) => {}
                () = self.server.refresh.notified() => {}
            }
        }
        self.server.set_down(STOPPED);
    }

    /// Hands a report on, unless the server is stopped: whoever waits for the end may hold what the receiver waits for.
    async fn report(&self, report: Report) {
        let spec = &self.server.spec;
        let report = self.reports.report(&spec.name, spec.generation, report);
        self.server.stop.run_until_cancelled(report).await;
    }

    /// Serves a connection until it is over. The reason is none if it was stopped.
    async fn serve(&self, connection: &mut Connection, tools: Vec<Value>) -> Option<String> {
        self.server.set_up(connection.line.clone());
        let info = connection.info.clone();
        self.report(Report::Ready { info, tools }).await;
        let mut listed = Instant::now();
        loop {
            match self.next(connection, listed).await {
                Next::Tools(tools) => {
                    listed = Instant::now();
                    self.report(Report::Tools(tools)).await;
                }
                Next::Over(reason) => break Some(reason),
                Next::Stopped => break None,
            }
        }
    }

    /// Waits for the next thing that happens to a connection.
    async fn next(&self, connection: &mut Connection, listed: Instant) -> Next {
        let changed = Arc::clone(&connection.changed);
        let line = connection.line.clone();
        let has_tools = connection.has_tools;
        let timing = self.shared.timing;
        let list = async {
            tokio::select! {
                () = changed.notified() => {
                    // A server that says so without end is not asked without end.
                    let next = Instant::now() + timing.settle;
                    sleep_until(next.max(listed + timing.between_lists)).await;
                }
                () = self.server.refresh.notified() => {}
            }
            // What changed until here is in the list that is asked for now.
            let _ = changed.notified().now_or_never();
            timeout(timing.connect, list::tools(&line, has_tools)).await
        };
        tokio::select! {
            biased;
            () = self.server.stop.cancelled() => Next::Stopped,
            listed = list => match listed {
                Ok(Ok(tools)) => Next::Tools(tools),
                Ok(Err(error)) => Next::Over(connection.reason(&error).await),
                Err(_) => Next::Over(format!(
                    "It did not answer the question for its tools within {} seconds.",
                    timing.connect.as_secs_f64()
                )),
            },
            reason = connection.over() => Next::Over(reason),
        }
    }
}

enum Next {
    Tools(Vec<Value>),
    Over(String),
    Stopped,
}
