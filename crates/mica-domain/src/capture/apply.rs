//! Does what a person picked of a bundle, once.
//!
//! Every step is written before and after, and only by whoever read the newest version: a process that dies is gone on from
//! where it was, and of two that apply at once one stops. What may have been done when a process died is done again only
//! where the other side notices (the key of an effect is the same each time) or where it makes no difference; an `unsafe`
//! effect is never done again, and its outcome stays unknown.

mod doing;
mod resuming;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use mica_agent::{Args, Tool, ToolSet};
use mica_policy::Schema;

use super::action::{Action, Status};
use super::bundle::{Bundle, Lease, Outdated, State};
use super::bundles::{Bundles, Read, standing, trace, under_way};
use super::error::CaptureError;
use super::order::order;
use super::pick::{Picked, Rules, decided};
use super::temp;
use crate::approvals::{Approvers, Deed, Field, Person, digest, form};
use crate::autonomy::Judge;
use crate::records::RecordError;
use crate::undeclared::undeclared;

/// How long nobody else goes on with a bundle, beyond the time that an action may take: writes take time, too.
const GRACE: Duration = Duration::from_secs(60);

/// Who applies bundles, where a product knows whether they are still there: then nobody waits for who is gone, and nobody
/// takes over from who is not.
#[async_trait]
pub trait Holders: Send + Sync {
    /// Whether whoever has this name is still at it. `None`: nobody knows, and the time counts that they took.
    async fn is_at_it(&self, holder: &str) -> Option<bool>;
}

/// Applies bundles.
#[derive(Clone)]
pub struct Applier {
    bundles: Bundles,
    tools: ToolSet,
    judge: Arc<Judge>,
    approvers: Approvers,
    holder: String,
    holders: Option<Arc<dyn Holders>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Applier {
    /// With the tools as they are, not as they were wrapped, whatever page they are on. `holder` names whoever applies: who
    /// comes back under the same name goes on at once with what it held, and others wait until its time is over. So
    /// nobody else may have the name, neither another process nor the same program started again while the first one
    /// may still be there.
    pub fn new(
        bundles: Bundles,
        tools: ToolSet,
        holder: impl Into<String>,
        clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    ) -> Self {
        let (judge, approvers) = (Arc::default(), Approvers::default());
        Self { bundles, tools, judge, approvers, holder: holder.into(), holders: None, clock }
    }

    /// Asks who of those that apply is still there, instead of waiting until their time is over.
    #[must_use]
    pub fn beside(mut self, holders: Arc<dyn Holders>) -> Self {
        self.holders = Some(holders);
        self
    }

    /// With what the product says of its tools now: whoever approves needs the rights they need now.
    #[must_use]
    pub fn judging(mut self, judge: Arc<Judge>) -> Self {
        self.judge = judge;
        self
    }

    /// With who may approve what.
    #[must_use]
    pub fn approved_by(mut self, approvers: Approvers) -> Self {
        self.approvers = approvers;
        self
    }

    /// The arguments of an action as a form, with what may be changed of them. Empty when its tool is not there any more.
    pub fn form(&self, action: &Action) -> Vec<Field> {
        let tool = self.tools.find(&action.tool);
        tool.map(|tool| form(tool.spec(), action.standing(), &action.amendable)).unwrap_or_default()
    }

    /// Does what a person picked. What is wrong with the picks is said before anything is done, all of it at once.
    ///
    /// # Errors
    /// [`CaptureError`]. When something was begun already, [`resume`](Applier::resume) goes on with it.
    pub async fn apply(&self, id: &str, picked: &Picked, person: &Person) -> Result<Bundle, CaptureError> {
        let Read { mut bundle, version } = self.bundles.read(id).await?;
        let now = (self.clock)();
        // Between its last action and its end, somebody else is not done with it either.
        if bundle.is_under_way() || self.is_held(&bundle, now).await {
            return Err(under_way(&bundle, now));
        }
        match bundle.state {
            State::Fresh | State::Snoozed { .. } | State::PartiallyApproved => {}
            // What failed may be tried again.
            State::Approved if bundle.actions.iter().any(Action::is_open) => {}
            State::Approved | State::Stale { .. } | State::Rejected => return Err(standing(&bundle)),
        }
        if self.bundles.is_outdated(&bundle).await? {
            bundle.state = State::Stale { because: Outdated::Activity };
            self.bundles.write(&bundle, version).await?;
            return Err(standing(&bundle));
        }
        let rules = Rules { tools: &self.tools, judge: &self.judge, approvers: &self.approvers };
        let mut deed = decided(&mut bundle, picked, person, &rules)?;
        self.settle(&mut bundle, &mut deed).await?;
        self.say_changes(&mut bundle);
        bundle.trail.push(trace(person, now, deed));
        self.work(bundle, version).await
    }

    /// Whether somebody else applies a bundle.
    async fn is_held(&self, bundle: &Bundle, now: Timestamp) -> bool {
        let Some(lease) = bundle.lease.as_ref().filter(|lease| lease.holder != self.holder) else {
            return false;
        };
        let is_at_it = match &self.holders {
            Some(holders) => holders.is_at_it(&lease.holder).await,
            None => None,
        };
        is_at_it.unwrap_or(lease.until > now)
    }

    /// Says in one line what is done of actions that were changed.
    fn say_changes(&self, bundle: &mut Bundle) {
        for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Picked) {
            let label = self.tools.find(&action.tool).map(|tool| tool.spec().label.clone());
            action.changed = action.amended.as_ref().map(|amended| {
                digest(self.judge.act(&action.tool), label.as_deref().unwrap_or(&action.tool), amended)
            });
        }
    }

