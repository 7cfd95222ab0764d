//! The gate: every call passes it before it runs, and what goes wrong here means no.

use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::{Answer, Ask, Decision, Decisions, Preview, Verdict};
use crate::base::Base;
use crate::batch::{Item, Prepared};
use crate::call::{INTERRUPTED, not_run};
use crate::context::{Context, ToolSet};
use crate::guard;
use crate::hooks::{Gated, Hooks, Point};
use crate::meant::Meant;
use crate::proposal::Proposal;
use crate::shown::Shown;
use crate::tool::{Approval, Args, ToolSpec};
use crate::waits::Patience;

/// Why a question is asked again.
const OUTDATED: &str = "it was allowed for other arguments than it would run with now";
const CHANGED: &str = "what it rests on has changed since it was shown";

/// A batch after the gate.
pub(crate) struct Passed {
    /// In call order, those that wait for a person among them.
    pub(crate) items: Vec<Place>,
}

/// What the gate made of a call.
pub(crate) enum Place {
    Item(Item),
    Asked(Box<Ask>, Prepared),
}

impl Passed {
    /// What people are asked.
    pub(crate) fn asks(&self) -> Vec<Ask> {
        self.items
            .iter()
            .filter_map(|place| match place {
                Place::Asked(ask, _) => Some((**ask).clone()),
                Place::Item(_) => None,
            })
            .collect()
    }

    /// Whether a call runs without anybody being asked.
    pub(crate) fn runs(&self, call: &CallId) -> bool {
        self.items
            .iter()
            .any(|place| matches!(place, Place::Item(Item::Run(prepared)) if prepared.call.id == *call))
    }

    /// Answers that count for what would run now, and those that were given for something else: rules, what a domain fills
    /// in, and what a call rests on may have changed since a person looked.
    pub(crate) fn fitting(&self, answers: Decisions) -> (Decisions, Decisions) {
        let (outdated, fitting) = answers.0.into_iter().partition(|answer| self.is_outdated(answer));
        (Decisions(fitting), Decisions(outdated))
    }

    fn is_outdated(&self, answer: &Answer) -> bool {
        self.items.iter().any(|place| match place {
            Place::Asked(ask, _) => ask.call.id == answer.call && !answer.fits(&ask.shown),
            Place::Item(Item::Run(prepared)) => {
                prepared.call.id == answer.call && is_amended_before(answer, prepared)
            }
            Place::Item(Item::Settled(_)) => false,
        })
    }

    /// Makes questions of what was answered for something else than would run now, and says which. A call that nobody asks
    /// about any more runs without their yes, as it is now.
    pub(crate) fn ask_again(&mut self, outdated: &Decisions) -> Vec<Ask> {
        let mut again = Vec::new();
        self.items = std::mem::take(&mut self.items)
            .into_iter()
            .map(|place| match place {
                Place::Asked(mut ask, prepared) => {
                    if let Some(answer) = outdated.of(&ask.call.id) {
                        ask.changed = since(answer.base.as_ref(), ask.base.as_ref());
                        let why = if ask.changed.is_empty() { OUTDATED } else { CHANGED };
                        ask.reason = format!("{why}; {}", ask.reason);
                        again.push((*ask).clone());
                    }
                    Place::Asked(ask, prepared)
                }
                Place::Item(Item::Run(prepared)) => {
                    let is_outdated = |answer: &&Answer| is_amended_before(answer, &prepared);
                    if outdated.of(&prepared.call.id).filter(is_outdated).is_none() {
                        return Place::Item(Item::Run(prepared));
                    }
                    let arguments = Value::Object(prepared.args.clone());
                    let ask = Ask::new(prepared.call.clone(), arguments, OUTDATED.to_owned(), None);
                    again.push(ask.clone());
                    Place::Asked(Box::new(ask), prepared)
                }
                settled @ Place::Item(Item::Settled(_)) => settled,
            })
            .collect();
        again
    }

    /// Answers that were given in place, without those whose questions do not stand any more as they were shown: what these
    /// rest on has changed while somebody thought. They are to be asked again.
    pub(crate) async fn still(
        &mut self,
        given: Decisions,
        hooks: &dyn Hooks,
        cut: &CancellationToken,
    ) -> (Decisions, Vec<Ask>) {
        let (mut stand, mut again) = (Vec::new(), Vec::new());
        for answer in given.0 {
            let place = self.items.iter_mut().find_map(|place| match place {
                Place::Asked(ask, prepared) if ask.call.id == answer.call => Some((ask, prepared)),
                _ => None,
            });
            let Some((ask, prepared)) =
                place.filter(|(ask, _)| answer.decision.is_yes() && ask.base.is_some())
            else {
                stand.push(answer);
                continue;
            };
            if base(prepared, hooks, cut).await == ask.base {
                stand.push(answer);
                continue;
            }
            **ask = anew(ask, prepared, hooks, cut).await;
            again.push((**ask).clone());
        }
        (Decisions(stand), again)
    }

