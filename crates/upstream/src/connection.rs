//! One connection from its beginning to its end.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, RunningService, serve_client_with_ct};
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::{Connection as Target, ServerInfo, UpstreamSpec};

use crate::fault::Fault;
use crate::http::{HttpClient, configure};
use crate::list::{self, ListError};
use crate::log::Log;
use crate::process::{Process, exit_sentence};
use crate::server::Line;
use crate::settings::{McpEnvironment, Timing};
use crate::stdio::Stdio;
use crate::words::{ENDED, STOPPED, not_initialized};

/// How long the exit of a program is waited for that closed its output, and the rest of the output of one that exited.
const SETTLE: Duration = Duration::from_millis(500);

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) environment: McpEnvironment,
    pub(crate) timing: Timing,
    pub(crate) http: Client,
}

/// An open connection. It ends in order with [`Connection::close`]; when it is dropped, at once.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) line: Line,
    pub(crate) info: ServerInfo,
    /// Whether the server says that it has tools.
    pub(crate) has_tools: bool,
    /// Told when the server says that its tools changed.
    pub(crate) changed: Arc<Notify>,
    /// Told when the service has ended and closed its transport.
    service_ended: CancellationToken,
    /// Ends the service.
    cancel: CancellationToken,
    process: Option<Process>,
    fault: Fault,
}

/// What the client is to servers: it has nothing to offer, and hears of changes.
struct Greeter {
    config: ClientConfig,
    changed: Arc<Notify>,
}

impl ClientHandler for Greeter {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

/// A connection that is being made.
struct Attempt<'a> {
    shared: &'a Shared,
    changed: Arc<Notify>,
    fault: Fault,
    cancel: CancellationToken,
    deadline: Instant,
}

impl Connection {
    /// Connects and asks for the tools. The error is a sentence for admins. When `stop` is told, it ends at once, and
    /// the program is gone when this returns.
    pub(crate) async fn open(
        shared: &Shared,
        spec: &UpstreamSpec,
        log: &Arc<Log>,
        stop: &CancellationToken,
    ) -> Result<(Self, Vec<Value>), String> {
        let attempt = Attempt {
            shared,
            changed: Arc::new(Notify::new()),
            fault: Fault::default(),
            cancel: CancellationToken::new(),
            deadline: Instant::now() + shared.timing.connect,
        };
        let mut connection = match &spec.connection {
            Target::Stdio { command, args, env } => {
                let environment = &shared.environment;
                let (process, pipes) = Process::start(command, args, env, environment, Arc::clone(log))?;
                let transport = Stdio::new(pipes, attempt.fault.clone(), Arc::clone(log));
                attempt.greet(transport, Some(process), stop).await?
            }
            Target::Http { url, headers } => {
                let client = HttpClient {
                    client: shared.http.clone(),
                    fault: attempt.fault.clone(),
                    changed: Arc::clone(&attempt.changed),
                };
                let config = configure(url, headers, shared.timing)?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                attempt.greet(transport, None, stop).await?
            }
        };
        let (line, has_tools) = (connection.line.clone(), connection.has_tools);
        let listed = tokio::select! {
            biased;
            () = stop.cancelled() => Err(STOPPED.to_owned()),
            listed = timeout_at(attempt.deadline, list::tools(&line, has_tools)) => match listed {
                Ok(Ok(tools)) => Ok(tools),
                Ok(Err(error)) => Err(connection.reason(&error).await),
                Err(_) => Err(not_in_time(shared.timing, "the question for its tools")),
            },
            reason = connection.over() => Err(reason),
        };
        match listed {
            Ok(tools) => Ok((connection, tools)),
            Err(reason) => {
                connection.close(shared.timing).await;
                Err(reason)
            }
        }
    }

