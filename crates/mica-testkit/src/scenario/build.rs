//! Builds scenarios and turns in code, and reads scenarios from files.

use mica_ai::model::Model;
use serde_json::Value;

use super::{
    Call, ModelFacts, Pacing, Scenario, ScenarioError, Step, Stop, Strict, Turn, TurnUsage, When, WireOptions,
};
use crate::fault::Fault;
use crate::preset::ErrorAnswer;

impl Scenario {
    /// An empty scenario.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a scenario from TOML.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place that does not fit.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        Ok(toml::from_str(text)?)
    }

    /// Reads a scenario from JSON.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place that does not fit.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Names the scenario.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Sets what is said when no turn fits.
    #[must_use]
    pub fn otherwise(mut self, turn: Turn) -> Self {
        self.otherwise = Some(Box::new(turn));
        self
    }

    /// Sets how fast turns are told.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// Sets what varies between servers.
    #[must_use]
    pub fn wire(mut self, wire: WireOptions) -> Self {
        self.wire = wire;
        self
    }

    /// Takes requests as they are, without a provider's checks.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.strict = Strict { shape: false, seals: false };
        self
    }

    /// Asks for a key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Serves a model with its catalogue facts: what it rejects and how its cache works.
    #[must_use]
    pub fn model(mut self, model: &Model) -> Self {
        let name = if model.deployment.is_empty() { &model.id } else { &model.deployment };
        self.models.insert(name.clone(), ModelFacts::from(model));
        self
    }
}

impl From<Turn> for Scenario {
    /// A scenario that gives the same answer to everything.
    fn from(turn: Turn) -> Self {
        Self::new().otherwise(turn)
    }
}

impl Turn {
    /// A turn that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A turn that is an HTTP error.
    pub fn error(error: ErrorAnswer) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds reasoning.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.step(Step::Thinking(text.into()))
    }

    /// Adds words.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Adds words that decline.
    #[must_use]
    pub fn refusal(self, text: impl Into<String>) -> Self {
        self.step(Step::Refusal(text.into()))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(self, name: impl Into<String>, args: Value) -> Self {
        self.step(Step::Call(Call::new(name, args)))
    }

    /// Sets why the answer ends.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets what it says it took.
    #[must_use]
    pub fn usage(mut self, usage: TurnUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets how fast it is told.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = Some(pacing);
        self
    }

    /// Spoils it.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Plays it for so many requests in a row.
    #[must_use]
    pub fn repeat(mut self, times: usize) -> Self {
        self.repeat = times;
        self
    }

    /// Answers only requests that fit.
    #[must_use]
    pub fn when(mut self, when: When) -> Self {
        self.when = Some(when);
        self
    }

    /// Why the answer ends: as told, or as its steps suggest.
    pub fn ending(&self) -> Stop {
        self.stop.unwrap_or_else(|| {
            let any = |test: fn(&Step) -> bool| self.steps.iter().any(test);
            if any(|step| matches!(step, Step::Call(_) | Step::Interleaved(_))) {
                Stop::ToolUse
            } else if any(|step| matches!(step, Step::Refusal(_))) {
                Stop::Refusal
            } else {
                Stop::Stop
            }
        })
    }

    /// Tokens of the answer and of the reasoning in it, by the estimate the cache simulator uses.
    pub fn output_tokens(&self) -> (u64, u64) {
        let (mut all, mut reasoning) = (0, 0);
        for step in &self.steps {
            let bytes = match step {
                Step::Thinking(text) | Step::Redacted(text) => {
                    reasoning += crate::cache::tokens(text.len());
                    text.len()
                }
                Step::Text(text) | Step::Refusal(text) | Step::Image(text) => text.len(),
                Step::Call(call) => call.name.len() + call.text().len(),
                Step::Interleaved(calls) => {
                    calls.iter().map(|call| call.name.len() + call.text().len()).sum()
                }
            };
            all += crate::cache::tokens(bytes);
        }
        (all, reasoning)
    }
}
