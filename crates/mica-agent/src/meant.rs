//! What a call means: itself, or the call of another tool that it stands for.
//!
//! A tool may be called under its own name or through one that stands before it. Whoever judges, shows, runs or counts a
//! call goes by what it means; only the conversation keeps the call as the model made it, because that is what providers
//! are sent again. Both have the same id.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use serde_json::Value;

use crate::context::ToolSet;
use crate::guard;
use crate::nearest::nearest;
use crate::tool::{Args, Tool, ToolError};

/// A call as it is meant.
#[derive(Clone)]
pub struct Meant {
    /// The call, with the name and the arguments of the tool that does it.
    pub call: ToolCall,
    /// The tool that does it.
    pub tool: Arc<dyn Tool>,
    /// Its arguments.
    pub args: Args,
}

/// A call that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Meaningless {
    /// What it is called for people: by the tool it was meant for, as far as that is known.
    pub call: ToolCall,
    /// Why, and what to do instead. The model reads it.
    pub reason: String,
}

impl ToolSet {
    /// What a call means. Asked anew whenever it matters, also after a restart: it depends on nothing but the tools.
    ///
    /// # Errors
    /// [`Meaningless`], when there is no such tool or its arguments cannot be read.
    pub fn meant(&self, call: &ToolCall) -> Result<Meant, Box<Meaningless>> {
        let no = |call: &ToolCall, reason: String| Err(Box::new(Meaningless { call: call.clone(), reason }));
        let Some(tool) = self.find(&call.name) else { return no(call, self.unknown(&call.name)) };
        let args = match call.arguments.parse() {
            Ok(args) => args,
            Err(bad) => return no(call, bad.for_model()),
        };
        let (name, inner) = match stands_for(&tool, &args) {
            None => return Ok(Meant { call: call.clone(), tool, args }),
            Some(Ok(inner)) => inner,
            Some(Err(error)) => return no(call, error.message),
        };
        let arguments = Arguments::from_value(&Value::Object(inner.clone()));
        let meant = ToolCall { id: call.id.clone(), name, arguments };
        match self.find(&meant.name) {
            None => no(&meant, self.unknown(&meant.name)),
            // One step only: a call of a call could hide from people what it comes to.
            Some(tool) if stands_for(&tool, &inner).is_some() => no(
                call,
                format!(
                    "{} cannot call {}: name the tool that does the work. Nothing was done.",
                    call.name, meant.name
                ),
            ),
            Some(tool) => Ok(Meant { call: meant, tool, args: inner }),
        }
    }

    /// A call by the tool that it is meant for, or as it was made when that cannot be said: for whoever looks at calls of
    /// the conversation.
    pub fn as_meant<'a>(&self, call: &'a ToolCall) -> Cow<'a, ToolCall> {
        // Nearly all calls mean themselves, and are not copied.
        let stands =
            |tool: &Arc<dyn Tool>| call.arguments.parse().is_ok_and(|args| stands_for(tool, &args).is_some());
        if !self.get(&call.name).is_some_and(stands) {
            return Cow::Borrowed(call);
        }
        match self.meant(call) {
            Ok(meant) => Cow::Owned(meant.call),
            Err(meaningless) => Cow::Owned(meaningless.call),
        }
    }

    /// The tool that a call of this name is for: one that the model sees, or one behind those.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.get(name).cloned().or_else(|| self.behind().find(|tool| tool.spec().name == name))
    }

    /// Tools that can be called and are not among those that the model sees, as there are now.
    pub fn behind(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.iter().flat_map(|tool| tool.behind().to_vec())
    }

    /// The names of all tools that can be called now, those that the model sees first.
    pub fn callable(&self) -> Vec<String> {
        let behind = self.behind().map(|tool| tool.spec().name.clone());
        self.names().map(str::to_owned).chain(behind).collect()
    }

    /// What is said about a tool that is not there. The model has read the names; it is told the one it meant, or all.
    fn unknown(&self, name: &str) -> String {
        let known = self.callable();
        match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => format!("There is no tool {name:?}. Did you mean {meant:?}? Nothing was done."),
            None => {
                format!("There is no tool {name:?}. The tools are: {}. Nothing was done.", known.join(", "))
            }
        }
    }
}

type Inner = Result<(String, Args), ToolError>;

/// What a call of a tool stands for. A tool that breaks over the question stands for nothing that could be run.
fn stands_for(tool: &Arc<dyn Tool>, args: &Args) -> Option<Inner> {
    catch_unwind(AssertUnwindSafe(|| tool.stands_for(args))).unwrap_or_else(|panic| {
        let message = guard::words(&*panic);
        tracing::error!(tool = %tool.spec().name, message, "a tool panicked over what a call of it stands for");
        Some(Err(ToolError::new("What this call stands for could not be found out, so it was not run.")))
    })
}

#[cfg(test)]
mod tests;
