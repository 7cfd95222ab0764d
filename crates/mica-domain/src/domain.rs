//! The seam: what a product tells the engine, and when it is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Outcome, ToolOutput, ToolSpec};
use mica_ai::message::ToolCall;
use serde_json::Value;

use crate::capability::{Capability, Input};
use crate::cards::Kinds;
use crate::refs::RefKinds;
use crate::section::{Org, OrgView, Section, Static, Turn, TurnView};
use crate::state::{State, Surroundings};
use crate::tasks::TaskKind;

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

    /// What the model is told in every session of every organisation.
    fn statics(&self) -> Vec<Section<Static>> {
        Vec::new()
    }

    /// What the model is told of the organisation, or of the project: the same until somebody changes it. It becomes part
    /// of the system prompt, so it is asked for when a page is entered, and what changes after that is not told.
    fn org(&self, view: &OrgView<'_>) -> Vec<Section<Org>> {
        let _ = view;
        Vec::new()
    }

    /// What is true at the moment: asked before every message to the model, and told when it changed. May look at the disk,
    /// briefly.
    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<Turn>> {
        let _ = view;
        Vec::new()
    }

    /// The cards that it shows, and how what they show is found.
    fn cards(&self) -> Kinds {
        Kinds::default()
    }

    /// The kinds of background work that its tools begin.
    fn task_kinds(&self) -> Vec<Arc<dyn TaskKind>> {
        Vec::new()
    }

    /// The kinds of things that a message can refer to.
    fn ref_kinds(&self) -> RefKinds {
        RefKinds::default()
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

    /// A message came, and with it where the user is now and what is in front of them: it replaces what was. An answer to
    /// a question, or news of a task, that says nothing about it is not told here, and leaves it as it was.
    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        state.page.clone_from(&surroundings.page);
        state.refs.clone_from(&surroundings.refs);
    }

    /// A run begins: what the tools of the last one came to is forgotten.
    fn reset_run(&self, state: &mut State) {
        state.run.clear();
    }

    /// A value for an argument that the model left out. Asked for declared inputs only. `None` when in doubt: the wrong
    /// record is worse than a question. By default the reference that the input asks for, if it is [certain].
    ///
    /// [certain]: crate::refs::Refs::certain
    fn prefill(&self, input: &Input, state: &State) -> Option<Value> {
        let kind = input.reference.as_deref()?;
        let found = state.refs.certain(kind, &self.ref_kinds())?;
        Some(Value::String(found.id.clone()))
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

    /// A run ended: asked once for each, before anybody else hears of it, and not when it is suspended. A run that waits
    /// for a person, who then says something else, is aborted. What goes wrong here is logged and changes nothing.
    async fn on_run_end(&self, outcome: &Outcome, state: &mut State) {
        let _ = (outcome, state);
    }

    /// The model's last words as people will see them. What the model is sent stays as it said it.
    fn finish_text(&self, text: String, state: &State) -> String {
        let _ = state;
        text
    }
}
