//! Tools that know the store of their session: their specifications say what is bound, and their calls can ask for
//! [`Store::here`].
//!
//! A tool is made once and used in many sessions, so it cannot have a store itself; and what the engine gives to a call
//! knows nothing of stores. So each session has its tools wrapped.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::tool::{Access, Resource};
use mica_agent::{Args, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSet, ToolSpec};

use super::{HERE, Store};
use crate::around::each;

type Tools = Arc<[Arc<dyn Tool>]>;

/// The tools of a session.
pub fn equipped(tools: &ToolSet, store: &Store) -> ToolSet {
    each(tools, |tool| Equipped::around(Arc::clone(tool), store))
}

struct Equipped {
    inner: Arc<dyn Tool>,
    /// What the model sees, when something is bound.
    spec: Option<ToolSpec>,
    store: Store,
    /// The tools behind it, as they are and as they were made: there may be others later.
    behind: Mutex<Option<(Tools, Tools)>>,
}

impl Equipped {
    fn around(inner: Arc<dyn Tool>, store: &Store) -> Arc<dyn Tool> {
        let spec = store.given().bindings.shaped(inner.spec());
        Arc::new(Self { inner, spec, store: store.clone(), behind: Mutex::default() })
    }
}

#[async_trait]
impl Tool for Equipped {
    fn spec(&self) -> &ToolSpec {
        self.spec.as_ref().unwrap_or_else(|| self.inner.spec())
    }

    fn access(&self, args: &Args) -> Access {
        self.inner.access(args)
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.inner.touches(args)
    }

    fn behind(&self) -> Tools {
        let now = self.inner.behind();
        if now.is_empty() {
            return now;
        }
        let mut made = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((as_they_are, around)) = &*made
            && as_they_are.len() == now.len()
            && as_they_are.iter().zip(now.iter()).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return Arc::clone(around);
        }
        let around: Tools = now.iter().map(|tool| Self::around(Arc::clone(tool), &self.store)).collect();
        *made = Some((now, Arc::clone(&around)));
        around
    }

    fn stands_for(&self, args: &Args) -> Option<Result<(String, Args), ToolError>> {
        self.inner.stands_for(args)
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        HERE.scope(self.store.clone(), self.inner.preview(args)).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        HERE.scope(self.store.clone(), self.inner.call(args, cx)).await
    }
}
