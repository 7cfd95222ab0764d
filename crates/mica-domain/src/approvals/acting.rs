//! Calls that a person approved are carried out in their name: tools can ask whose yes they run on.
//!
//! A tool is made once and used in many sessions, and what the engine gives to a call knows nothing of people. So each
//! session has its tools wrapped; what the model sees of them stays the same.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSet};

use super::register::Register;
use crate::around::{as_within, each};

tokio::task_local! {
    static APPROVER: Option<String>;
}

/// Whose yes the running call has: whoever decided, in whatever process, and not whoever carries it out. `None` for calls
/// that nobody was asked about, and outside of calls.
pub fn approver() -> Option<String> {
    APPROVER.try_with(Clone::clone).ok().flatten()
}

/// Carries a call out on somebody's yes. Within the task that makes it: what is said around a task is not heard there.
pub(crate) async fn approved<T>(by: Option<String>, call: impl Future<Output = T>) -> T {
    APPROVER.scope(by, call).await
}

/// The tools of a session, which know whose yes their calls have.
pub(crate) fn acting(tools: &ToolSet, register: &Arc<Register>) -> ToolSet {
    each(tools, |tool| Acting::around(tool, register))
}

struct Acting {
    inner: Arc<dyn Tool>,
    register: Arc<Register>,
}

impl Acting {
    fn around(tool: &Arc<dyn Tool>, register: &Arc<Register>) -> Arc<dyn Tool> {
        Arc::new(Self { inner: Arc::clone(tool), register: Arc::clone(register) })
    }
}

#[async_trait]
impl Tool for Acting {
    as_within!();

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        self.inner.behind().iter().map(|tool| Self::around(tool, &self.register)).collect()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        self.inner.preview(args).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        APPROVER.scope(self.register.approver(&cx.call), self.inner.call(args, cx)).await
    }
}
