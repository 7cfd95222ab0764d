//! A shelf: deferred tools that come and go while a session lives.

use std::sync::{Arc, PoisonError, RwLock};

use mica_agent::Tool;

/// What stands on one, by name.
type Standing = Arc<[Arc<dyn Tool>]>;

/// Deferred tools that come and go while a session lives. Clones share them.
///
/// Nothing of them is sent, so nothing that was sent changes with them. A call that has begun keeps the tool it began with.
#[derive(Clone, Default)]
pub struct Shelf {
    tools: Arc<RwLock<Standing>>,
}

impl Shelf {
    /// Puts these on it, in place of all that were there.
    pub fn put(&self, mut tools: Vec<Arc<dyn Tool>>) {
        tools.sort_by(|one, other| one.spec().name.cmp(&other.spec().name));
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools.into();
    }

    /// What is on it, by name.
    pub fn tools(&self) -> Arc<[Arc<dyn Tool>]> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }
}
