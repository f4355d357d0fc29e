//! Lists, page by page.

use std::collections::HashSet;

use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;

use crate::request::{RequestError, request};
use crate::server::Line;

/// The most pages of a list. A server that always has another page would never end.
const MAX_PAGES: usize = 200;
/// The most tools of a server.
const MAX_TOOLS: usize = 10_000;

/// Why a list could not be read.
#[derive(Debug)]
pub(crate) enum ListError {
    Request(RequestError),
    /// It breaks the protocol or a limit; a sentence.
    Form(String),
}

impl ListError {
    /// Whether the connection ended, so that there is a better reason than that there is no answer.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Self::Request(RequestError::NotSent | RequestError::Ended))
    }

    /// As a sentence for admins.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Request(error) => format!("Its tools could not be listed: {}", error.sentence()),
            Self::Form(reason) => reason.clone(),
        }
    }
}

/// All tools, as they came.
pub(crate) async fn tools(line: &Line, has_tools: bool) -> Result<Vec<Value>, ListError> {
    let make = |params| ClientRequest::ListToolsRequest(ListToolsRequest { params, ..Default::default() });
    match pages(line, "tools", MAX_TOOLS, make).await {
        Ok(pages) if pages.is_whole => Ok(pages.entries),
        Ok(_) => Err(ListError::Form(format!("It has more than {MAX_TOOLS} tools."))),
        // One that does not say that it has tools need not know the question.
        Err(ListError::Request(RequestError::Refused(error)))
            if error.code == ErrorCode::METHOD_NOT_FOUND && !has_tools =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// The entries of all pages.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) entries: Vec<Value>,
    /// Whether there are no more than these.
    pub(crate) is_whole: bool,
}

/// Asks for page after page until there are no more or `most` entries. `field` is the name of the list in an answer.
pub(crate) async fn pages(
    line: &Line,
    field: &str,
    most: usize,
    make: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
) -> Result<Pages, ListError> {
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = None;
    for _ in 0..MAX_PAGES {
        let mut page = request(line, make(params)).await.map_err(ListError::Request)?;
        let Some(Value::Array(list)) = page.get_mut(field).map(Value::take) else {
            return Err(ListError::Form(format!("Its answer has no list of {field}.")));
        };
        entries.extend(list);
        if entries.len() > most {
            entries.truncate(most);
            return Ok(Pages { entries, is_whole: false });
        }
        let cursor = match page.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => return Ok(Pages { entries, is_whole: true }),
            // Some servers mean with this that there are no more.
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(Pages { entries, is_whole: true }),
            Some(Value::String(cursor)) => cursor,
            Some(_) => {
                return Err(ListError::Form(format!("Its list of {field} has a cursor that is no text.")));
            }
        };
        if !cursors.insert(cursor.clone()) {
            return Err(ListError::Form(format!("Its list of {field} never ends: a page comes again.")));
        }
        params = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
    }
    Err(ListError::Form(format!("Its list of {field} has more than {MAX_PAGES} pages.")))
}
