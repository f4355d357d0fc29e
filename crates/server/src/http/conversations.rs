//! Conversations.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;
use toolshelf_api::{Conversation, CreateConversation, Page, Problem, UpdateConversation};
use utoipa::IntoParams;

use super::paging::PageParams;
use super::tools::etag;
use super::{ApiError, Body, IfMatch, Params, SignedInUser};
use crate::state::AppState;

/// Which conversations to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConversationParams {
    /// A text that the title must hold, in any letter case.
    query: Option<String>,
    /// The most items of the page, 1 to 500; 50 if absent.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The caller's conversations, newest first.
#[utoipa::path(get, path = "/conversations", tag = "conversations", params(ConversationParams), responses(
    (status = 200, body = Page<Conversation>), (status = 422, body = Problem)
))]
pub(crate) async fn list_conversations(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Params(params): Params<ConversationParams>,
) -> Result<Json<Page<Conversation>>, ApiError> {
    let page = PageParams { limit: params.limit, cursor: params.cursor };
    let (limit, cursor, query) = (page.limit()?, page.cursor.as_deref(), params.query.as_deref());
    Ok(Json(state.service.list_conversations(&actor, query, cursor, limit).await?))
}

/// Makes a conversation.
#[utoipa::path(post, path = "/conversations", tag = "conversations", responses(
    (status = 201, body = Conversation), (status = 422, body = Problem)
))]
pub(crate) async fn create_conversation(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Body(new): Body<CreateConversation>,
) -> Result<impl IntoResponse, ApiError> {
    let conversation = state.service.create_conversation(&actor, new).await?;
    Ok((StatusCode::CREATED, [(header::ETAG, etag(conversation.revision))], Json(conversation)))
}

/// One of the caller's conversations.
#[utoipa::path(get, path = "/conversations/{id}", tag = "conversations", params(("id" = String, Path)), responses(
    (status = 200, body = Conversation), (status = 404, body = Problem)
))]
pub(crate) async fn get_conversation(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let conversation = state.service.get_conversation(&actor, &id).await?;
    Ok(([(header::ETAG, etag(conversation.revision))], Json(conversation)))
}

/// Changes one of the caller's conversations.
#[utoipa::path(patch, path = "/conversations/{id}", tag = "conversations", params(("id" = String, Path)), responses(
    (status = 200, body = Conversation), (status = 404, body = Problem), (status = 412, body = Problem),
    (status = 422, body = Problem)
))]
pub(crate) async fn update_conversation(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    IfMatch(revision): IfMatch,
    Body(change): Body<UpdateConversation>,
) -> Result<impl IntoResponse, ApiError> {
    let conversation = state.service.update_conversation(&actor, &id, revision, change).await?;
    Ok(([(header::ETAG, etag(conversation.revision))], Json(conversation)))
}

/// Removes one of the caller's conversations with all that belongs to it.
#[utoipa::path(delete, path = "/conversations/{id}", tag = "conversations", params(("id" = String, Path)), responses(
    (status = 204), (status = 404, body = Problem), (status = 412, body = Problem)
))]
pub(crate) async fn delete_conversation(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    Path(id): Path<String>,
    IfMatch(revision): IfMatch,
) -> Result<StatusCode, ApiError> {
    state.service.delete_conversation(&actor, &id, revision).await?;
    Ok(StatusCode::NO_CONTENT)
}
