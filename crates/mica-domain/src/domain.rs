//! The seam: what a product tells the engine, and when it is asked.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use mica_agent::{Outcome, ToolOutput, ToolSpec};
use mica_ai::message::ToolCall;
use mica_context::section::ToolNames;
use serde_json::Value;

use crate::capability::{Capability, Input};
use crate::section::{Section, Tier};
use crate::state::{State, Surroundings};

/// How sure a pack is that a folder is its own. Ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It takes any folder that nobody else wants.
    Fallback,
    /// Something looks like it.
    Likely,
    /// A file that only its projects have is there.
    Certain,
}

/// What a domain has to say about files that were changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remark {
    /// For the model, which reads it with the result.
    pub text: String,
    /// For interfaces: the same as data, under `checks` in the details of the result.
    pub checks: Option<Value>,
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Self { text, checks: None }
    }
}

/// A domain: everything the engine does not know about a product.
///
/// Contract: the hooks that are not `async` return at once, without input or output. State is changed only through what
/// a hook is given; between hooks it belongs to the session.
#[async_trait]
pub trait Domain: Send + Sync {
    /// The name of the pack.
    fn name(&self) -> &str;

    /// Whether a folder is a project of this domain.
    fn detect(&self, folder: &Path) -> Option<Confidence> {
        let _ = folder;
        None
    }

    /// The tools, by page.
    fn capabilities(&self) -> Vec<Capability> {
        Vec::new()
    }

    /// Kinds of subagents, as TOML: a table for each, by name, as `mica_tools::subagent::Profiles` reads it. They are laid
    /// over those that come along, and a user's settings over them.
    fn subagent_profiles(&self) -> Option<&str> {
        None
    }

    /// The prompt, from the tools that are really there.
    fn sections(&self, tools: &ToolNames, state: &State) -> Vec<Section> {
        let _ = (tools, state);
        Vec::new()
    }

    /// What is true at the moment: asked before every message to the model, and told when it changed. May look at the disk,
    /// briefly.
    fn turn(&self, tools: &ToolNames, state: &State) -> Vec<Section> {
        let mut sections = self.sections(tools, state);
        sections.retain(|section| section.tier == Tier::Turn);
        sections
    }

    /// A session begins.
    fn initial_state(&self, surroundings: &Surroundings) -> State {
        let mut state = State::default();
        self.apply_context(&mut state, surroundings);
        state
    }

    /// A session goes on: what was remembered, as it was kept, possibly by an older version of this domain. May bring it
    /// up to date.
    ///
    /// # Errors
    /// In words, when it means nothing any more. The session then goes on with a fresh state.
    fn restore_state(&self, kept: State) -> Result<State, String> {
        Ok(kept)
    }

    /// A message came, and with it where the user is now. A message that says nothing about the page, such as an answer
    /// to a question, leaves the page as it was.
    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        if surroundings.page.is_some() {
            state.page.clone_from(&surroundings.page);
        }
    }

    /// A run begins: what the tools of the last one came to is forgotten.
    fn reset_run(&self, state: &mut State) {
        state.run.clear();
    }

    /// A value for an argument that the model left out. Asked for declared inputs only. `None` when in doubt: the wrong
    /// record is worse than a question.
    fn prefill(&self, input: &Input, state: &State) -> Option<Value> {
        let _ = (input, state);
        None
    }

    /// A call came to something. May remember it; the model's view of it is not changed here.
    fn on_result(&self, call: &ToolCall, spec: &ToolSpec, output: &ToolOutput, state: &mut State) {
        let _ = (call, spec, output, state);
    }

    /// Files were changed. What is returned is added to the result, so that the model reads it before it goes on: what a
    /// check found, for example.
    async fn after_write(&self, files: &[PathBuf], state: &State) -> Option<Remark> {
        let _ = (files, state);
        None
    }

    /// A run ended.
    async fn on_run_end(&self, outcome: &Outcome, state: &mut State) {
        let _ = (outcome, state);
    }

    /// The model's last words as people will see them. What the model is sent stays as it said it.
    fn finish_text(&self, text: String, state: &State) -> String {
        let _ = state;
        text
    }
}