    /// Waits until the connection is over and says why. May be dropped and called again.
    pub(crate) async fn over(&mut self) -> String {
        let Self { service_ended, process, fault, .. } = self;
        let exited = async {
            match process {
                Some(process) => process.ended().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = fault.wait() => {}
            () = service_ended.cancelled() => {
                // The output is closed; most often because the program is about to be gone.
                if let Some(process) = process
                    && let Ok(Some(status)) = timeout(SETTLE, process.ended()).await
                    && fault.reason().is_none()
                {
                    return exit_sentence(status);
                }
            }
            status = exited => {
                // What it wrote last may be an answer. Something that it left behind may hold the output open.
                let _ = timeout(SETTLE, service_ended.cancelled()).await;
                if let (Some(status), None) = (status, fault.reason()) {
                    return exit_sentence(status);
                }
            }
        }
        fault.reason().unwrap_or_else(|| ENDED.to_owned())
    }

    /// Why a list could not be read: most often because the connection ended, and then why it did.
    pub(crate) async fn reason(&mut self, error: &ListError) -> String {
        if error.is_end()
            && let Ok(reason) = timeout(2 * SETTLE, self.over()).await
        {
            return reason;
        }
        error.sentence()
    }

    /// Ends the connection and waits until nothing of it is left.
    pub(crate) async fn close(mut self, timing: Timing) {
        self.line.over.cancel();
        self.cancel.cancel();
        let _ = timeout(timing.close_grace, self.service_ended.cancelled()).await;
        if let Some(process) = self.process.take() {
            process.end(timing).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.line.over.cancel();
        self.cancel.cancel();
    }
}

fn not_in_time(timing: Timing, what: &str) -> String {
    format!("It did not answer {what} within {} seconds of the start.", timing.connect.as_secs_f64())
}

impl Attempt<'_> {
    async fn greet<T, E, A>(
        &self,
        transport: T,
        mut process: Option<Process>,
        stop: &CancellationToken,
    ) -> Result<Connection, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let environment = &self.shared.environment;
        let who = Implementation::new(&environment.client_name, &environment.client_version);
        let client = Greeter {
            // The newest revision with a greeting. One without would first be asked for with `server/discover`, and
            // many a program that reads its input line by line never answers a question that it does not know.
            config: ClientConfig::new(ClientCapabilities::default(), who)
                .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE),
            changed: Arc::clone(&self.changed),
        };
        let greeting = serve_client_with_ct(client, transport, self.cancel.clone());
        let greeted = tokio::select! {
            biased;
            () = stop.cancelled() => Err(STOPPED.to_owned()),
            greeted = timeout_at(self.deadline, greeting) => match greeted {
                Ok(Ok(service)) => Ok(service),
                Ok(Err(error)) => Err(self.not_greeted(&error, process.as_mut()).await),
                Err(_) => Err(not_in_time(self.shared.timing, "`initialize`")),
            },
        };
        match greeted {
            Ok(service) => Ok(self.connection(service, process)),
            Err(reason) => {
                // The transport went with the greeting, so the program's input is closed by now.
                if let Some(process) = process {
                    process.end(self.shared.timing).await;
                }
                Err(reason)
            }
        }
    }

    async fn not_greeted(&self, error: &ClientInitializeError, process: Option<&mut Process>) -> String {
        if let Some(reason) = self.fault.reason() {
            return reason;
        }
        let is_end = matches!(
            error,
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
        );
        if is_end
            && let Some(process) = process
            && let Ok(Some(status)) = timeout(SETTLE, process.ended()).await
        {
            return exit_sentence(status);
        }
        not_initialized(error)
    }

    fn connection(
        &self,
        service: RunningService<RoleClient, Greeter>,
        process: Option<Process>,
    ) -> Connection {
        let peer = service.peer().clone();
        let (info, has_tools) = info_of(&peer);
        let service_ended = CancellationToken::new();
        let guard = service_ended.clone().drop_guard();
        tokio::spawn(async move {
            let _guard = guard;
            service.waiting().await
        });
        Connection {
            line: Line { peer, over: CancellationToken::new() },
            info,
            has_tools,
            changed: Arc::clone(&self.changed),
            service_ended,
            cancel: self.cancel.clone(),
            process,
            fault: self.fault.clone(),
        }
    }
}

fn info_of(peer: &Peer<RoleClient>) -> (ServerInfo, bool) {
    let Some(info) = peer.peer_info() else { return (ServerInfo::default(), false) };
    let name = info.server_info.as_ref().map(|info| info.name.clone()).unwrap_or_default();
    let version = info.server_info.as_ref().map(|info| info.version.clone()).unwrap_or_default();
    let read = ServerInfo {
        name,
        version,
        protocol: info.protocol_version.to_string(),
        instructions: info.instructions.clone(),
        resources: info.capabilities.resources.is_some(),
        prompts: info.capabilities.prompts.is_some(),
    };
    (read, info.capabilities.tools.is_some())
}