    /// The batch, once everything asked is answered. A question without an answer is a no. A person's word also
    /// counts where nobody asks any more: rules may have changed since.
    pub(crate) async fn decided(
        self,
        answers: &Decisions,
        cx: &Context,
        hooks: &dyn Hooks,
        cut: &CancellationToken,
    ) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.items.len());
        for place in self.items {
            items.push(match place {
                Place::Item(Item::Run(prepared)) => match answers.of(&prepared.call.id) {
                    // A program refuses because nobody was there to ask, and nobody needs to be asked any more.
                    None
                    | Some(Answer {
                        decision:
                            Decision::Allow
                            | Decision::AllowAndRemember { .. }
                            | Decision::Refuse { .. }
                            | Decision::Later,
                        ..
                    }) => Item::Run(prepared),
                    Some(answer) => decided(prepared, Some(&answer.decision), cx, hooks, cut).await,
                },
                Place::Item(settled) => settled,
                Place::Asked(ask, prepared) => {
                    // Nothing is run for a yes to something else, also when nobody asked again.
                    let answer = answers.of(&ask.call.id).filter(|answer| answer.fits(&ask.shown));
                    decided(prepared, answer.map(|answer| &answer.decision), cx, hooks, cut).await
                }
            });
        }
        items
    }
}

/// Whether somebody changed other arguments than a call would run with now that nobody is asked about it any more. What it
/// rests on does not matter then.
fn is_amended_before(answer: &Answer, prepared: &Prepared) -> bool {
    let arguments = Value::Object(prepared.args.clone());
    let shown = || Shown::based(&prepared.call.name, &arguments, answer.base.as_ref());
    matches!(answer.decision, Decision::AllowWith { .. }) && !answer.fits(&shown())
}

/// Passes the calls of an answer through the gate, in order.
pub(crate) async fn pass(
    calls: &[ToolCall],
    cx: &Context,
    hooks: &dyn Hooks,
    cut: &CancellationToken,
) -> Passed {
    let mut items = Vec::with_capacity(calls.len());
    for call in calls {
        items.push(one(call, cx, hooks, cut).await);
    }
    Passed { items }
}

async fn one(call: &ToolCall, cx: &Context, hooks: &dyn Hooks, cut: &CancellationToken) -> Place {
    // From here on the call is what it means; the conversation keeps what was made.
    let Meant { call, tool, args } = match cx.tools.meant(call) {
        Ok(meant) => meant,
        Err(meaningless) => {
            return Place::Item(Item::Settled(not_run(&meaningless.call, meaningless.reason)));
        }
    };
    let (verdict, args) = judged(&call, tool.spec(), args, cx, hooks, cut).await;
    let prepared = Prepared { call, tool, args };
    match verdict {
        Verdict::Pass | Verdict::Offer { .. } | Verdict::Allow => Place::Item(Item::Run(prepared)),
        Verdict::Deny { reason, .. } => Place::Item(Item::Settled(not_run(&prepared.call, reason))),
        Verdict::Ask { reason, rule, proposals } => {
            let arguments = Value::Object(prepared.args.clone());
            let ask = Ask::new(prepared.call.clone(), arguments, reason, rule).proposing(proposals);
            Place::Asked(Box::new(looked(ask, &prepared, hooks, cut).await), prepared)
        }
    }
}

/// A question that was asked before, looked at again: with the preview made anew, and with what has changed since. A tool
/// that is not there any more has nothing new to show.
pub async fn look_again(ask: &Ask, tools: &ToolSet, hooks: &dyn Hooks) -> Ask {
    let Some(tool) = tools.find(&ask.call.name) else { return ask.clone() };
    let Value::Object(args) = &ask.arguments else { return ask.clone() };
    let prepared = Prepared { call: ask.call.clone(), tool, args: args.clone() };
    anew(ask, &prepared, hooks, &CancellationToken::new()).await
}

async fn anew(ask: &Ask, prepared: &Prepared, hooks: &dyn Hooks, cut: &CancellationToken) -> Ask {
    let mut anew = looked(ask.clone(), prepared, hooks, cut).await;
    anew.changed.extend(since(ask.base.as_ref(), anew.base.as_ref()));
    if !anew.changed.is_empty() && !anew.reason.starts_with(CHANGED) {
        anew.reason = format!("{CHANGED}; {}", anew.reason);
    }
    anew
}

/// A question with what it rests on and with its preview. In this order: a preview that is newer than what it is said to
/// rest on is shown once too often, one that is older would be taken for the truth.
async fn looked(ask: Ask, prepared: &Prepared, hooks: &dyn Hooks, cut: &CancellationToken) -> Ask {
    let base = base(prepared, hooks, cut).await;
    let preview = preview(prepared, cut).await;
    ask.based_on(base).showing(preview)
}

