//! The memory of a session: what the prompt says of it, the tools that change it, and who must agree.

pub mod command;
pub mod parts;

use std::sync::Arc;

use mica_agent::Tool;
use mica_context::section::{Rendered, ToolNames};
use mica_domain::{Capability, Page};
use mica_ext::memory::{Asking, Forget, Memory, MemoryGate, Remember, Snapshot, Trust, tools};
use mica_ext::{Command, Origin};
use mica_policy::mode::{Cell, Exception, Mode};
use mica_policy::rules::BadRule;

use super::Part;
use super::begun::Begun;
use super::skills::Typable;
use crate::config::Values;
use crate::surroundings::Surroundings;
use command::MemoryCommand;

/// The name of the section that tells what changed.
const CHANGES: &str = "memory-changes";

/// What a session remembers.
pub struct Remembered {
    memory: Memory,
    /// As it was when the session began: that is in the prompt.
    snapshot: Snapshot,
    is_on: bool,
}

/// The memory of this user and this project.
pub fn memory(surroundings: &Surroundings) -> Memory {
    let trust = Arc::new(Kept(surroundings.clone()));
    Memory::new(&surroundings.config, &surroundings.folder, trust)
}

/// Trust in the project's file, where all trust is kept.
struct Kept(Surroundings);

impl Trust for Kept {
    fn trusts(&self, text: &str) -> bool {
        parts::of_memory(&self.0.folder, text).is_trusted(&self.0)
    }

    fn trust(&self, text: &str) -> Result<(), String> {
        parts::of_memory(&self.0.folder, text).trust(&self.0).map_err(|error| format!("{error:#}"))
    }
}

impl Remembered {
    /// Reads it, and says what a person should know.
    pub fn find(values: &Values, surroundings: &Surroundings, notices: &mut Vec<String>) -> Self {
        let memory = memory(surroundings);
        let is_on = values.memory.unwrap_or(true);
        let mut snapshot = Snapshot::default();
        if is_on {
            let (read, problems) = memory.snapshot();
            snapshot = read;
            // That nobody trusts it is told with everything else that nobody trusts.
            let others = problems
                .iter()
                .filter(|error| !matches!(error, mica_ext::memory::MemoryError::Untrusted { .. }));
            notices.extend(others.map(mica_ext::memory::MemoryError::told));
        }
        Self { memory, snapshot, is_on }
    }

    /// For a session that goes on: its prompt says what it said, and what is other is told at the tail.
    #[must_use]
    pub fn going_on(mut self, began: Option<&Begun>) -> Self {
        if let Some(began) = began.filter(|_| self.is_on) {
            self.snapshot = began.memory.clone();
        }
        self
    }

    /// What the prompt has of it.
    pub fn began(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What it brings. `asking` says whether somebody can be asked.
    pub(super) fn part(&self, asking: Asking) -> Part {
        if !self.is_on {
            return Part::default();
        }
        let command: Arc<dyn Command> = Arc::new(MemoryCommand::new(self.memory.clone()));
        let commands = vec![Arc::clone(&command)];
        let commands = Typable::new("memory", commands, Box::new(move || vec![Arc::clone(&command)]));
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(Remember::new(&self.memory)), Arc::new(Forget::new(&self.memory))];
        let (memory, began) = (self.memory.clone(), self.snapshot.clone());
        let tail = move |_: &ToolNames| vec![Rendered::turn(CHANGES, began.changed(&memory.snapshot().0))];
        Part {
            capabilities: vec![Capability::new(
                Page::Global,
                "remembers what later sessions should know",
                tools,
            )],
            hooks: vec![Arc::new(MemoryGate::new(self.memory.clone(), asking))],
            tail: vec![Arc::new(tail)],
            factories: vec![(Origin::Compiled, Arc::new(commands))],
            ..Part::default()
        }
    }

    /// What the modes do with these tools: a person is asked about each call, so none of them needs to forbid it.
    ///
    /// # Errors
    /// Never: the names are names.
    pub fn exceptions() -> Result<Vec<Exception>, BadRule> {
        let mut exceptions = Vec::new();
        for tool in [tools::REMEMBER, tools::FORGET] {
            for mode in [Mode::Ask, Mode::Plan] {
                exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
            }
        }
        Ok(exceptions)
    }

    /// What the prompt says.
    pub fn section(&self) -> Option<String> {
        self.snapshot.section()
    }
}
