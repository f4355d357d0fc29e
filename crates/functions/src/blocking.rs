//! Work that blocks, off the threads that serve requests.

use std::io::{self, Read};

use tokio_util::sync::CancellationToken;
use toolshelf_runtime::FunctionError;

/// Runs blocking work. A panic in it is a panic of the function, which the pipeline catches.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, FunctionError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, FunctionError> + Send + 'static,
{
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
