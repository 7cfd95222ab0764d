//! A step: one thing that is said or done, what the model says to it, and what must come of it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Expect, TurnPart, duration};
use crate::product::{Answered, Answering, Said};

/// One thing that is said or done.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// What reports call it.
    pub name: Option<String>,
    /// Somebody says this.
    pub say: Option<String>,
    /// Where they are in the product.
    pub page: Option<String>,
    /// What they point at.
    #[serde(deserialize_with = "super::read::words")]
    pub mention: Vec<String>,
    /// What else comes with it, as the product has it.
    pub with: Map<String, Value>,
    /// A person answers what was asked.
    pub answer: Option<Vec<AnswerPart>>,
    /// Time passes.
    pub advance: Option<String>,
    /// Something happens in the world.
    pub event: Option<String>,
    /// What it happens with.
    pub args: Map<String, Value>,
    /// Everything is dropped and opened again from the disk.
    pub restart: bool,
    /// Nothing happens: things are only looked at.
    pub look: bool,
    /// What the scripted model says.
    pub turn: Vec<TurnPart>,
    /// What must come of it.
    pub expect: Expect,
}

/// An answer to a question.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerPart {
    /// The tool it is about; the next question when absent.
    pub tool: Option<String>,
    /// Yes.
    pub approve: bool,
    /// No, and why.
    pub deny: Option<String>,
    /// Yes, with these arguments over the others.
    pub edit: Option<Map<String, Value>>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Somebody says something.
    Say(Said),
    /// A person answers.
    Answer(Vec<Answering>),
    /// Time passes.
    Advance(jiff::SignedDuration),
    /// Something happens.
    Event(String, Map<String, Value>),
    /// Everything is opened again.
    Restart,
    /// Nothing.
    Look,
}

impl Step {
    /// What it does.
    ///
    /// # Errors
    /// In words, when that is nothing, or several things.
    pub fn action(&self) -> Result<Action, String> {
        let mut actions = Vec::new();
        if let Some(text) = &self.say {
            actions.push(Action::Say(Said {
                text: text.clone(),
                page: self.page.clone(),
                mentions: self.mention.clone(),
                with: self.with.clone(),
            }));
        }
        if let Some(answers) = &self.answer {
            actions.push(Action::Answer(answers.iter().map(AnswerPart::read).collect::<Result<_, _>>()?));
        }
        if let Some(time) = &self.advance {
            actions.push(Action::Advance(duration(time)?));
        }
        if let Some(name) = &self.event {
            actions.push(Action::Event(name.clone(), self.args.clone()));
        }
        if self.restart {
            actions.push(Action::Restart);
        }
        if self.look {
            actions.push(Action::Look);
        }
        let mut actions = actions.into_iter();
        match (actions.next(), actions.next()) {
            (Some(action), None) => Ok(action),
            (None, _) => {
                Err("it does nothing: write one of `say`, `answer`, `advance`, `event`, `restart` or `look`"
                    .to_owned())
            }
            (Some(_), Some(_)) => Err("it does several things at once: make several steps of it".to_owned()),
        }
    }

    /// What is wrong with it.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut found = self.expect.wrong();
        let action = match self.action() {
            Ok(action) => action,
            Err(problem) => {
                found.insert(0, problem);
                return found;
            }
        };
        let is_said = matches!(action, Action::Say(_));
        if !is_said && (self.page.is_some() || !self.mention.is_empty()) {
            found.push("`page` and `mention` go with `say`".to_owned());
        }
        if !self.args.is_empty() && self.event.is_none() {
            found.push("`args` go with `event`; what goes with `say` is `with`".to_owned());
        }
        if !self.with.is_empty() && !is_said {
            found.push("`with` goes with `say`; what goes with `event` is `args`".to_owned());
        }
        found
    }
}

impl AnswerPart {
    fn read(&self) -> Result<Answering, String> {
        let decision = match (self.approve, &self.deny, &self.edit) {
            (true, None, None) => Answered::Approve,
            (false, Some(reason), None) => Answered::Deny(reason.clone()),
            (false, None, Some(changes)) => Answered::Edit(changes.clone()),
            _ => {
                return Err(
                    "an answer is one of `approve = true`, `deny = \"why\"` and `edit = { … }`".to_owned()
                );
            }
        };
        Ok(Answering { tool: self.tool.clone(), decision })
    }
}
