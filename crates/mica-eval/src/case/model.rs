//! Who answers, and who judges, as it is written.

use std::path::PathBuf;

use mica_ai::Dialect;
use mica_testkit::{Call, ErrorAnswer, Fault, Scenario, Step, Stop, Turn, TurnUsage};
use serde::Deserialize;
use serde_json::Value;

use super::CaseFile;

/// What kind of model answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// What the turns in the case say.
    #[default]
    Scripted,
    /// A scenario of the testkit, from a file.
    Scenario,
    /// It does whatever it reads: for suites about injected orders.
    Obeys,
    /// What a real model said once, from a file.
    Cassette,
    /// A real model, now.
    Live,
}

/// Who answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelPart {
    /// What kind of model.
    pub kind: ModelKind,
    /// The scenario, or the cassette.
    pub file: Option<PathBuf>,
    /// The model's name: its facts are the catalogue's. For `live`, and to record a cassette, the model that is asked.
    pub name: Option<String>,
    /// The wire that requests are checked on.
    pub dialect: Option<Dialect>,
    /// What an order begins with, for `obeys`.
    pub marker: Option<String>,
    /// What it says when there is nothing to obey.
    pub says: Option<String>,
    /// Whether a cassette keeps how long the pieces of an answer took.
    pub timings: bool,
}

/// Who judges what is put in words.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgePart {
    /// The model that is asked; the one that the settings name, when there is a cassette to record.
    pub model: Option<String>,
    /// What it said once.
    pub cassette: Option<PathBuf>,
    /// What it says, by script.
    pub turn: Vec<TurnPart>,
}

impl JudgePart {
    pub(super) fn is_set(&self) -> bool {
        self.model.is_some() || self.cassette.is_some() || !self.turn.is_empty()
    }
}

/// One answer of a scripted model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnPart {
    /// What the request has that this answers, and the one before it had not.
    #[serde(deserialize_with = "super::read::words")]
    pub sees: Vec<String>,
    /// What it has not.
    #[serde(deserialize_with = "super::read::words")]
    pub lacks: Vec<String>,
    /// What the model thinks.
    pub thinks: Option<String>,
    /// What it says.
    pub says: Option<String>,
    /// What it calls, all at once.
    pub calls: Vec<CallPart>,
    /// An error of the provider instead of an answer, by its name in the testkit.
    pub error: Option<String>,
    /// Why it ends; by default for its calls, or because it is done.
    pub stop: Option<Stop>,
    /// What it says it took.
    pub usage: Option<TurnUsage>,
    /// How it is spoiled.
    pub fault: Option<Fault>,
}

/// A call of a scripted model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallPart {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Option<Value>,
    /// Its arguments as text that need not be JSON.
    pub raw: Option<String>,
    /// The call's id.
    pub id: Option<String>,
}

impl TurnPart {
    /// The turn as it is played.
    pub fn turn(&self) -> Turn {
        if let Some(error) = &self.error {
            return Turn::error(ErrorAnswer::from(error.as_str()));
        }
        let mut turn = Turn::new();
        turn = self.thinks.iter().fold(turn, Turn::thinking);
        turn = self.says.iter().fold(turn, Turn::text);
        turn = self.calls.iter().fold(turn, |turn, call| {
            turn.step(Step::Call(Call {
                name: call.tool.clone(),
                id: call.id.clone(),
                args: call.args.clone(),
                raw: call.raw.clone(),
            }))
        });
        turn.stop = self.stop;
        turn.usage = self.usage.unwrap_or_default();
        turn.fault.clone_from(&self.fault);
        turn
    }

    /// Turns as a scenario. What it is called makes the ids of its answers.
    pub fn scenario<'a>(name: &str, turns: impl Iterator<Item = &'a TurnPart>) -> Scenario {
        turns.fold(Scenario::new().named(name), |scenario, turn| scenario.turn(turn.turn()))
    }
}

impl ModelPart {
    pub(super) fn wrong(&self, file: &CaseFile) -> Option<String> {
        use ModelKind::{Cassette, Live, Obeys, Scenario, Scripted};
        let turns = file.turn.len() + file.step.iter().map(|step| step.turn.len()).sum::<usize>();
        match self.kind {
            Scenario | Cassette if self.file.is_none() => {
                Some("`file` is missing: the scenario, or the cassette".to_owned())
            }
            Scripted | Obeys | Live if self.file.is_some() => {
                Some("`file` goes with `kind = \"scenario\"` or `kind = \"cassette\"`".to_owned())
            }
            Scripted => None,
            _ if turns > 0 => {
                Some("only a scripted model has turns: take `kind` or the turns away".to_owned())
            }
            _ => None,
        }
    }
}
