//! What is applied, in which order, how often, and by whom: also when processes die in the middle.

mod deciding;
mod doubt;
mod dying;
mod picking;
mod random;
mod rights;
mod standing;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use mica_agent::{Effect, ToolCx, ToolOutput};
use proptest::prelude::*;
use serde_json::json;

use super::super::bundle::{Base, Subject};
use super::super::bundles::Activity;
use super::super::testing::{Dying, Faults, World, action, at, bundle};
use super::*;
use crate::act::Act;
use crate::approvals::{Deed, People};
use crate::autonomy::Autonomy;
use crate::records::testing::{Passing, Points};
use crate::records::{InMemory, Records};
use crate::rights::Rights;

fn ann() -> Person {
    Person::new("ann", Rights::All)
}

/// Everybody is there, and may do everything.
struct Everybody;

#[async_trait]
impl People for Everybody {
    async fn person(&self, name: &str) -> Result<Option<Person>, String> {
        Ok(Some(Person::new(name, Rights::All)))
    }
}

/// A process with its own tools, on a world and records that outlive it.
fn process(name: &str, world: &Arc<World>, records: &InMemory, faults: &Arc<Faults>) -> Applier {
    let records = Dying::new(records, faults);
    Applier::new(Bundles::new(Arc::new(records)), world.tools(faults), name, Arc::new(|| at(100)))
}

struct Stage {
    world: Arc<World>,
    records: InMemory,
    applier: Applier,
}

async fn stage(actions: Vec<Action>) -> Stage {
    let (world, records) = (Arc::new(World::default()), InMemory::default());
    let applier = process("p", &world, &records, &Faults::none());
    applier.bundles.add(bundle("b", 1, actions)).await.unwrap();
    Stage { world, records, applier }
}

/// What became of each action, in short.
fn told(bundle: &Bundle) -> Vec<String> {
    let one = |action: &Action| match &action.status {
        Status::Open => "open".to_owned(),
        Status::Picked => "picked".to_owned(),
        Status::Began => "began".to_owned(),
        Status::Done { made, .. } => format!("done {}", made.clone().unwrap_or_default()),
        Status::Failed { reason } => format!("failed: {reason}"),
        Status::Skipped { reason } => format!("skipped: {reason}"),
        Status::Unknown { .. } => "unknown".to_owned(),
    };
    bundle.actions.iter().map(one).collect()
}

/// Three that build on each other, and one beside.
fn chain() -> Vec<Action> {
    let mut third = action(3, "unsafe", Some(2));
    third.args.insert("title".to_owned(), json!("about temp_1 and temp_2"));
    third.needs = vec!["temp_1".to_owned(), "temp_2".to_owned()];
    vec![action(1, "keyed", None), action(2, "keyed", Some(1)), third, action(4, "same", None)]
}

/// Keyed and unsafe effects happen at most once, and as often as their status says.
fn check_effects(world: &World, bundle: &Bundle, at: &str) {
    for action in &bundle.actions {
        let key = format!("bundle/b/{}", action.id);
        let times = world.done().iter().filter(|done| done.key == key).count();
        match (&action.status, action.effect) {
            (Status::Done { .. }, Effect::Idempotent) => assert!(times >= 1, "{key}: {times}, {at}"),
            (Status::Done { .. }, _) => assert_eq!(times, 1, "{key}, {at}"),
            (Status::Unknown { .. }, _) => assert!(times <= 1, "{key}: {times}, {at}"),
            _ => assert_eq!(times, 0, "{key}, {at}"),
        }
    }
}
