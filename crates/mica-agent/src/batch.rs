//! The calls of one answer: which may run, what waits for what, results in call order.
//!
//! Reads run side by side, writes in the order they were called, and calls that touch the same thing one after the
//! other. A result is handed on as soon as all results before it are.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use mica_ai::id::{MessageId, apart};
use mica_ai::message::ToolCall;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::call::{self, Finished};
use crate::event::EventSink;
use crate::hooks::Hooks;
use crate::tool::{Access, Args, Resource, Tool};
use crate::waits::Waits;

/// How many calls run at once. More than a model asks for in earnest, few enough for one machine.
const AT_ONCE: usize = 32;

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

/// What all calls of a batch share.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) hooks: &'a dyn Hooks,
    pub(crate) events: &'a EventSink,
    pub(crate) cut: &'a CancellationToken,
    /// The answer that made the calls.
    pub(crate) answer: &'a MessageId,
    /// How long people were waited for.
    pub(crate) waits: &'a Arc<Waits>,
}

/// Runs a batch. The results are sent in call order, each as soon as it can be; `results` has room for all of them, so
/// that who keeps them holds up no call.
pub(crate) async fn run(items: Vec<Item>, around: Around<'_>, results: mpsc::Sender<Finished>) {
    let waits = waits(&items);
    let signals: Vec<watch::Sender<bool>> = items.iter().map(|_| watch::Sender::new(false)).collect();
    let places = Semaphore::new(AT_ONCE);
    // The call that ended the batch. Those behind it wait for it, because it runs alone.
    let ended: OnceLock<usize> = OnceLock::new();
    let mut running = FuturesUnordered::new();
    for (index, item) in items.into_iter().enumerate() {
        let mut before: Vec<watch::Receiver<bool>> =
            waits[index].iter().map(|earlier| signals[*earlier].subscribe()).collect();
        let (places, ended) = (&places, &ended);
        // Each counts its ids apart from the others: which of them is faster must not show.
        running.push(apart(async move {
            for signal in &mut before {
                // The sender lives as long as this batch, so waiting cannot fail.
                let _ = signal.wait_for(|done| *done).await;
            }
            // Taken last: a call that waits for another must not keep it from its place. Never closed.
            let _place = places.acquire().await;
            let finished = match item {
                Item::Settled(finished) => finished,
                Item::Run(prepared) if around.cut.is_cancelled() => {
                    call::not_run(&prepared.call, call::INTERRUPTED)
                }
                Item::Run(prepared) if ended.get().is_some_and(|by| *by < index) => {
                    call::not_run(&prepared.call, call::ENDED)
                }
                Item::Run(prepared) => call::run(prepared, around).await,
            };
            if finished.ends_batch {
                let _ = ended.set(index);
            }
            (index, finished)
        }));
    }
    let mut early: BTreeMap<usize, Finished> = BTreeMap::new();
    let mut next = 0;
    while let Some((index, finished)) = running.next().await {
        signals[index].send_replace(true);
        early.insert(index, finished);
        while let Some(finished) = early.remove(&next) {
            let _ = results.send(finished).await;
            next += 1;
        }
    }
}

/// For each call, the earlier ones it waits for.
fn waits(items: &[Item]) -> Vec<Vec<usize>> {
    let footprints: Vec<Option<Footprint>> = items
        .iter()
        .map(|item| match item {
            Item::Run(prepared) => Some(footprint(prepared)),
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

type Footprint = (Access, Vec<Resource>);

/// What a call does to what. A tool that breaks over the question is taken to run alone, or to touch everything.
fn footprint(prepared: &Prepared) -> Footprint {
    let (tool, args) = (&prepared.tool, &prepared.args);
    let access = catch_unwind(AssertUnwindSafe(|| tool.access(args)));
    let touches = catch_unwind(AssertUnwindSafe(|| tool.touches(args)));
    (access.unwrap_or(Access::Exclusive), touches.unwrap_or_default())
}

fn collide(one: &Footprint, other: &Footprint) -> bool {
    match (one.0, other.0) {
        (Access::Exclusive, _) | (_, Access::Exclusive) | (Access::Write, Access::Write) => true,
        (Access::Read, Access::Read) => false,
        // One looks, one changes: that is fine as long as both say at what, and it is not the same.
        (Access::Read, Access::Write) | (Access::Write, Access::Read) => {
            one.1.is_empty() || other.1.is_empty() || one.1.iter().any(|thing| other.1.contains(thing))
        }
    }
}
