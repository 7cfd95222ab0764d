//! Where an extension says what it brings.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::Tool;

use crate::concern::{Command, Failure, Guard, Input, Lifecycle, Prompting, Shortcut, Window};

/// Makes an extension: it registers what it brings, once for each time that extensions are loaded.
#[async_trait]
pub trait Factory: Send + Sync {
    /// What it is called in lists and notices.
    fn name(&self) -> &str;

    /// Registers what it brings.
    ///
    /// # Errors
    /// In words. Nothing of it is used then.
    async fn register(&self, registry: &mut Registry) -> Result<(), Failure>;
}

/// What one extension brings. Order is kept.
#[derive(Default)]
pub struct Registry {
    /// Tools for the model.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Who judges calls.
    pub guards: Vec<Arc<dyn Guard>>,
    /// Who sees what is typed.
    pub inputs: Vec<Arc<dyn Input>>,
    /// Who adds to what the model is told.
    pub prompting: Vec<Arc<dyn Prompting>>,
    /// Who changes what is sent.
    pub windows: Vec<Arc<dyn Window>>,
    /// Who is told what happens.
    pub lifecycles: Vec<Arc<dyn Lifecycle>>,
    /// What people can type.
    pub commands: Vec<Arc<dyn Command>>,
    /// What keys do.
    pub shortcuts: Vec<Arc<dyn Shortcut>>,
    /// How long one call of what is registered here may take, where the usual ([`Deadlines`](crate::Deadlines)) is too
    /// short. The time of people does not count ([`Patience`](mica_agent::Patience)).
    pub deadline: Option<Duration>,
}
