//! Calls of tools.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::{Map, Value};
use tokio::time::timeout;
use toolshelf_runtime::{ToolReturn, UpstreamError};

use crate::answer::tool_return;
use crate::request::request;
use crate::server::Server;

impl Server {
    /// Calls a tool. Waiting for other calls counts as well, and news of progress do not prolong it.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReturn, UpstreamError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let limit = self.spec.call_timeout;
        let answer = timeout(limit, self.ask(call)).await.map_err(|_| UpstreamError::TimedOut(limit))??;
        tool_return(answer).map_err(UpstreamError::Failed)
    }

    async fn ask(&self, call: ClientRequest) -> Result<Value, UpstreamError> {
        let line = self.line()?;
        // It fails only when it is closed, which it never is.
        let _place = self.calls.acquire().await;
        request(&line, call).await.map_err(|error| error.of_call(&self.spec.name))
    }
}
