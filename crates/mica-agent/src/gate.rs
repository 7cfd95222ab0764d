//! The gate: every call passes it before it runs, and what goes wrong here means no.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use mica_ai::message::ToolCall;
use serde_json::Value;

use crate::approval::{Ask, Decision, Decisions, Verdict};
use crate::batch::{Item, Prepared};
use crate::call::not_run;
use crate::context::Context;
use crate::hooks::{Gated, Hooks};
use crate::tool::{Approval, Args, ToolSpec};

/// A gate that takes longer has failed. People are not waited for here.
const DEADLINE: Duration = Duration::from_secs(30);

/// A batch after the gate.
pub(crate) struct Passed {
    /// In call order. Calls that wait for a person are in neither list's order but have their place here.
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

    /// The batch, once everything asked is answered. A question without an answer is a no.
    pub(crate) async fn decided(self, answers: &Decisions, cx: &Context, hooks: &dyn Hooks) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.items.len());
        for place in self.items {
            items.push(match place {
                Place::Item(item) => item,
                Place::Asked(ask, prepared) => decided(prepared, answers.of(&ask.call.id), cx, hooks).await,
            });
        }
        items
    }
}

/// Passes the calls of an answer through the gate, in order.
pub(crate) async fn pass(calls: &[ToolCall], cx: &Context, hooks: &dyn Hooks) -> Passed {
    let mut items = Vec::with_capacity(calls.len());
    for call in calls {
        items.push(one(call, cx, hooks).await);
    }
    Passed { items }
}

async fn one(call: &ToolCall, cx: &Context, hooks: &dyn Hooks) -> Place {
    let Some(tool) = cx.tools.get(&call.name) else {
        let known: Vec<&str> = cx.tools.names().collect();
        let text = format!("There is no tool {:?}. The tools are: {}.", call.name, known.join(", "));
        return Place::Item(Item::Settled(not_run(call, text)));
    };
    let args = match call.arguments.parse() {
        Ok(args) => args,
        Err(bad) => return Place::Item(Item::Settled(not_run(call, bad.for_model()))),
    };
    let (verdict, args) = judged(call, tool.spec(), args, cx, hooks).await;
    let prepared = Prepared { call: call.clone(), tool: tool.clone(), args };
    match verdict {
        Verdict::Pass | Verdict::Allow => Place::Item(Item::Run(prepared)),
        Verdict::Deny { reason, .. } => Place::Item(Item::Settled(not_run(call, reason))),
        Verdict::Ask { reason, rule } => {
            let arguments = Value::Object(prepared.args.clone());
            Place::Asked(Box::new(Ask { call: call.clone(), arguments, reason, rule }), prepared)
        }
    }
}

/// The verdict of the hooks. A panic or a deadline is a denial.
async fn judged(
    call: &ToolCall,
    spec: &ToolSpec,
    args: Args,
    cx: &Context,
    hooks: &dyn Hooks,
) -> (Verdict, Args) {
    let mut gated = Gated { call, spec, args };
    let judging = AssertUnwindSafe(hooks.gate(&mut gated, cx)).catch_unwind();
    let verdict = match tokio::time::timeout(DEADLINE, judging).await {
        Ok(Ok(Verdict::Pass)) => by_specification(spec),
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_)) => denied("The check before this call broke, so it was not run."),
        Err(_) => denied("The check before this call did not answer, so it was not run."),
    };
    (verdict, gated.args)
}

/// When nobody has an opinion, the tool's own word counts.
fn by_specification(spec: &ToolSpec) -> Verdict {
    match spec.approval {
        Approval::NotNeeded => Verdict::Allow,
        Approval::Needed => {
            Verdict::Ask { reason: format!("{} asks before it runs", spec.label), rule: None }
        }
    }
}

fn denied(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.to_owned(), rule: None }
}

async fn decided(prepared: Prepared, answer: Option<&Decision>, cx: &Context, hooks: &dyn Hooks) -> Item {
    match answer {
        Some(Decision::Allow) => Item::Run(prepared),
        Some(Decision::AllowWith { arguments: Value::Object(args) }) => {
            // A person changed the arguments: what no gate lets through stays out, whoever says so.
            let spec = prepared.tool.spec().clone();
            let (verdict, args) = judged(&prepared.call, &spec, args.clone(), cx, hooks).await;
            match verdict {
                Verdict::Pass | Verdict::Allow | Verdict::Ask { .. } => {
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
        None => Item::Settled(not_run(
            &prepared.call,
            "Nobody answered whether this call may run, so it was not run.",
        )),
    }
}