    /// What a person changed is meant from here and now: `tomorrow` becomes a date, `me` a name.
    async fn settle(&self, bundle: &mut Bundle, deed: &mut Deed) -> Result<(), CaptureError> {
        let Deed::Approved { edits, .. } = deed else { return Ok(()) };
        let mut problems = Vec::new();
        for action in &mut bundle.actions {
            let settling = self.judge.act(&action.tool).and_then(|act| act.settle.clone());
            let (Some(edited), Some(settling)) = (edits.get_mut(&action.id), settling) else { continue };
            match settling(edited.clone()).await {
                Ok(settled) => {
                    edited.clone_from(&settled);
                    action.amended = Some(settled);
                }
                Err(problem) => problems.push(format!("{}: {problem}", action.id)),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(CaptureError::Picks { problems }) }
    }

    /// Does what is picked, in order. The bundle is written first, so that of two who decided one goes on.
    async fn work(&self, mut bundle: Bundle, version: u64) -> Result<Bundle, CaptureError> {
        let order = order(&bundle.actions)?;
        let mut version = self.write(&mut bundle, version, Duration::ZERO).await?;
        for place in order {
            let step = match bundle.actions.get(place) {
                Some(action) if action.status == Status::Picked => self.step(&bundle, action),
                _ => continue,
            };
            let in_doubt = bundle.actions.get(place).is_some_and(|action| action.tried.is_some());
            let status = match step {
                Step::Settled(status) => status,
                Step::Do { tool, args } => {
                    if let Some(action) = bundle.actions.get_mut(place) {
                        action.begin(args.clone());
                    }
                    version = self.write(&mut bundle, version, tool.spec().deadline).await?;
                    match bundle.actions.get(place) {
                        Some(action) => self.done(&bundle, action, tool, args).await,
                        None => continue,
                    }
                }
            };
            if let Some(action) = bundle.actions.get_mut(place) {
                action.end(status, in_doubt);
            }
            version = self.write(&mut bundle, version, Duration::ZERO).await?;
        }
        // What was just done is no news: whoever decides about the rest decides as of now.
        match self.bundles.standing(&bundle).await {
            Ok(Some(base)) => bundle.about.base = base,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(bundle = bundle.id(), %error, "the rest of a bundle may count as stale");
            }
        }
        bundle.lease = None;
        match self.bundles.write(&bundle, version).await {
            Ok(_) => Ok(bundle),
            // All of it is done and written: whoever came behind goes on from there.
            Err(CaptureError::Records(RecordError::Conflict { .. })) => self.bundles.get(bundle.id()).await,
            Err(error) => Err(error),
        }
    }

    /// What to do about a picked action.
    fn step(&self, bundle: &Bundle, action: &Action) -> Step {
        let mut known = BTreeMap::new();
        for need in &action.needs {
            match bundle.action(need).map(|other| &other.status) {
                Some(Status::Done { made: Some(made), .. }) => {
                    known.insert(need.as_str(), made);
                }
                Some(Status::Done { made: None, .. }) => {
                    return Step::skip(format!("{need} was done, but did not say what it made"));
                }
                Some(Status::Failed { .. }) => return Step::skip(format!("{need} failed")),
                Some(Status::Skipped { .. }) => return Step::skip(format!("{need} was skipped")),
                Some(Status::Unknown { .. }) => {
                    return Step::skip(format!("nobody knows whether {need} was done"));
                }
                Some(Status::Open | Status::Picked | Status::Began) => {
                    return Step::skip(format!("{need} was not picked"));
                }
                None => return Step::skip(format!("{need} is not in this bundle")),
            }
        }
        let Some(tool) = self.tools.find(&action.tool) else {
            return Step::fail(format!("the tool {} is not there any more", action.tool));
        };
        // The same key means the same call: what may have been done is not done in another shape.
        if let Some(tried) = &action.tried {
            return Step::Do { tool, args: tried.clone() };
        }
        let mut args = temp::replaced(action.arguments(), &known);
        // The ids are true ones now, and may not be what the schema wants.
        let judged = Schema::compile(&tool.spec().schema)
            .map_err(|error| error.to_string())
            .and_then(|schema| schema.judge(&mut args).map_err(|invalid| invalid.to_string()));
        match judged.map(|_| undeclared(tool.spec(), &args)) {
            Ok(None) => Step::Do { tool, args },
            Ok(Some(problem)) | Err(problem) => Step::fail(problem),
        }
    }

    /// Writes a bundle that is being applied, with the time until when nobody else goes on with it.
    async fn write(&self, bundle: &mut Bundle, version: u64, work: Duration) -> Result<u64, CaptureError> {
        let time = SignedDuration::try_from(work + GRACE).unwrap_or(SignedDuration::MAX);
        let until = (self.clock)().saturating_add(time).unwrap_or(Timestamp::MAX);
        bundle.lease = Some(Lease { holder: self.holder.clone(), until });
        self.bundles.write(bundle, version).await
    }
}

enum Step {
    Do { tool: Arc<dyn Tool>, args: Args },
    Settled(Status),
}

impl Step {
    fn skip(reason: String) -> Self {
        Self::Settled(Status::Skipped { reason })
    }

    fn fail(reason: String) -> Self {
        Self::Settled(Status::Failed { reason })
    }
}

#[cfg(test)]
mod tests;
