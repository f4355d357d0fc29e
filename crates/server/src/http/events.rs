//! Notices of change, over server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures_util::Stream;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use toolshelf_api::{Event, EventKind, Problem};
use toolshelf_service::{EventId, Numbered, StandingWatch};
use utoipa::IntoParams;

use super::runs::{among_changes, named_runs, tell};
use super::{ApiError, Params, SignedInUser};
use crate::state::AppState;

/// How often a stream asks whether its listener's time is over.
const CHECK_EVERY: Duration = Duration::from_secs(10);

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListenParams {
    /// Ids of runs of the caller's that the stream tells of too, at most 20, with commas between. Each begins with its
    /// `resync`.
    runs: Option<String>,
}

/// A stream of changes. It begins with `hello`; with `Last-Event-ID` it goes on where it stopped, or says `resync`
/// when events were lost. It ends when the session or key ends.
#[utoipa::path(get, path = "/events", tag = "events", params(ListenParams), responses(
    (status = 200, content_type = "text/event-stream", body = Event), (status = 404, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn listen(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<ListenParams>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>, ApiError> {
    let last_seen =
        headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<EventId>().ok());
    let runs = named_runs(&state, &actor, params.runs.as_deref()).await?;
    let asked_to_resume = headers.contains_key("last-event-id");
    let mut subscription = state.service.events().subscribe(last_seen);
    let revision = state.service.registry().snapshot().load().map_or(0, |snapshot| snapshot.revision());
    // An id that cannot be read is one of which nothing is known.
    let first = if subscription.resync || (asked_to_resume && last_seen.is_none()) {
        Event::Resync { revision }
    } else {
        Event::Hello { revision }
    };

    // A bounded queue: a listener that does not read holds up only its own stream.
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut standing = state.service.watch_standing(&actor);
        let first = Numbered {
            id: if subscription.missed.is_empty() {
                subscription.at
            } else {
                last_seen.unwrap_or(subscription.at)
            },
            event: first,
        };
        if send(&sender, &mut standing, &first).await.is_err() {
            return;
        }
        for (id, run) in runs {
            tokio::spawn(tell(state.clone(), actor.clone(), id, run, sender.clone(), among_changes));
        }
        for event in std::mem::take(&mut subscription.missed) {
            if send(&sender, &mut standing, &event).await.is_err() {
                return;
            }
        }
        let mut ended = std::pin::pin!(state.service.ended(&actor));
        let mut check = tokio::time::interval(CHECK_EVERY);
        loop {
            let sent = tokio::select! {
                biased;
                () = state.stopping.cancelled() => return,
                () = sender.closed() => return,
                _ = &mut ended => return,
                _ = check.tick() => {
                    // Asks anew, because an end by time is announced by nobody.
                    ended.set(state.service.ended(&actor));
                    continue;
                }
                event = subscription.coming.recv() => match event {
                    Ok(event) => send(&sender, &mut standing, &event).await,
                    Err(RecvError::Lagged(_)) => {
                        let resumed = state.service.events().subscribe(None);
                        subscription.coming = resumed.coming;
                        let revision =
                            state.service.registry().snapshot().load().map_or(0, |snapshot| snapshot.revision());
                        let event = Event::Resync { revision };
                        send(&sender, &mut standing, &Arc::new(Numbered { id: resumed.at, event })).await
                    }
                    Err(RecvError::Closed) => return,
                },
            };
            if sent.is_err() {
                return;
            }
        }
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(CHECK_EVERY)))
}

async fn send(
    sender: &mpsc::Sender<Result<SseEvent, Infallible>>,
    standing: &mut StandingWatch,
    event: &Numbered,
) -> Result<(), ()> {
    if !standing.stands().await {
        return Err(());
    }
    let name = match &event.event {
        Event::Hello { .. } => EventKind::HELLO,
        Event::Resync { .. } => EventKind::RESYNC,
        Event::ToolChanged { .. } => EventKind::TOOL_CHANGED,
        Event::ProfileChanged { .. } => EventKind::PROFILE_CHANGED,
        Event::CatalogChanged { .. } => EventKind::CATALOG_CHANGED,
        Event::UpstreamChanged { .. } => EventKind::UPSTREAM_CHANGED,
        Event::Run { .. } => EventKind::RUN,
    };
    let event =
        SseEvent::default().event(name).id(event.id.to_string()).json_data(&event.event).map_err(|_| ())?;
    sender.send(Ok(event)).await.map_err(|_| ())
}
