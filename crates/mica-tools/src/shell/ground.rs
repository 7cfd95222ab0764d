//! Where commands run: the sandbox and the boundary of this machine, from those who know it.

use async_trait::async_trait;
use mica_agent::ToolError;
use mica_sandbox::{Boundary, Sandbox};

/// Where commands run. Asked when one does: finding out what the kernel can do takes longer than starting the program.
#[async_trait]
pub trait Ground: Send + Sync {
    /// The sandbox.
    ///
    /// # Errors
    /// [`ToolError`] when commands must not run here, because nothing would confine them.
    async fn sandbox(&self) -> Result<Sandbox, ToolError>;

    /// The boundary for work in the project, made anew for each command: what a link leads to may have changed.
    ///
    /// # Errors
    /// [`ToolError`] when there is none.
    fn boundary(&self) -> Result<Boundary, ToolError>;
}
