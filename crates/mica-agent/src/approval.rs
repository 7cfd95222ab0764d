//! Asking a person before a call runs, and what they answered.

use mica_ai::message::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use mica_ai::id::CallId;

use crate::base::Base;
use crate::proposal::Proposal;
use crate::shown::Shown;

/// A gate's answer about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// No opinion. When nobody has one, the tool's own specification decides whether a person is asked.
    Pass,
    /// No opinion either; but should the tool's specification have a person asked, this may be remembered of a yes.
    Offer {
        /// What may be remembered.
        proposals: Vec<Proposal>,
    },
    /// It may run, also when the tool's specification would ask.
    Allow,
    /// A person decides.
    Ask {
        /// Why they are asked.
        reason: String,
        /// The rule that asks, for people who want to change it.
        rule: Option<String>,
        /// What may be remembered of a yes. Each of them answers the question: with it remembered, the same call is not
        /// asked about.
        proposals: Vec<Proposal>,
    },
    /// It may not run.
    Deny {
        /// Why, and what to do instead. The model reads it.
        reason: String,
        /// The rule that denies.
        rule: Option<String>,
    },
}

/// A question to a person about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The call as it is meant: of the tool that would run, also when the model called it through another.
    pub call: ToolCall,
    /// The arguments it would run with.
    pub arguments: Value,
    /// The fingerprint of what is shown. A yes names it, and counts for nothing else.
    #[serde(default)]
    pub shown: Shown,
    /// Why a person is asked.
    pub reason: String,
    /// The rule that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What would happen, as the tool sees it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// What may be remembered of a yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Proposal>,
    /// What it rests on: how that stood when the preview was made. A yes counts for as long as it stands so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What has changed since it was asked or shown before, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// What a call would do, for the person who is asked about it. Nothing is promised: what it is about may change before
/// the call runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A text would change.
    Diff {
        /// What it is called, a path for example.
        title: String,
        /// The change, as a unified diff.
        diff: String,
        /// Lines that come.
        added: usize,
        /// Lines that go.
        removed: usize,
    },
    /// A text that the answer is about: a plan, for example.
    Text {
        /// What it is called.
        title: String,
        /// The text, as Markdown.
        text: String,
    },
    /// As things are now, it would come to nothing.
    Fails {
        /// Why, as the model would be told.
        reason: String,
    },
}

impl Ask {
    /// A question about a call that would run with these arguments.
    pub fn new(call: ToolCall, arguments: Value, reason: String, rule: Option<String>) -> Self {
        let shown = Shown::of(&call.name, &arguments);
        let (preview, proposals, base, changed) = (None, Vec::new(), None, Vec::new());
        Self { call, arguments, shown, reason, rule, preview, proposals, base, changed }
    }

    /// The same question, with what it rests on.
    #[must_use]
    pub fn based_on(mut self, base: Option<Base>) -> Self {
        self.shown = Shown::based(&self.call.name, &self.arguments, base.as_ref());
        self.base = base;
        self
    }

    /// The same question, with what may be remembered of a yes.
    #[must_use]
    pub fn proposing(mut self, proposals: Vec<Proposal>) -> Self {
        self.proposals = proposals;
        self
    }

    /// The proposal that somebody picked, when it is one of this question.
    pub fn proposal(&self, picked: &Proposal) -> Option<&Proposal> {
        self.proposals.iter().find(|proposal| proposal.is(picked))
    }

    /// The same question, with what would happen.
    #[must_use]
    pub fn showing(mut self, preview: Option<Preview>) -> Self {
        self.preview = preview;
        self
    }
}

/// What is decided about a call. Written, a yes is `"answer": "allow"`, with `"remember"` when it is to be remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Decision {
    /// Run it.
    Allow,
    /// Run it, and remember one of the question's proposals: what it covers is not asked about any more, from now on.
    /// Where the gate does not make that proposal any more, it is a yes for this once.
    AllowAndRemember {
        /// The proposal.
        remember: Proposal,
    },
    /// Run it with these arguments instead. They pass the gate again.
    AllowWith {
        /// The arguments.
        arguments: Value,
    },
    /// A person says: do not run it.
    Deny {
        /// Why. The model reads it.
        reason: String,
    },
    /// No person was there; a program says: do not run it.
    Refuse {
        /// Why. The model reads it.
        reason: String,
    },
    /// Nothing yet: ask again, once what was decided about the other calls is taken. When nothing was decided about any
    /// of them, it is no answer.
    Later,
}

impl Decision {
    /// Whether it lets the call run.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Allow | Self::AllowAndRemember { .. } | Self::AllowWith { .. })
    }

    /// What is to be remembered of it.
    pub fn remembers(&self) -> Option<&Proposal> {
        match self {
            Self::AllowAndRemember { remember } => Some(remember),
            _ => None,
        }
    }
}

/// A decision as it is written. Those who know nothing of remembering read a yes for this once, and what they wrote is
/// read.
#[derive(Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
enum Written {
    Allow {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<Proposal>,
    },
    AllowWith {
        arguments: Value,
    },
    Deny {
        reason: String,
    },
    Refuse {
        reason: String,
    },
    Later,
}

impl From<Written> for Decision {
    fn from(written: Written) -> Self {
        match written {
            Written::Allow { remember: None } => Self::Allow,
            Written::Allow { remember: Some(remember) } => Self::AllowAndRemember { remember },
            Written::AllowWith { arguments } => Self::AllowWith { arguments },
            Written::Deny { reason } => Self::Deny { reason },
            Written::Refuse { reason } => Self::Refuse { reason },
            Written::Later => Self::Later,
        }
    }
}

impl From<Decision> for Written {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow { remember: None },
            Decision::AllowAndRemember { remember } => Self::Allow { remember: Some(remember) },
            Decision::AllowWith { arguments } => Self::AllowWith { arguments },
            Decision::Deny { reason } => Self::Deny { reason },
            Decision::Refuse { reason } => Self::Refuse { reason },
            Decision::Later => Self::Later,
        }
    }
}

/// A decision about one call, and what it was given for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The call.
    pub call: CallId,
    /// What was shown to whoever decided. A yes without it counts for nothing; a no needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// What it rested on, so that it can be said what has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
}

impl Answer {
    /// The answer to a question.
    pub fn to(ask: &Ask, decision: Decision) -> Self {
        Self { call: ask.call.id.clone(), shown: Some(ask.shown.clone()), base: ask.base.clone(), decision }
    }

    /// Whether it counts for a call as it would run now: a yes is for what was shown only.
    pub fn fits(&self, shown: &Shown) -> bool {
        !self.decision.is_yes() || self.shown.as_ref() == Some(shown)
    }
}

/// Answers to the questions of a suspended run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decisions(pub Vec<Answer>);

impl Decisions {
    /// Decisions in the order of the questions. Questions beyond the last decision have no answer.
    pub fn to(asks: &[Ask], decisions: impl IntoIterator<Item = Decision>) -> Self {
        Self(asks.iter().zip(decisions).map(|(ask, decision)| Answer::to(ask, decision)).collect())
    }

    /// The answer for a call.
    pub fn of(&self, call: &CallId) -> Option<&Answer> {
        self.0.iter().find(|answer| answer.call == *call)
    }
}