/// What stands otherwise than it did. Of what nobody looked at before nothing can be said.
fn since(was: Option<&Base>, now: Option<&Base>) -> Vec<String> {
    was.map(|was| was.changes(now.unwrap_or(&Base::default()))).unwrap_or_default()
}

/// What the answer would rest on. Whoever breaks or dawdles over it leaves that open, which is not the same as anything else.
async fn base(prepared: &Prepared, hooks: &dyn Hooks, cut: &CancellationToken) -> Option<Base> {
    if !hooks.says(Point::Base) {
        return None;
    }
    let (call, spec) = (&prepared.call, prepared.tool.spec());
    let unknown = || Some(Base::of("what it rests on", "could not be found out"));
    tokio::select! {
        biased;
        () = cut.cancelled() => unknown(),
        found = guard::caught(async { hooks.base(call, spec, &prepared.args).await }) => found.unwrap_or_else(|message| {
            tracing::error!(tool = %call.name, message, "finding out what a question rests on panicked");
            unknown()
        }),
        () = tokio::time::sleep(guard::DEADLINE) => unknown(),
    }
}

/// What the call would do. A tool that breaks or dawdles over it has nothing to show; the question is asked all the same.
async fn preview(prepared: &Prepared, cut: &CancellationToken) -> Option<Preview> {
    tokio::select! {
        biased;
        () = cut.cancelled() => None,
        looked = guard::caught(async { prepared.tool.preview(&prepared.args).await }) => looked.unwrap_or_else(|message| {
            tracing::error!(tool = %prepared.call.name, message, "a preview panicked");
            None
        }),
        () = tokio::time::sleep(guard::DEADLINE) => None,
    }
}

/// The verdict of the hooks. A panic, a deadline or an interrupt is a denial.
async fn judged(
    call: &ToolCall,
    spec: &ToolSpec,
    args: Args,
    cx: &Context,
    hooks: &dyn Hooks,
    cut: &CancellationToken,
) -> (Verdict, Args) {
    let mut gated = Gated { call, spec, args };
    let judging =
        Patience::within(hooks.deadline(), guard::caught(async { hooks.gate(&mut gated, cx).await }));
    let verdict = tokio::select! {
        biased;
        () = cut.cancelled() => denied(INTERRUPTED),
        judged = judging => match judged {
            Some(Ok(Verdict::Pass)) => by_specification(spec, Vec::new()),
            Some(Ok(Verdict::Offer { proposals })) => by_specification(spec, proposals),
            Some(Ok(verdict)) => verdict,
            Some(Err(message)) => {
                tracing::error!(tool = %spec.name, message, "a gate panicked");
                denied("The check before this call broke, so it was not run.")
            }
            None => denied("The check before this call did not answer, so it was not run."),
        },
    };
    (verdict, gated.args)
}

/// When nobody has an opinion, the tool's own word counts.
fn by_specification(spec: &ToolSpec, proposals: Vec<Proposal>) -> Verdict {
    match spec.approval {
        Approval::NotNeeded => Verdict::Allow,
        Approval::Needed => {
            Verdict::Ask { reason: format!("{} asks before it runs", spec.label), rule: None, proposals }
        }
    }
}

fn denied(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.to_owned(), rule: None }
}

async fn decided(
    prepared: Prepared,
    answer: Option<&Decision>,
    cx: &Context,
    hooks: &dyn Hooks,
    cut: &CancellationToken,
) -> Item {
    match answer {
        Some(Decision::Allow | Decision::AllowAndRemember { .. }) => Item::Run(prepared),
        Some(Decision::AllowWith { arguments: Value::Object(args) }) => {
            // A person changed the arguments: what no gate lets through stays out, whoever says so.
            let spec = prepared.tool.spec();
            let (verdict, args) = judged(&prepared.call, spec, args.clone(), cx, hooks, cut).await;
            match verdict {
                Verdict::Pass | Verdict::Offer { .. } | Verdict::Allow | Verdict::Ask { .. } => {
                    Item::Run(Prepared { args, ..prepared })
                }
                Verdict::Deny { reason, .. } => Item::Settled(not_run(&prepared.call, reason)),
            }
        }
        Some(Decision::AllowWith { .. }) => Item::Settled(not_run(
            &prepared.call,
            "The person changed the arguments to something that is no object, so the call was not run.",
        )),
        Some(Decision::Deny { reason }) => {
            Item::Settled(not_run(&prepared.call, format!("The person declined: {reason}")))
        }
        Some(Decision::Refuse { reason }) => {
            Item::Settled(not_run(&prepared.call, format!("Refused without asking a person: {reason}")))
        }
        Some(Decision::Later) | None => Item::Settled(not_run(
            &prepared.call,
            "Nobody answered whether this call may run, so it was not run.",
        )),
    }
}
