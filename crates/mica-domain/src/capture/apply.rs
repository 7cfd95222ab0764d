//! Does what a person picked of a bundle, once.
//!
//! Every step is written before and after, and only by whoever read the newest version: a process that dies is gone on from
//! where it was, and of two that apply at once one stops. What may have been done when a process died is done again only
//! where the other side notices (the key of an effect is the same each time) or where it makes no difference; an `unsafe`
//! effect is never done again, and its outcome stays unknown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mica_agent::{Args, Effect, RunId, Tool, ToolCx, ToolOutput, ToolSet};
use mica_ai::Content;
use mica_policy::Schema;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::action::{Action, Status};
use super::bundle::{Bundle, Lease, Outdated, State};
use super::bundles::{Bundles, Read, standing, trace};
use super::error::CaptureError;
use super::order::order;
use super::pick::{Picked, Rules, decided};
use super::temp;
use super::wrap::is_captured;
use crate::approvals::{Approvers, Deed, Field, Person, form};
use crate::autonomy::Judge;
use crate::records::RecordError;

/// How long nobody else goes on with a bundle, beyond the time that an action may take: writes take time, too.
const GRACE: Duration = Duration::from_secs(60);

/// Letters that are kept of what an action came to.
const TEXT: usize = 4000;

/// Bytes that are kept of the details: what they point to is in the product anyway.
const DETAILS: usize = 32 << 10;

