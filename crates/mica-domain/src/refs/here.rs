//! Tools that can ask what the user means: [`Refs::here`].
//!
//! A tool is made once and used in many sessions, and what the engine gives to a call knows nothing of references. So each
//! session has its tools wrapped; what the model sees of them stays the same.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSet};

use super::Refs;
use crate::around::{as_within, each};
use crate::hooks::DomainHooks;

tokio::task_local! {
    static HERE: Refs;
}

impl Refs {
    /// The references of the session that the running call belongs to. Empty outside of one.
    pub fn here() -> Self {
        HERE.try_with(Clone::clone).unwrap_or_default()
    }
}

/// The tools of a session.
pub(crate) fn knowing(tools: &ToolSet, domain: &Arc<DomainHooks>) -> ToolSet {
    each(tools, |tool| Knowing::around(tool, domain))
}

struct Knowing {
    inner: Arc<dyn Tool>,
    domain: Arc<DomainHooks>,
}

impl Knowing {
    fn around(tool: &Arc<dyn Tool>, domain: &Arc<DomainHooks>) -> Arc<dyn Tool> {
        Arc::new(Self { inner: Arc::clone(tool), domain: Arc::clone(domain) })
    }

    fn refs(&self) -> Refs {
        self.domain.snapshot().refs
    }
}

#[async_trait]
impl Tool for Knowing {
    as_within!();

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        self.inner.behind().iter().map(|tool| Self::around(tool, &self.domain)).collect()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        HERE.scope(self.refs(), self.inner.preview(args)).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        HERE.scope(self.refs(), self.inner.call(args, cx)).await
    }
}
