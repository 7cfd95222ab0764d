//! Planning before building: `enter_plan_mode`, `exit_plan_mode`, and where plans are kept.
//!
//! A person agrees to both, through the ordinary approval. The mode changes inside the call, so that the calls that follow
//! in the same run are judged by it. A yes to a plan is for the plan that was shown: [`PlanGate`] puts its text into the
//! arguments before anybody is asked.

mod enter;
mod exit;
mod files;
mod gate;

use std::sync::Arc;

use mica_agent::Tool;
use mica_policy::mode::Mode;

pub use enter::{EnterPlanMode, NAME as ENTER};
pub use exit::{ExitPlanMode, NAME as EXIT};
pub use files::Plans;
pub use gate::PlanGate;

/// The mode of a session, for those who change it: it counts from the next call on, and the session keeps it.
pub trait Modes: Send + Sync {
    /// Where it stands.
    fn mode(&self) -> Mode;

    /// Changes it.
    ///
    /// # Errors
    /// In words, when the session cannot keep it. The mode then stays as it was.
    fn set(&self, mode: Mode) -> Result<(), String>;
}

/// What a subagent is told of the mode it is in: it writes no plan, it answers whoever sent it.
pub fn subagent_section(mode: Mode) -> String {
    let may = match mode {
        Mode::Ask | Mode::Plan => {
            "look at whatever you need, and answer what you were asked. Nothing can be changed."
        }
        Mode::Edit => "what you were asked for can be done.",
    };
    format!("The mode is {}: {may}", mode.name())
}

/// What planning needs: the mode, and where plans are written. Cheap to clone.
#[derive(Clone)]
pub struct Planning {
    modes: Arc<dyn Modes>,
    plans: Option<Plans>,
}

impl Planning {
    /// Planning with files, or without when nothing is kept: the plan is then given with the call that presents it.
    pub fn new(modes: Arc<dyn Modes>, plans: Option<Plans>) -> Self {
        Self { modes, plans }
    }

    /// The tools.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(EnterPlanMode::new(self.clone())), Arc::new(ExitPlanMode::new(self.clone()))]
    }

    /// What a model is told of the mode it is in, beside what is said. `presents` says whether [`EXIT`] is among its tools.
    pub fn section(&self, presents: bool) -> String {
        match self.modes.mode() {
            Mode::Ask => "The mode is ask: look and answer. Nothing can be changed.".to_owned(),
            Mode::Edit => "The mode is edit: what the user asks for can be done.".to_owned(),
            Mode::Plan => {
                let then = if presents {
                    format!(
                        " When the plan is whole, call {EXIT}: the user reads it and agrees, or says what to change."
                    )
                } else {
                    " End with the plan, and let the user decide.".to_owned()
                };
                format!(
                    "The mode is plan: look at whatever you need, and change nothing but the plan. {}{then}",
                    self.place()
                )
            }
        }
    }

    /// Where the plan is written.
    fn place(&self) -> String {
        match &self.plans {
            Some(plans) => format!(
                "Write it as a Markdown file in {}, the only folder that can be written now.",
                plans.folder().display()
            ),
            None => "It is kept in no file: say it when you present it.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
