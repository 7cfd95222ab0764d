//! From parsed JSON to the arguments of a tool, and work on a thread that may wait for a disk.

use mica_agent::{Args, ToolCx, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads arguments as a type.
///
/// # Errors
/// [`ToolError`] when they do not fit.
pub fn read<A: DeserializeOwned>(args: Args) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        ToolError::new(format!("The arguments do not fit the tool: {error}. Nothing was done."))
    })
}

/// Does work that waits for a disk, away from the threads that must not wait. A call that is stopped before it began
/// does nothing; one that has begun finishes, because what it does is short and must not be cut in the middle.
///
/// # Errors
/// What the work says, or that it broke.
pub async fn blocking<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce(&ToolCx) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cx = cx.clone();
    let working = tokio::task::spawn_blocking(move || {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::new("The call was stopped before it began. Nothing was done."));
        }
        work(&cx)
    });
    working.await.unwrap_or_else(|error| Err(ToolError::new(format!("The tool broke: {error}."))))
}
