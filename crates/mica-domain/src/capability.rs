//! Groups of tools that belong to a page, and what they say about themselves.

use std::fmt;
use std::sync::Arc;

use mica_agent::{Tool, ToolSpec};
use mica_context::section::ToolNames;
use mica_tools::Shelf;

use crate::act::Act;
use crate::lifecycle::Lifecycle;
use crate::page::Page;

/// A text that is made from the tools that are really there. `None`: nothing is said.
pub type Telling = Arc<dyn Fn(&ToolNames) -> Option<String> + Send + Sync>;

/// A group of tools that belongs to a page, or to all.
#[derive(Clone)]
pub struct Capability {
    /// What it is bound to.
    pub page: Page,
    /// Its tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the model is told about them: a function of the tools that are really there.
    pub prompt: Telling,
    /// What can be done here, for people: a function of the same tools. It is not said when none of its own is left.
    pub summary: Telling,
    /// Global tools that are left out on this page.
    pub excludes: Vec<Exclude>,
    /// Whether its tools are sent with every request, or listed and loaded when they are needed.
    pub delivery: Delivery,
    /// Arguments that the domain may fill in when the model leaves them out. Nothing else is ever filled in.
    pub inputs: Vec<Input>,
    /// What is said of its tools besides: who is asked, what a call would come to, which right it needs.
    pub acts: Vec<Act>,
    /// What is done when a run begins and ends on this page: taking a lock, keeping what was there before.
    pub lifecycle: Option<Arc<dyn Lifecycle>>,
    /// Where more deferred tools may come to stand while the session lives.
    pub shelf: Option<Shelf>,
    /// Whose words the descriptions of its tools are.
    pub words: Words,
}

impl Capability {
    /// A group of tools on a page.
    pub fn new(page: Page, summary: impl Into<String>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let summary = Some(summary.into());
        Self {
            page,
            tools,
            prompt: Arc::new(|_| None),
            summary: Arc::new(move |_| summary.clone()),
            excludes: Vec::new(),
            delivery: Delivery::Sent,
            inputs: Vec::new(),
            acts: Vec::new(),
            lifecycle: None,
            shelf: None,
            words: Words::Own,
        }
    }

    /// Says what the model is told. It becomes part of the system prompt: the same tools must give the same text.
    #[must_use]
    pub fn with_prompt(
        mut self,
        prompt: impl Fn(&ToolNames) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.prompt = Arc::new(prompt);
        self
    }

    /// Says what can be done here, for people, as far as the tools are there.
    #[must_use]
    pub fn summarising(
        mut self,
        summary: impl Fn(&ToolNames) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.summary = Arc::new(summary);
        self
    }

    /// With something to do when a run begins and ends on its page.
    #[must_use]
    pub fn living(mut self, lifecycle: Arc<dyn Lifecycle>) -> Self {
        self.lifecycle = Some(lifecycle);
        self
    }

    /// Leaves global tools out on this page.
    #[must_use]
    pub fn excluding(mut self, excludes: impl IntoIterator<Item = Exclude>) -> Self {
        self.excludes.extend(excludes);
        self
    }

    /// Keeps its tools out of every request: they are listed by name, and loaded when they are needed. For tools that most
    /// conversations do without.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.delivery = Delivery::Deferred;
        self
    }

    /// With deferred tools that come and go while the session lives.
    #[must_use]
    pub fn growing(mut self, shelf: Shelf) -> Self {
        self.shelf = Some(shelf);
        self
    }

    /// Its tools are described by others: what they name is not checked, because nobody here could put it right.
    #[must_use]
    pub fn foreign(mut self) -> Self {
        self.words = Words::Foreign;
        self
    }

    /// Says more about one of its tools.
    #[must_use]
    pub fn acting(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }

    /// Lets the domain fill in an argument.
    #[must_use]
    pub fn filling(mut self, tool: impl Into<String>, argument: impl Into<String>) -> Self {
        self.inputs.push(Input { tool: tool.into(), argument: argument.into(), reference: None });
        self
    }

    /// Lets an argument be filled in with the id of a reference of a kind.
    #[must_use]
    pub fn filling_from(
        mut self,
        tool: impl Into<String>,
        argument: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        let (tool, argument) = (tool.into(), argument.into());
        self.inputs.push(Input { tool, argument, reference: Some(kind.into()) });
        self
    }
}

/// Whose words the descriptions of tools are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Words {
    /// The domain's: they name no tool that is not there.
    #[default]
    Own,
    /// Somebody else's.
    Foreign,
}

/// How the tools of a capability reach the model. Whatever it is, what they may do, who is asked and what is shown is the
/// same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// With every request.
    #[default]
    Sent,
    /// By name, until they are needed ([`mica_tools::Deferred`]).
    Deferred,
}

/// An argument of a tool that a domain may fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The tool.
    pub tool: String,
    /// Its argument.
    pub argument: String,
    /// The kind of reference that goes there.
    pub reference: Option<String>,
}

/// Global tools that a page leaves out.
#[derive(Clone)]
pub enum Exclude {
    /// The one of this name.
    Name(String),
    /// Those whose names begin so.
    Prefix(String),
    /// Those that a function picks.
    When(Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>),
}

impl Exclude {
    /// Those that a function picks.
    pub fn when(picks: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        Self::When(Arc::new(picks))
    }

    /// Whether a tool is left out.
    pub fn covers(&self, spec: &ToolSpec) -> bool {
        match self {
            Self::Name(name) => spec.name == *name,
            Self::Prefix(prefix) => spec.name.starts_with(prefix.as_str()),
            Self::When(picks) => picks(spec),
        }
    }
}

impl fmt::Debug for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "Name({name:?})"),
            Self::Prefix(prefix) => write!(f, "Prefix({prefix:?})"),
            Self::When(_) => f.write_str("When(..)"),
        }
    }
}
