//! Scripted extensions: a file or a folder of TypeScript, in a cage of its own.
//!
//! A [`Bundle`] is what was read; [`load`] runs its factory and makes an [`Extension`] of what it registers. A script sees
//! nothing of the machine but what the [`World`] gives it, within the permissions that the user granted. One that loops,
//! hoards memory or breaks is stopped for good, and its [`Health`] says why: nothing of it stops the agent, and a guard of
//! it means no from then on.
//!
//! Calls into one extension take turns as in every JavaScript program: while one awaits something (a person, a program),
//! others go on, so a question in one handler holds up no tool of the same extension. Within one event the handlers run one
//! after the other.

mod adapters;
pub mod bundle;
mod host;
pub mod manifest;
pub mod permission;
mod running;
mod tool;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use mica_script::{Clock, Limits};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::concern::Moment;
use crate::extensions::{Extension, Origin};
use crate::registry::Registry;
use crate::world::World;
use permission::Grants;
use running::Script;

pub use bundle::{Bundle, BundleError};
pub use manifest::Manifest;
pub use permission::Permission;

/// The types that authors write against: what `import type … from "mica"` names.
pub const API_TYPES: &str = include_str!("script/api.d.ts");

/// The events that are more than being told: what a handler returns counts.
pub const ANSWERED: [&str; 5] = ["tool_call", "tool_result", "context", "input", "before_agent_start"];

/// All events that a script can hear of.
pub fn events() -> impl Iterator<Item = &'static str> {
    ANSWERED.into_iter().chain(Moment::KINDS)
}

/// The names in the `api` that a factory is given.
pub const API: [&str; 17] = [
    "on",
    "registerTool",
    "registerCommand",
    "registerShortcut",
    "sendMessage",
    "sendUserMessage",
    "appendEntry",
    "getEntries",
    "getAllTools",
    "getActiveTools",
    "setActiveTools",
    "getThinkingLevel",
    "setThinkingLevel",
    "abort",
    "exec",
    "fetch",
    "storage",
];

/// Why a script could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The script failed.
    #[error("{message}")]
    Script {
        /// What it said, and where.
        message: String,
    },
    /// What it registered cannot be used.
    #[error("its tool {tool} cannot be used: {message}")]
    Tool {
        /// The tool.
        tool: String,
        /// Why.
        message: String,
    },
}

/// What a script is loaded with.
#[derive(Clone)]
pub struct Setting {
    /// What it can ask.
    pub world: Arc<dyn World>,
    /// What the user granted. What the manifest does not declare as well is refused.
    pub granted: Vec<Permission>,
    /// How much it may take.
    pub limits: Limits,
    /// What it stores values under; its name when absent. Two of one name, of two projects, share nothing.
    pub stores_as: Option<String>,
}

impl Setting {
    /// With nothing granted, and the usual limits: 64 MB, a second of computing for each call.
    pub fn new(world: Arc<dyn World>) -> Self {
        let limits = Limits { value: 4 << 20, clock: Clock::System, ..Limits::default() };
        Self { world, granted: Vec::new(), limits, stores_as: None }
    }

    /// With these permissions granted.
    #[must_use]
    pub fn granting(mut self, granted: Vec<Permission>) -> Self {
        self.granted = granted;
        self
    }
}

/// What a factory registered.
#[derive(Debug, Deserialize)]
struct Registered {
    events: Vec<String>,
    commands: Vec<adapters::CommandFacts>,
    shortcuts: Vec<adapters::ShortcutFacts>,
    tools: Vec<tool::ToolFacts>,
}

/// How long a factory may take.
const LOADING: Duration = Duration::from_secs(10);

/// Runs the factory of a script, and makes an extension of what it registers. Must be called within a runtime: what the
/// script asks of the world is done there.
///
/// # Errors
/// [`LoadError`]. Nothing of it is used then.
pub async fn load(bundle: &Bundle, setting: Setting) -> Result<Extension, LoadError> {
    let wrong = |message: String| LoadError::Script { message };
    let grants = Grants::new(bundle.manifest().permissions.clone(), setting.granted.clone());
    let script = Arc::new(Script::new(bundle, setting, grants).map_err(|error| wrong(error.for_model()))?);
    let given = json!({ "main": bundle.main(), "events": events().collect::<Vec<_>>() });
    let began =
        mica_agent::Patience::within(LOADING, script.call("begin", &given, running::Under::new())).await;
    let began =
        began.unwrap_or_else(|| Err(format!("its factory did not end within {} s", LOADING.as_secs())));
    let text = began.map_err(wrong)?.unwrap_or_default();
    let registered: Registered = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("what it registered cannot be read: {error}")))?;
    let mut registry = Registry::default();
    for facts in registered.tools {
        registry.tools.push(Arc::new(tool::ScriptTool::new(&script, facts)?));
    }
    adapters::register(&script, &registered.events, &mut registry);
    registry.commands.extend(registered.commands.into_iter().map(|facts| adapters::command(&script, facts)));
    registry
        .shortcuts
        .extend(registered.shortcuts.into_iter().map(|facts| adapters::shortcut(&script, facts)));
    let extension =
        Extension::new(bundle.name(), Origin::Scripted, registry).with_health(script.health().clone());
    Ok(extension.from(bundle.path()))
}

/// A value that is no object is none.
fn object(value: Value) -> Option<mica_agent::Args> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