/// Applies bundles.
#[derive(Clone)]
pub struct Applier {
    bundles: Bundles,
    tools: ToolSet,
    judge: Arc<Judge>,
    approvers: Approvers,
    holder: String,
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
        Self { bundles, tools, judge, approvers, holder: holder.into(), clock }
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
        let is_held =
            bundle.lease.as_ref().is_some_and(|lease| lease.holder != self.holder && lease.until > now);
        if bundle.is_under_way() || is_held {
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
        bundle.trail.push(trace(person, now, deed));
        self.work(bundle, version).await
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

    /// Goes on with a bundle whose actions were picked, and that a process left in the middle. One that is not in the middle
    /// stays as it is.
    ///
    /// # Errors
    /// [`CaptureError`], [`CaptureError::UnderWay`] among them.
    pub async fn resume(&self, id: &str) -> Result<Bundle, CaptureError> {
        self.gone_on(id, None).await
    }

    /// The same as whoever approved it, with the rights that they have now: what they may not do any more is not done.
    ///
    /// # Errors
    /// As [`resume`](Applier::resume).
    pub async fn resume_as(&self, id: &str, person: &Person) -> Result<Bundle, CaptureError> {
        self.gone_on(id, Some(person)).await
    }

    async fn gone_on(&self, id: &str, person: Option<&Person>) -> Result<Bundle, CaptureError> {
        let Read { mut bundle, version } = self.bundles.read(id).await?;
        let now = (self.clock)();
        let Some(lease) = &bundle.lease else { return Ok(bundle) };
        if lease.holder != self.holder && lease.until > now {
            return Err(under_way(&bundle, now));
        }
        let tools = &self.tools;
        for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Began) {
            action.status = match effect(tools, action) {
                Effect::Unsafe => Status::Unknown {
                    reason: "the process ended while it was being done; it may have been done, and is not tried again"
                        .to_owned(),
                },
                Effect::Pure | Effect::Idempotent | Effect::Keyed | Effect::Transactional => Status::Picked,
            };
        }
        if let Some(person) = person {
            for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Picked) {
                if let Some(status) = self.lost(action, person) {
                    let in_doubt = action.tried.is_some();
                    action.end(status, in_doubt);
                }
            }
        }
        self.work(bundle, version).await
    }

    /// Goes on with all that was left in the middle: call it when the process begins. What others work at is left to them.
    ///
    /// # Errors
    /// [`CaptureError`] of the first that failed otherwise.
    pub async fn resume_all(&self) -> Result<Vec<Bundle>, CaptureError> {
        let mut bundles = Vec::new();
        for bundle in self.bundles.left().await? {
            match self.resume(bundle.id()).await {
                Ok(bundle) => bundles.push(bundle),
                Err(error) if error.is_of_others() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bundles)
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

    /// What becomes of an action whose approver may not do it any more.
    fn lost(&self, action: &Action, person: &Person) -> Option<Status> {
        let now = self.judge.act(&action.tool).and_then(|act| act.needs.as_deref());
        let mut rights = [action.right.as_deref(), now].into_iter();
        let missing = rights.find_map(|right| self.approvers.may(person, &action.tool, right).err())?;
        let reason = format!("{} approved it and may not do it any more: {missing} is missing", person.name);
        // It may have been done before the process ended.
        Some(if action.tried.is_some() { Status::Unknown { reason } } else { Status::Failed { reason } })
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
        match judged {
            Ok(_) => Step::Do { tool, args },
            Err(problem) => Step::fail(problem),
        }
    }

    /// Does an action, and says what became of it.
    async fn done(&self, bundle: &Bundle, action: &Action, tool: Arc<dyn Tool>, args: Args) -> Status {
        let cancel = CancellationToken::new();
        let key = format!("bundle/{}/{}", bundle.id(), action.id);
        let run = RunId::from(key.as_str());
        let mut cx = ToolCx::new(run, action.id.as_str().into(), cancel.clone(), |_| {});
        cx.effect_key = key;
        let deadline = tool.spec().deadline;
        let effect = effect(&self.tools, action);
        // A task of its own: a panic stays in it. Dropped with it when this process gives up.
        let mut task =
            AbortOnDropHandle::new(tokio::spawn(mica_ai::id::carried(
                async move { tool.call(args, &cx).await },
            )));
        let Ok(made) = tokio::time::timeout(deadline, &mut task).await else {
            cancel.cancel();
            return unknown(effect, format!("it did not finish within {} s", deadline.as_secs()));
        };
        match made {
            Ok(Ok(output)) if is_captured(output.details.as_ref()) => {
                Status::Failed { reason: "its tool still captures calls, so nothing was done".to_owned() }
            }
            Ok(Ok(output)) => came_to(action, output),
            Ok(Err(error)) => Status::Failed { reason: error.message },
            Err(_) => unknown(effect, "its tool broke".to_owned()),
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

/// What may happen when an action is done again: what was said when it was captured, or what is said now, whichever is
/// worse.
fn effect(tools: &ToolSet, action: &Action) -> Effect {
    match tools.find(&action.tool).map(|tool| tool.spec().effect) {
        Some(Effect::Unsafe) | None => Effect::Unsafe,
        Some(_) if action.effect == Effect::Unsafe => Effect::Unsafe,
        Some(effect) => effect,
    }
}

/// What became of an action that did not say so itself.
fn unknown(effect: Effect, reason: String) -> Status {
    match effect {
        Effect::Pure => Status::Failed { reason },
        Effect::Idempotent | Effect::Keyed | Effect::Transactional | Effect::Unsafe => {
            Status::Unknown { reason }
        }
    }
}

fn came_to(action: &Action, output: ToolOutput) -> Status {
    let texts = output.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect::<Vec<_>>().join("\n").chars().take(TEXT).collect();
    let mut details = output.details.unwrap_or(Value::Null);
    let made = made(action, &details);
    if details.to_string().len() > DETAILS {
        details = Value::Null;
    }
    Status::Done { text, details, made }
}

/// The id of what was made: where the predicted details had the id that stood for it. Places that do not agree say nothing.
fn made(action: &Action, details: &Value) -> Option<Value> {
    let mut found = action.makes.iter().map(|place| details.pointer(place));
    let first = found.next()??;
    let agreed = found.all(|other| other == Some(first));
    (agreed && (first.is_string() || first.is_number())).then(|| first.clone())
}

fn under_way(bundle: &Bundle, now: Timestamp) -> CaptureError {
    let (holder, until) = match &bundle.lease {
        Some(lease) => (lease.holder.clone(), lease.until),
        None => ("somebody".to_owned(), now),
    };
    CaptureError::UnderWay { id: bundle.id().to_owned(), holder, until }
}

#[cfg(test)]
mod tests;
