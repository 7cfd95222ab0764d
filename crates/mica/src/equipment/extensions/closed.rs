//! What stands in for a guard that cannot judge any more: it says no to everything, and why.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, ToolSpec};
use mica_ai::message::ToolCall;
use mica_ext::concern::Failure;
use mica_ext::{Extension, Guard, Guarded, Health, Origin, Registry};

/// A guard that is closed.
struct Closed;

#[async_trait]
impl Guard for Closed {
    async fn tool_call(&self, _: &ToolCall, _: &ToolSpec, _: &Args) -> Result<Guarded, Failure> {
        Ok(Guarded::Block { reason: "it does not work any more".to_owned() })
    }
}

/// In the place of an extension that guarded calls, and does not any more because of this.
pub fn closed_guard(name: String, path: PathBuf, why: String) -> Extension {
    let health = Health::default();
    health.fail(why);
    let registry = Registry { guards: vec![Arc::new(Closed)], ..Registry::default() };
    Extension::new(name, Origin::Scripted, registry).from(path).with_health(health)
}
