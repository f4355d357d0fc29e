//! Resources and prompts.

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest, ListResourcesRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Value, json};
use tokio::time::timeout;
use toolshelf_runtime::{UpstreamError, UpstreamQuery};

use crate::list::{ListError, pages};
use crate::request::request;
use crate::server::{Line, Server};

/// The most resources or prompts of a list; the rest is left out.
const MAX_ENTRIES: usize = 1_000;

impl Server {
    /// Reads something beside the tools, within the time of a call.
    pub(crate) async fn query(&self, query: UpstreamQuery) -> Result<Value, UpstreamError> {
        let line = self.line()?;
        let limit = self.spec.call_timeout;
        timeout(limit, self.read(&line, query)).await.map_err(|_| UpstreamError::TimedOut(limit))?
    }

    async fn read(&self, line: &Line, query: UpstreamQuery) -> Result<Value, UpstreamError> {
        let request_of = match query {
            UpstreamQuery::ListResources => {
                let make = |params| {
                    let request = ListResourcesRequest { params, ..Default::default() };
                    ClientRequest::ListResourcesRequest(request)
                };
                return self.list(line, "resources", make).await;
            }
            UpstreamQuery::ListPrompts => {
                let make = |params| {
                    let request = ListPromptsRequest { params, ..Default::default() };
                    ClientRequest::ListPromptsRequest(request)
                };
                return self.list(line, "prompts", make).await;
            }
            UpstreamQuery::ReadResource(uri) => ClientRequest::ReadResourceRequest(ReadResourceRequest::new(
                ReadResourceRequestParams::new(uri),
            )),
            UpstreamQuery::GetPrompt(name, arguments) => ClientRequest::GetPromptRequest(
                GetPromptRequest::new(GetPromptRequestParams::new(name).with_arguments(arguments)),
            ),
        };
        request(line, request_of).await.map_err(|error| error.of_call(&self.spec.name))
    }

    async fn list(
        &self,
        line: &Line,
        field: &str,
        make: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Value, UpstreamError> {
        match pages(line, field, MAX_ENTRIES, make).await {
            Ok(pages) => Ok(json!({ field: pages.entries })),
            Err(ListError::Request(error)) => Err(error.of_call(&self.spec.name)),
            Err(ListError::Form(reason)) => Err(UpstreamError::Failed(reason)),
        }
    }
}
