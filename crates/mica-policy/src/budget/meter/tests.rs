//! What is counted for whom, and who comes to the end.

use std::sync::Arc;

use mica_agent::RunId;
use mica_ai::id::MessageId;
use mica_ai::model::{PriceRow, Prices};
use mica_ai::usage::{Cost, Usd};
use mica_ai::{Model, StopReason};
use mica_testkit::{Scenario, ScriptedModel};

use super::*;
use crate::budget::Budget;
use crate::rules::RuleSet;

fn dollars(amount: f64) -> Usage {
    let output = Usd::from_dollars(amount);
    Usage { output: 100, cost: Some(Cost { output, ..Cost::default() }), ..Usage::default() }
}

fn context(turns: u32, usage: Usage, active: u64) -> Context {
    let mut model = Model::assumed("scripted", mica_ai::Dialect::Chat);
    let base = PriceRow {
        input: Usd::ZERO,
        output: Usd::ZERO,
        cache_read: None,
        cache_write: None,
        cache_write_long: None,
    };
    model.prices = Some(Prices { base, tiers: Vec::new() });
    let mut cx = Context::new(Arc::new(ScriptedModel::new(Scenario::new())), Arc::new(model));
    cx.tally = Tally { turns, usage, active: Duration::from_secs(active), ..Tally::default() };
    cx
}

fn metered(limits: Limits) -> (Budget, Meter) {
    let meter = Meter::default();
    (Budget::new(limits, RuleSet::default()).metered(meter.clone()), meter)
}

async fn takes(share: &Share, usage: Usage) {
    let message = MessageId::from("m");
    let kind = EventKind::AnswerEnd { message, stop: StopReason::Stop, usage };
    share.event(Event { seq: 0, run: RunId::fresh(), kind }).await;
}

async fn step(hooks: &impl Hooks, cx: &mut Context) -> String {
    match hooks.before_turn(cx).await.unwrap().0 {
        Step::Go => "go".to_owned(),
        Step::Close(limit) => format!("close, {}: {}", limit.name, limit.reached),
        Step::Stop(limit) => format!("stop, {}: {}", limit.name, limit.reached),
    }
}

#[tokio::test]
async fn what_a_subagent_takes_ends_it_and_the_run() {
    let (budget, meter) = metered(Limits { cost: Some(Usd::from_dollars(1.0)), ..Limits::NONE });
    let mut run = context(1, Usage::default(), 0);
    assert_eq!(step(&budget, &mut run).await, "go");
    let (one, other) = (meter.share(), meter.share());
    let mut cx = context(1, Usage::default(), 0);
    assert_eq!(step(&one, &mut cx).await, "go");
    takes(&one, dollars(0.4)).await;
    assert_eq!(step(&other, &mut cx).await, "go", "0.40 in one answer leaves room for another");
    takes(&other, dollars(0.6)).await;
    let end = "stop, cost: $1.0000 of $1.0000 in 3 turns, of the whole run with its subagents";
    assert_eq!(step(&one, &mut cx).await, end);
    run.tally.turns = 2;
    assert_eq!(step(&budget, &mut run).await, "stop, cost: $1.0000 of $1.0000 in 1 turns");
    assert_eq!((run.tally.usage, run.tally.delegated), (dollars_of(2), dollars_of(2)));
}

/// What both answers of the test above took.
fn dollars_of(answers: u64) -> Usage {
    Usage { output: 100 * answers, ..dollars(1.0) }
}

#[tokio::test]
async fn what_is_counted_is_counted_once() {
    let (budget, meter) = metered(Limits { tokens: Some(250), ..Limits::NONE });
    let mut run = context(1, Usage::default(), 0);
    step(&budget, &mut run).await;
    let share = meter.share();
    takes(&share, dollars(0.1)).await;
    run.tally.turns = 2;
    step(&budget, &mut run).await;
    run.tally.turns = 3;
    assert_eq!(step(&budget, &mut run).await, "go");
    assert_eq!(run.tally.delegated.output, 100);
    takes(&share, dollars(0.1)).await;
    takes(&share, dollars(0.1)).await;
    let mut cx = context(3, Usage::default(), 0);
    let end = "close, tokens: 300 tokens of 250, cached ones counted as a tenth, of the whole run with its subagents";
    assert_eq!(step(&share, &mut cx).await, end);
}

#[tokio::test]
async fn time_goes_along_the_longest_path() {
    let (budget, meter) = metered(Limits { active: Some(Duration::from_secs(100)), ..Limits::NONE });
    let mut run = context(2, Usage::default(), 40);
    step(&budget, &mut run).await;
    let (one, other) = (meter.share(), meter.share());
    let mut cx = context(2, Usage::default(), 20);
    assert_eq!(step(&one, &mut cx).await, "go");
    assert_eq!(step(&other, &mut cx).await, "go", "side by side, 20 s of two are 20 s");
    let mut next = context(2, Usage::default(), 39);
    let end = "close, time: 99 s of 100 s of work in 2 turns, of the whole run with its subagents";
    assert_eq!(step(&meter.share(), &mut next).await, end, "one after the other, they add up");
    let beside = meter.share_beside();
    assert_eq!(step(&beside, &mut context(2, Usage::default(), 0)).await, end);
}

#[tokio::test]
async fn waiting_for_people_is_no_time_of_the_run() {
    let (budget, meter) = metered(Limits { active: Some(Duration::from_secs(100)), ..Limits::NONE });
    let mut run = context(10, Usage::default(), 600);
    meter.waited(Duration::from_secs(590));
    assert_eq!(step(&budget, &mut run).await, "go");
    assert_eq!(run.tally.active, Duration::from_secs(10));
}
