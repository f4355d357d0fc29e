//! The program of a server, with everything that it starts.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::log::{Log, read_lines};
use crate::settings::{McpEnvironment, Timing};
use crate::words::cut;

/// How long the rest of the standard error is waited for once the program is gone.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long the killed are waited for. Those that nobody takes note of, as where the first process of a container does
/// not, count as a part of the group for ever.
const DYING: Duration = Duration::from_millis(500);
/// How often it is looked whether a process group is empty. The system tells only of the leader.
const GROUP_POLL: Duration = Duration::from_millis(10);

/// A running program. It leads a process group, so that what it starts ends with it; most servers are started by a
/// runner such as `npx`, which is not the server itself.
#[derive(Debug)]
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    group: Option<Pid>,
    log: JoinHandle<()>,
}

/// The ends of the program's pipes that messages go through.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts a program. The error is a sentence for admins.
    pub(crate) fn start(
        program: &str,
        args: &[String],
        env: &[(String, String)],
        environment: &McpEnvironment,
        log: Arc<Log>,
    ) -> Result<(Self, Pipes), String> {
        if let Some((name, _)) = env.iter().find(|(name, _)| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(format!("{:?} is not the name of a variable.", cut(name, 100)));
        }
        let mut command = Command::new(program);
        command.args(args).env_clear();
        let given = [("PATH", &environment.path), ("HOME", &environment.home), ("LANG", &environment.lang)];
        for (name, value) in given {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.envs(env.iter().map(|(name, value)| (name, value)));
        // Not the folder of Toolshelf, where its data may be.
        let folder = environment.home.as_deref().filter(|home| Path::new(home).is_dir()).unwrap_or("/");
        command.current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());

        let mut child = CommandWrap::from(command)
            .wrap(ProcessGroup::leader())
            .wrap(KillOnDrop)
            .spawn()
            .map_err(|error| not_started(program, &error))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("The program could not be started with pipes.".to_owned());
        };
        let log = tokio::spawn(async move { read_lines(stderr, &log).await });
        Ok((Self { child, group, log }, Pipes { stdin, stdout }))
    }

    /// Waits until the program has ended by itself. May be dropped and called again.
    pub(crate) async fn ended(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Ends the program, whose input has been closed, and all that it started: first it may end by itself, then it is
    /// told to, then it is killed. Nothing of it is left afterwards.
    pub(crate) async fn end(mut self, timing: Timing) {
        let _ = timeout(timing.close_grace, self.child.wait()).await;
        if let Some(group) = self.group
            && test_kill_process_group(group).is_ok()
        {
            let _ = kill_process_group(group, Signal::TERM);
            if timeout(timing.term_grace, self.gone(group)).await.is_err() {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = timeout(DYING, self.gone(group)).await;
            }
        }
        // From here on the number may belong to another group.
        self.group = None;
        if timeout(LAST_WORDS, &mut self.log).await.is_err() {
            self.log.abort();
        }
    }

    /// Waits until the program and all that it started is gone.
    async fn gone(&mut self, group: Pid) {
        let _ = self.child.wait().await;
        while test_kill_process_group(group).is_ok() {
            sleep(GROUP_POLL).await;
        }
    }
}

/// When nobody ends it in order, as when the runtime goes down, everything is killed at once. The leader is reaped by
/// tokio.
impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
            self.log.abort();
        }
    }
}

/// How a program ended.
pub(crate) fn exit_sentence(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    match (status.code(), status.signal()) {
        (Some(code), _) => format!("It ended with exit code {code}. Its log may say why."),
        (None, Some(signal)) => format!("It was ended by signal {signal}. Its log may say why."),
        (None, None) => "It ended. Its log may say why.".to_owned(),
    }
}

fn not_started(program: &str, error: &std::io::Error) -> String {
    let shown = cut(program, 200);
    match error.kind() {
        ErrorKind::NotFound if program.contains('/') => format!("The program `{shown}` does not exist."),
        ErrorKind::NotFound => format!("The program `{shown}` was not found in PATH."),
        ErrorKind::PermissionDenied => format!("The program `{shown}` may not be executed."),
        _ => format!("The program `{shown}` could not be started: {error}."),
    }
}
