//! A guard around code that is not the engine's own: a panic is an error with words, and a wait has an end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::outcome::RunError;

/// A hook that only looks something up or writes something down and takes longer has failed. People and models are
/// not waited for under it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// How long something that was told to stop may take to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Does some work; a panic in it is returned in words.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(&*panic))
}

/// Asks for words that can be done without: a panic is none.
pub(crate) fn words_of(asked: impl FnOnce() -> Option<String>) -> Option<String> {
    catch_unwind(AssertUnwindSafe(asked)).ok().flatten()
}

/// Asks a hook that may take its time.
pub(crate) async fn hook<T>(name: &str, work: impl Future<Output = T>) -> Result<T, RunError> {
    caught(work).await.map_err(|message| RunError::Hook { hook: name.to_owned(), message })
}

/// Asks a hook that must answer soon.
pub(crate) async fn soon<T>(name: &str, work: impl Future<Output = T>) -> Result<T, RunError> {
    within(name, DEADLINE, work).await
}

/// Asks a hook that must answer within some time.
pub(crate) async fn within<T>(
    name: &str,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, RunError> {
    match tokio::time::timeout(limit, hook(name, work)).await {
        Ok(made) => made,
        Err(_) => Err(RunError::Hook {
            hook: name.to_owned(),
            message: format!("it did not answer within {} s", limit.as_secs()),
        }),
    }
}

/// Waits until something that was told to stop has had its time to stop.
pub(crate) async fn overdue(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// What a panic said.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
