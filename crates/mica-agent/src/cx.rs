//! What a running call is given: who it is, when to stop, and a way to tell how far it is.

use std::sync::Arc;

use mica_ai::id::CallId;
use tokio_util::sync::CancellationToken;

use crate::id::RunId;

/// What a running call is given. Cheap to clone.
#[derive(Clone)]
pub struct ToolCx {
    /// The run it belongs to.
    pub run: RunId,
    /// The call's own id.
    pub call: CallId,
    /// A key that is the same when this very call is run again after a crash, and never otherwise. Within a run it is
    /// made of the answer's id and the call's: some servers number their calls anew in every answer.
    pub effect_key: String,
    /// Fires when the call should stop: its deadline, an interrupt, or the end of the run.
    pub cancel: CancellationToken,
    progress: Arc<dyn Fn(String) + Send + Sync>,
}

impl ToolCx {
    /// A context for one call. `progress` is told what is new.
    pub fn new(
        run: RunId,
        call: CallId,
        cancel: CancellationToken,
        progress: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        let effect_key = format!("{run}/{call}");
        Self { run, call, effect_key, cancel, progress: Arc::new(progress) }
    }

    /// Tells what is new: a line of output, a percentage. Deltas, never all of it again. Told at once; when nobody
    /// reads fast enough, pieces are dropped, because the result has everything anyway.
    pub fn progress(&self, news: impl Into<String>) {
        (self.progress)(news.into());
    }
}
