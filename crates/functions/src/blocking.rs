//! Work that blocks, off the threads that serve requests.

use std::io::{self, Read};
use std::sync::{Arc, LazyLock};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolshelf_runtime::FunctionError;

/// How much blocking work of functions runs at once. The threads are shared with sign-in and the database, which must
/// not wait for somebody's search.
const AT_ONCE: usize = 8;

static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(AT_ONCE)));

/// Runs blocking work. A panic in it is a panic of the function, which the pipeline catches.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, FunctionError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, FunctionError> + Send + 'static,
{
    let permit = Arc::clone(&PERMITS).acquire_owned().await.map_err(|_| cancelled())?;
    let work = move || {
        // Held by the work itself: a caller who goes away does not make room while the work goes on.
        let _permit = permit;
        work()
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime shuts down and never started the work.
            Err(_) => Err(cancelled()),
        },
    }
}

/// An error if nobody waits for the result any more. Loops ask this, because a thread cannot be dropped.
pub(crate) fn go_on(cancel: &CancellationToken) -> Result<(), FunctionError> {
    if cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
}

/// The error of a cancelled call.
pub(crate) fn cancelled() -> FunctionError {
    FunctionError::new("The call was cancelled.")
}

/// A reader that fails once nobody waits for the result any more.
pub(crate) struct UntilCancelled<'a, R> {
    pub(crate) inner: R,
    pub(crate) cancel: &'a CancellationToken,
}

impl<R: Read> Read for UntilCancelled<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use tokio_util::sync::CancellationToken;

    use super::{UntilCancelled, blocking, go_on};

    #[test]
    fn reading_ends_when_nobody_waits() {
        let cancel = CancellationToken::new();
        let mut reader = UntilCancelled { inner: std::io::repeat(b'x'), cancel: &cancel };
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 8);
        assert!(go_on(&cancel).is_ok());
        cancel.cancel();
        assert!(reader.read(&mut [0; 8]).is_err() && go_on(&cancel).is_err());
    }

    #[tokio::test]
    async fn only_so_much_runs_at_once_and_leaving_makes_no_room() {
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let (started, mut running) = tokio::sync::mpsc::unbounded_channel();
        let begin = || {
            let (gate, started) = (std::sync::Arc::clone(&gate), started.clone());
            tokio::spawn(blocking(move || {
                started.send(()).unwrap();
                // Ends when the sender is dropped.
                let _ = gate.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
                Ok(())
            }))
        };
        let calls: Vec<_> = (0..super::AT_ONCE).map(|_| begin()).collect();
        for _ in 0..super::AT_ONCE {
            running.recv().await.unwrap();
        }
        // All callers go away, and their work goes on.
        calls.iter().for_each(tokio::task::JoinHandle::abort);
        assert_eq!(super::PERMITS.available_permits(), 0);
        let next = begin();
        drop(release);
        running.recv().await.unwrap();
        next.await.unwrap().unwrap();
    }

    #[tokio::test]
    #[should_panic(expected = "in the body")]
    async fn a_panic_stays_a_panic() {
        let _ = blocking::<(), _>(|| panic!("in the body")).await;
    }
}
