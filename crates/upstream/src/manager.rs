//! Which servers there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{
    ToolReturn, Trial, UpstreamError, UpstreamQuery, UpstreamReports, UpstreamSpec, Upstreams,
};

use crate::connection::{Connection, Shared};
use crate::log::Log;
use crate::server::Server;
use crate::settings::{McpEnvironment, Timing};
use crate::task::Task;
use crate::tls::{SetupError, client};

/// The upstream MCP servers. It must be used inside a tokio runtime.
///
/// When a server is stopped while one of its reports is being dealt with, the future of that report is dropped:
/// waiting for it could be waiting for oneself.
#[derive(Debug)]
pub struct McpUpstreams {
    shared: Arc<Shared>,
    servers: Mutex<HashMap<Arc<str>, Arc<Server>>>,
}

impl McpUpstreams {
    /// Makes the adapter with the usual times.
    pub fn new(environment: McpEnvironment) -> Result<Self, SetupError> {
        Self::with_timing(environment, Timing::default())
    }

    /// Makes the adapter with other times.
    pub fn with_timing(environment: McpEnvironment, timing: Timing) -> Result<Self, SetupError> {
        let shared = Shared { environment, timing, http: client(timing)? };
        Ok(Self { shared: Arc::new(shared), servers: Mutex::default() })
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self, name: &str) -> Option<Arc<Server>> {
        self.servers().get(name).cloned()
    }

    fn known(&self, name: &str) -> Result<Arc<Server>, UpstreamError> {
        self.server(name).ok_or_else(|| UpstreamError::Down(format!("{name} is not connected.")))
    }

    /// Stops one server. It stays known until it is gone, so that one of the same name begins only then.
    async fn end(&self, server: Arc<Server>) {
        server.stop.cancel();
        server.done.cancelled().await;
        let mut servers = self.servers();
        if servers.get(&server.spec.name).is_some_and(|known| Arc::ptr_eq(known, &server)) {
            servers.remove(&server.spec.name);
        }
    }
}

/// Nothing is left running. Programs are ended by their tasks, or killed if the runtime goes down first.
impl Drop for McpUpstreams {
    fn drop(&mut self) {
        for server in self.servers().values() {
            server.stop.cancel();
        }
    }
}

#[async_trait]
impl Upstreams for McpUpstreams {
    fn start(&self, spec: UpstreamSpec, reports: Arc<dyn UpstreamReports>) {
        let name = Arc::clone(&spec.name);
        let mut servers = self.servers();
        let earlier = servers.get(&name);
        let log = earlier.map_or_else(|| Arc::new(Log::default()), |earlier| Arc::clone(&earlier.log));
        let earlier = earlier.map(|earlier| {
            earlier.stop.cancel();
            earlier.done.clone()
        });
        let server = Arc::new(Server::new(spec, log));
        servers.insert(name, Arc::clone(&server));
        drop(servers);
        tokio::spawn(Task { server, shared: Arc::clone(&self.shared), reports, earlier }.run());
    }

    async fn stop(&self, server: &str) {
        if let Some(server) = self.server(server) {
            self.end(server).await;
        }
    }

    fn refresh(&self, server: &str) {
        if let Some(server) = self.server(server) {
            server.refresh.notify_one();
        }
    }

    async fn call(
        &self,
        server: &str,
        generation: u64,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReturn, UpstreamError> {
        let known = self.known(server)?;
        if known.spec.generation != generation {
            return Err(UpstreamError::Down(format!("{server} was changed in the meantime.")));
        }
        known.call(tool, arguments).await
    }

    async fn query(&self, server: &str, query: UpstreamQuery) -> Result<Value, UpstreamError> {
        self.known(server)?.query(query).await
    }

    async fn try_connection(&self, spec: UpstreamSpec) -> Trial {
        let log = Arc::new(Log::default());
        let outcome = match Connection::open(&self.shared, &spec, &log, &CancellationToken::new()).await {
            Ok((connection, tools)) => {
                let info = connection.info.clone();
                connection.close(self.shared.timing).await;
                Ok((info, tools))
            }
            Err(reason) => Err(reason),
        };
        Trial { outcome, log: log.lines() }
    }

    fn is_empty(&self) -> bool {
        self.servers().is_empty()
    }

    fn log(&self, server: &str) -> Vec<String> {
        self.server(server).map(|server| server.log.lines()).unwrap_or_default()
    }

    async fn stop_all(&self) {
        let servers: Vec<Arc<Server>> = self.servers().values().cloned().collect();
        for server in &servers {
            server.stop.cancel();
        }
        join_all(servers.into_iter().map(|server| self.end(server))).await;
    }
}
