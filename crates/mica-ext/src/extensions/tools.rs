//! Tools of extensions, as the agent holds them for a session.
//!
//! The tools of a session are part of its cached prompt and do not change. What an extension does behind them may, when
//! extensions are loaded anew: the agent's tool looks for the one of its name at each call.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Access, Args, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

use super::Extensions;

impl Extensions {
    /// The tools there are, but for those whose names are taken; about those people are told.
    pub fn tools(&self, is_taken: impl Fn(&str) -> bool) -> Vec<Arc<dyn Tool>> {
        let loaded = self.loaded();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(loaded.tools.len());
        for one in &loaded.tools {
            let spec = one.it.spec();
            if is_taken(&spec.name) {
                let text = format!("its tool {} is not used: the program has one of this name", spec.name);
                self.notice(one.name(), text);
                continue;
            }
            tools.push(Arc::new(Current { spec: spec.clone(), extensions: self.clone() }));
        }
        tools
    }

    /// The tool of a name as it is now.
    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let loaded = self.loaded();
        let one = loaded.tools.iter().find(|one| one.it.spec().name == name)?;
        Some(Arc::clone(&one.it))
    }
}

/// A tool that is looked up at each call.
struct Current {
    spec: ToolSpec,
    extensions: Extensions,
}

#[async_trait]
impl Tool for Current {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, args: &Args) -> Access {
        self.extensions.tool(&self.spec.name).map_or(self.spec.access, |tool| tool.access(args))
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.extensions.tool(&self.spec.name).map(|tool| tool.touches(args)).unwrap_or_default()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        self.extensions.tool(&self.spec.name)?.preview(args).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        match self.extensions.tool(&self.spec.name) {
            Some(tool) => tool.call(args, cx).await,
            None => Err(ToolError::new(format!(
                "The extension that brought {} was removed. Nothing was done; do it in another way.",
                self.spec.name
            ))),
        }
    }
}
