//! What extensions change about calls and requests without being asked: which tools may be called, and how hard is thought.
//!
//! The list of tools that a model is sent is part of the cached prompt, so it stays; a tool that is off is refused when it is
//! called, with the reason. An extension can only narrow what there is, and each for itself: no other can widen it again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point};
use mica_agent::{Context, Hooks, RunId, Verdict};
use mica_ai::Request;
use mica_ai::model::Effort;

/// What extensions changed.
#[derive(Default)]
pub struct Steering(Mutex<State>);

#[derive(Default)]
struct State {
    /// The tools that each extension turned off.
    off: BTreeMap<String, BTreeSet<String>>,
    effort: Option<Effort>,
    run: Option<RunId>,
}

impl Steering {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a model these tools, as far as one extension goes.
    pub(super) fn narrow(&self, by: &str, active: &[String], known: &[String]) {
        let off: BTreeSet<String> = known.iter().filter(|name| !active.contains(name)).cloned().collect();
        let mut state = self.state();
        if off.is_empty() {
            state.off.remove(by);
        } else {
            state.off.insert(by.to_owned(), off);
        }
    }

    /// Who turned a tool off.
    pub(super) fn off(&self, tool: &str) -> Option<String> {
        self.state().off.iter().find(|(_, off)| off.contains(tool)).map(|(by, _)| by.clone())
    }

    pub(super) fn think(&self, effort: Effort) {
        self.state().effort = Some(effort);
    }

    pub(super) fn effort(&self) -> Option<Effort> {
        self.state().effort
    }

    /// A run begins.
    pub(super) fn runs(&self, run: RunId) {
        self.state().run = Some(run);
    }

    pub(super) fn run(&self) -> Option<RunId> {
        self.state().run.clone()
    }

    /// Extensions are loaded anew: what they turned off is on again until they say otherwise.
    pub fn anew(&self) {
        let mut state = self.state();
        state.off.clear();
        state.effort = None;
    }
}

#[async_trait]
impl Hooks for Steering {
    fn says(&self, at: Point) -> bool {
        at == Point::Gate && !self.state().off.is_empty()
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        match self.off(&gated.spec.name) {
            None => Verdict::Pass,
            Some(by) => Verdict::Deny {
                reason: format!(
                    "{} is turned off for now by the extension {by}. Nothing was done; go on with other tools.",
                    gated.spec.name
                ),
                rule: Some(format!("extension.{by}")),
            },
        }
    }

    fn shape(&self, request: &mut Request, _: &Context) {
        if let Some(effort) = self.state().effort {
            request.effort = Some(effort);
        }
    }
}
