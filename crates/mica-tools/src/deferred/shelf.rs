//! A shelf: deferred tools that come and go while a session lives.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use async_trait::async_trait;
use mica_agent::Tool;

/// What stands on one, by name.
type Standing = Arc<[Arc<dyn Tool>]>;

/// Deferred tools that come and go while a session lives. Clones share them.
///
/// Nothing of them is sent, so nothing that was sent changes with them. A call that has begun keeps the tool it began with.
#[derive(Clone, Default)]
pub struct Shelf {
    tools: Arc<RwLock<Standing>>,
    supplier: Arc<OnceLock<Arc<dyn Supplier>>>,
}

/// Who puts tools on a shelf, and may still be fetching some.
#[async_trait]
pub trait Supplier: Send + Sync {
    /// Waits until a tool of this name is on the shelf, or will not be. A name that ends with `*` is for all that begin so.
    /// It has an end, and returns at once for what nobody is fetching.
    async fn fetch(&self, name: &str);
}

impl Shelf {
    /// Says who puts tools on it. The first one counts.
    pub fn supplied_by(&self, supplier: Arc<dyn Supplier>) {
        let _ = self.supplier.set(supplier);
    }

    /// Puts these on it, in place of all that were there.
    pub fn put(&self, mut tools: Vec<Arc<dyn Tool>>) {
        tools.sort_by(|one, other| one.spec().name.cmp(&other.spec().name));
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools.into();
    }

    /// What is on it, by name.
    pub fn tools(&self) -> Arc<[Arc<dyn Tool>]> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for a tool that may be on its way.
    pub(super) async fn fetch(&self, name: &str) {
        if let Some(supplier) = self.supplier.get() {
            supplier.fetch(name).await;
        }
    }
}
