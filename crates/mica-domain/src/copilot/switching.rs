//! Another model in the middle of a session. What waits for people goes on waiting, and is gone on with by the new one.

use std::sync::Arc;

use mica_ai::{Model, Provider};
use serde_json::json;

use super::{Copilot, CopilotError};

impl Copilot {
    /// Goes on with another model from the next request on. Tools, prompt and conversation stay; what is sealed for the
    /// model before is not shown to this one. What is kept of the window is measured anew.
    ///
    /// # Errors
    /// [`CopilotError::Busy`] while a run goes on; [`CopilotError::Kept`]: then nothing has changed.
    pub async fn switch(&self, provider: Arc<dyn Provider>, model: Arc<Model>) -> Result<(), CopilotError> {
        let _turn = self.inner.running.try_lock().map_err(|_| CopilotError::Busy)?;
        let change = json!({ "model": model.id, "dialect": model.dialect });
        let kept = self.inner.side.append("model", change).await;
        kept.map_err(|problem| CopilotError::Kept { problem })?;
        let switched = self.inner.agent.with(|cx| {
            cx.provider = provider;
            cx.model = model;
        });
        switched.await.map_err(|_| CopilotError::Busy)?;
        self.inner.window.model_changed();
        Ok(())
    }
}
