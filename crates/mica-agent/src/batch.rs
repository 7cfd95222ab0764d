//! The calls of one answer: which may run, what waits for what, results in call order.
//!
//! Reads run side by side, writes in the order they were called, and calls that touch the same thing one after the
//! other. A result is handed on as soon as all results before it are.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use mica_ai::message::ToolCall;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::call::{self, Finished};
use crate::event::EventSink;
use crate::hooks::Hooks;
use crate::tool::{Access, Args, Resource, Tool};

/// A call that may run.
pub(crate) struct Prepared {
    pub(crate) call: ToolCall,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) args: Args,
}

/// A call after the gate.
pub(crate) enum Item {
    Run(Prepared),
    /// It is not run; this is its result.
    Settled(Finished),
}

/// Runs a batch. `done` is given the results in call order, each as soon as it can be.
pub(crate) async fn run(
    items: Vec<Item>,
    hooks: &dyn Hooks,
    events: &EventSink,
    cut: &CancellationToken,
    mut done: impl AsyncFnMut(Finished),
) {
    let waits = waits(&items);
    let signals: Vec<watch::Sender<bool>> = items.iter().map(|_| watch::Sender::new(false)).collect();
    let mut running = FuturesUnordered::new();
    for (index, item) in items.into_iter().enumerate() {
        let mut before: Vec<watch::Receiver<bool>> =
            waits[index].iter().map(|earlier| signals[*earlier].subscribe()).collect();
        running.push(async move {
            for signal in &mut before {
                // The sender lives as long as this batch, so waiting cannot fail.
                let _ = signal.wait_for(|done| *done).await;
            }
            let finished = match item {
                Item::Settled(finished) => finished,
                Item::Run(prepared) if cut.is_cancelled() => call::not_run(
                    &prepared.call,
                    "The call was not run: the batch was interrupted before it.",
                ),
                Item::Run(prepared) => call::run(prepared, hooks, events, cut).await,
            };
            (index, finished)
        });
    }
    let mut early: BTreeMap<usize, Finished> = BTreeMap::new();
    let mut next = 0;
    while let Some((index, finished)) = running.next().await {
        signals[index].send_replace(true);
        early.insert(index, finished);
        while let Some(finished) = early.remove(&next) {
            done(finished).await;
            next += 1;
        }
    }
}

/// For each call, the earlier ones it waits for.
fn waits(items: &[Item]) -> Vec<Vec<usize>> {
    let footprints: Vec<Option<(Access, Vec<Resource>)>> = items
        .iter()
        .map(|item| match item {
            Item::Run(prepared) => Some((prepared.tool.spec().access, prepared.tool.touches(&prepared.args))),
            Item::Settled(_) => None,
        })
        .collect();
    footprints
        .iter()
        .enumerate()
        .map(|(index, footprint)| {
            let Some(footprint) = footprint else { return Vec::new() };
            (0..index)
                .filter(|earlier| {
                    footprints[*earlier].as_ref().is_some_and(|other| collide(other, footprint))
                })
                .collect()
        })
        .collect()
}

fn collide(one: &(Access, Vec<Resource>), other: &(Access, Vec<Resource>)) -> bool {
    match (one.0, other.0) {
        (Access::Exclusive, _) | (_, Access::Exclusive) | (Access::Write, Access::Write) => true,
        (Access::Read, Access::Read) => false,
        // One looks, one changes: that is fine as long as both say at what, and it is not the same.
        (Access::Read, Access::Write) | (Access::Write, Access::Read) => {
            one.1.is_empty() || other.1.is_empty() || one.1.iter().any(|thing| other.1.contains(thing))
        }
    }
}
