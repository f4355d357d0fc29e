//! Listens to server-sent events.

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;

/// An event as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SentEvent {
    /// The event's name.
    pub name: String,
    /// The event's id.
    pub id: String,
    /// What it says.
    pub data: Value,
}

/// A stream of events.
#[derive(Debug)]
pub struct EventStream {
    body: Incoming,
    buffer: String,
}

impl EventStream {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, buffer: String::new() }
    }

    /// The next event.
    pub async fn next(&mut self) -> SentEvent {
        crate::within("an event", self.read()).await.expect("the stream goes on")
    }

    /// Waits for the end of the stream, and returns the events that came before it.
    pub async fn rest(&mut self) -> Vec<SentEvent> {
        let mut events = Vec::new();
        crate::within("the end of the stream", async {
            while let Some(event) = self.read().await {
                events.push(event);
            }
        })
        .await;
        events
    }

    async fn read(&mut self) -> Option<SentEvent> {
        loop {
            while let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let event = parse(block);
                self.buffer = rest.into();
                if event.is_some() {
                    return event;
                }
            }
            // A connection that is cut is an end too: the server may be killed.
            let frame = self.body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.buffer.push_str(std::str::from_utf8(&data).expect("events are text"));
            }
        }
    }
}

/// An event; none if the block is a comment that keeps the connection alive.
fn parse(block: &str) -> Option<SentEvent> {
    let field = |name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.strip_prefix(' ').unwrap_or(value))
    };
    let data = field("data")?;
    Some(SentEvent {
        name: field("event").unwrap_or_default().to_owned(),
        id: field("id").unwrap_or_default().to_owned(),
        data: serde_json::from_str(data).expect("events carry JSON"),
    })
}
