//! Another model in the middle of a session. What waits for people goes on waiting, and is gone on with by the new one.

use std::sync::Arc;

use mica_ai::{Dialect, Model, Provider};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::setup::Setup;
use super::{Copilot, CopilotError};
use crate::side::Side;

/// Whose changes these are, beside the session.
const KIND: &str = "model";

/// The model that a session was switched to last.
#[derive(Serialize, Deserialize)]
struct Switched {
    model: String,
    dialect: Dialect,
}

/// Has a session that is opened again go on with the model that it was switched to. Says so to people when that is not there.
pub(super) fn restore(setup: &mut Setup, side: &dyn Side, notices: &mut Vec<String>) -> Result<(), String> {
    let Some(last) = side.all(KIND)?.pop() else { return Ok(()) };
    let Ok(Switched { model, dialect }) = serde_json::from_value(last) else {
        notices.push(format!(
            "which model this session went on with cannot be read; it goes on with {}",
            setup.model.id
        ));
        return Ok(());
    };
    if (setup.model.id.as_str(), setup.model.dialect) == (model.as_str(), dialect) {
        return Ok(());
    }
    match setup.models.as_ref().and_then(|find| find(&model, dialect)) {
        Some((provider, model)) => (setup.provider, setup.model) = (provider, model),
        None => notices.push(format!(
            "this session went on with the model {model}, which is not to be had here; it goes on with {}",
            setup.model.id
        )),
    }
    Ok(())
}

impl Copilot {
    /// Goes on with another model from the next request on. Tools, prompt and conversation stay; what is sealed for the
    /// model before is not shown to this one. What is kept of the window is measured anew. The session goes on with it when it
    /// is opened again ([`Setup::models`]).
    ///
    /// # Errors
    /// [`CopilotError::Busy`] while a run goes on; [`CopilotError::Kept`]: then nothing has changed.
    pub async fn switch(&self, provider: Arc<dyn Provider>, model: Arc<Model>) -> Result<(), CopilotError> {
        let _turn = self.inner.running.try_lock().map_err(|_| CopilotError::Busy)?;
        let change = json!(Switched { model: model.id.clone(), dialect: model.dialect });
        let kept = self.inner.side.append(KIND, change).await;
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
