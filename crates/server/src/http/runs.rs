//! Saying something in a conversation, and the run that answers.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures_util::Stream;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use toolshelf_api::{
    CreateTurn, Event, EventKind, FieldError, Message, Model, Page, Problem, Run, RunEvent, StartedRun,
};
use toolshelf_service::{Actor, EventId, NumberedRun, RunSubscription};

use super::paging::PageParams;
use super::{ApiError, Body, Params, SignedInUser};
use crate::state::AppState;

/// How often a stream shows that it lives, and asks whether its listener's time is over.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// The models that can answer.
#[utoipa::path(get, path = "/models", tag = "conversations", responses((status = 200, body = Page<Model>)))]
pub(crate) async fn list_models(State(state): State<AppState>) -> Json<Page<Model>> {
    Json(state.service.list_models())
}

/// Says something in one of the caller's conversations. The run that answers goes on by itself; an API key needs the
/// scope `call` too.
#[utoipa::path(post, path = "/conversations/{id}/turns", tag = "conversations", params(("id" = String, Path)), responses(
    (status = 202, body = StartedRun), (status = 404, body = Problem), (status = 409, body = Problem),
    (status = 410, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn create_turn(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    Body(turn): Body<CreateTurn>,
) -> Result<impl IntoResponse, ApiError> {
    Ok((StatusCode::ACCEPTED, Json(state.service.create_turn(&actor, &id, turn).await?)))
}

/// What was said in one of the caller's conversations, newest first.
#[utoipa::path(get, path = "/conversations/{id}/messages", tag = "conversations", params(("id" = String, Path), PageParams), responses(
    (status = 200, body = Page<Message>), (status = 404, body = Problem), (status = 422, body = Problem)
))]
pub(crate) async fn list_messages(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<Message>>, ApiError> {
    let limit = params.limit()?;
    Ok(Json(state.service.list_messages(&actor, &id, params.cursor.as_deref(), limit).await?))
}

/// One of the caller's runs.
#[utoipa::path(get, path = "/runs/{id}", tag = "runs", params(("id" = String, Path)), responses(
    (status = 200, body = Run), (status = 404, body = Problem)
))]
pub(crate) async fn get_run(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
) -> Result<Json<Run>, ApiError> {
    Ok(Json(state.service.get_run(&actor, &id).await?))
}

/// Stops a run; the answer comes when it has stopped. One that is over stays as it is.
#[utoipa::path(post, path = "/runs/{id}/cancel", tag = "runs", params(("id" = String, Path)), responses(
    (status = 200, body = Run), (status = 404, body = Problem)
))]
pub(crate) async fn cancel_run(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
) -> Result<Json<Run>, ApiError> {
    Ok(Json(state.service.cancel_run(&actor, &id).await?))
}

/// What happens in a run. It begins with `resync`, the whole run; with `Last-Event-ID` it goes on where it stopped, or
/// says `resync` when events were lost. After `finished` it ends.
#[utoipa::path(get, path = "/runs/{id}/events", tag = "runs", params(("id" = String, Path)), responses(
    (status = 200, content_type = "text/event-stream", body = RunEvent), (status = 404, body = Problem)
))]
pub(crate) async fn listen_to_run(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>, ApiError> {
    let last_heard =
        headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<EventId>().ok());
    let subscription = state.service.listen_to_run(&actor, &id, last_heard).await?;
    // A bounded queue: a listener that does not read holds up only its own stream.
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(tell(state, actor, id, subscription, sender, alone));
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(CHECK_EVERY)))
}

/// The most runs that one stream of changes tells of.
const RUNS_MAX: usize = 20;

/// The caller's runs that a stream of changes is to tell of: ids with commas between. Fails if one is unknown.
pub(super) async fn named_runs(
    state: &AppState,
    actor: &Actor,
    names: Option<&str>,
) -> Result<Vec<(String, RunSubscription)>, ApiError> {
    let mut ids: Vec<&str> = names.unwrap_or_default().split(',').filter(|id| !id.is_empty()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > RUNS_MAX {
        let message = format!("Name at most {RUNS_MAX} runs.");
        return Err(ApiError::invalid(vec![FieldError { pointer: "runs".to_owned(), message }]));
    }
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        runs.push((id.to_owned(), state.service.listen_to_run(actor, id, None).await?));
    }
    Ok(runs)
}

/// Tells a listener until the run is over, the listener is gone, or may not listen any more.
pub(super) async fn tell(
    state: AppState,
    actor: Actor,
    id: String,
    mut subscription: RunSubscription,
    sender: mpsc::Sender<Result<SseEvent, Infallible>>,
    write: fn(&str, &NumberedRun) -> Result<SseEvent, axum::Error>,
) {
    let mut standing = state.service.watch_standing(&actor);
    let mut send = async |event: &NumberedRun| {
        if !standing.stands().await {
            return Err(());
        }
        let event = write(&id, event).map_err(|_| ())?;
        sender.send(Ok(event)).await.map_err(|_| ())
    };
    loop {
        for event in std::mem::take(&mut subscription.first) {
            if send(&event).await.is_err() {
                return;
            }
        }
        let Some(coming) = &mut subscription.coming else { return };
        let mut ended = std::pin::pin!(state.service.ended(&actor));
        let mut check = tokio::time::interval(CHECK_EVERY);
        let lagged = loop {
            let event = tokio::select! {
                biased;
                () = state.stopping.cancelled() => return,
                () = sender.closed() => return,
                _ = &mut ended => return,
                _ = check.tick() => {
                    // Asks anew, because an end by time is announced by nobody.
                    ended.set(state.service.ended(&actor));
                    continue;
                }
                event = coming.recv() => event,
            };
            match event {
                Ok(event) => {
                    let is_last = matches!(event.event, RunEvent::Finished { .. });
                    if send(&event).await.is_err() || is_last {
                        return;
                    }
                }
                Err(RecvError::Lagged(_)) => break true,
                Err(RecvError::Closed) => break false,
            }
        };
        if !lagged {
            return;
        }
        match state.service.listen_to_run(&actor, &id, None).await {
            Ok(again) => subscription = again,
            Err(_) => return,
        }
    }
}

/// An event on the stream of its run.
fn alone(_: &str, event: &NumberedRun) -> Result<SseEvent, axum::Error> {
    let name = match &event.event {
        RunEvent::Resync { .. } => "resync",
        RunEvent::Node { .. } => "node",
        RunEvent::Delta { .. } => "delta",
        RunEvent::Finished { .. } => "finished",
    };
    SseEvent::default().event(name).id(event.id.to_string()).json_data(&event.event)
}

/// An event among notices of change. It gets no id: a listener that comes back with one is promised what came after it,
/// and the places of runs and of changes do not come in one order here.
pub(super) fn among_changes(run_id: &str, event: &NumberedRun) -> Result<SseEvent, axum::Error> {
    let event = Event::Run { run_id: run_id.to_owned(), event: event.event.clone() };
    SseEvent::default().event(EventKind::RUN).json_data(&event)
}
