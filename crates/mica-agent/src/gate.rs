//! The gate: every call passes it before it runs, and what goes wrong here means no.

use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::{Answer, Ask, Decision, Decisions, Preview, Verdict};
use crate::batch::{Item, Prepared};
use crate::call::{INTERRUPTED, not_run};
use crate::context::Context;
use crate::guard;
use crate::hooks::{Gated, Hooks};
use crate::meant::Meant;
use crate::proposal::Proposal;
use crate::shown::Shown;
use crate::tool::{Approval, Args, ToolSpec};
use crate::waits::Patience;

/// Why a question is asked again.
const OUTDATED: &str = "it was allowed for other arguments than it would run with now";

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

    /// Makes questions of what was allowed for something else than would run now, and says whether there are any: rules,
    /// and what a domain fills in, may have changed since a person looked. A call that nobody asks about any more runs
    /// without their yes, as it is now.
    pub(crate) fn ask_again(&mut self, answers: &Decisions) -> bool {
        let mut again = false;
        self.items = std::mem::take(&mut self.items)
            .into_iter()
            .map(|place| match place {
                Place::Asked(mut ask, prepared) => {
                    if answers.of(&ask.call.id).is_some_and(|answer| !answer.fits(&ask.shown)) {
                        again = true;
                        ask.reason = format!("{OUTDATED}; {}", ask.reason);
                    }
                    Place::Asked(ask, prepared)
                }
                Place::Item(Item::Run(prepared)) => {
                    let arguments = Value::Object(prepared.args.clone());
                    let shown = Shown::of(&prepared.call.name, &arguments);
                    let misses = |answer: &&Answer| {
                        matches!(answer.decision, Decision::AllowWith { .. }) && !answer.fits(&shown)
                    };
                    if answers.of(&prepared.call.id).filter(misses).is_none() {
                        return Place::Item(Item::Run(prepared));
                    }
                    again = true;
                    let ask = Ask::new(prepared.call.clone(), arguments, OUTDATED.to_owned(), None);
                    Place::Asked(Box::new(ask), prepared)
                }
                settled @ Place::Item(Item::Settled(_)) => settled,
            })
            .collect();
        again
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
            let preview = preview(&prepared, cut).await;
            let arguments = Value::Object(prepared.args.clone());
            let ask = Ask::new(prepared.call.clone(), arguments, reason, rule)
                .showing(preview)
                .proposing(proposals);
            Place::Asked(Box::new(ask), prepared)
        }
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
