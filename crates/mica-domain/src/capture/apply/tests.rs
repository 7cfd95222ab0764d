//! What is applied, in which order, how often, and by whom: also when processes die in the middle.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::json;

use super::super::bundle::{Base, Subject};
use super::super::bundles::Activity;
use super::super::testing::{Dying, Faults, World, action, at, bundle};
use super::*;
use crate::act::Act;
use crate::approvals::Deed;
use crate::autonomy::Autonomy;
use crate::records::testing::{Passing, Points};
use crate::records::{InMemory, Records};
use crate::rights::Rights;

fn ann() -> Person {
    Person::new("ann", Rights::All)
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

#[tokio::test]
async fn all_of_it_in_order_with_true_ids() {
    let stage = stage(chain()).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        stage.world.told(),
        [
            r#"bundle/b/temp_1 keyed {"title":"a1"}"#,
            r#"bundle/b/temp_2 keyed {"title":"a2","on":"K-1"}"#,
            r#"bundle/b/temp_3 unsafe {"title":"about K-1 and K-2","on":"K-2"}"#,
            r#"bundle/b/temp_4 same {"title":"a4"}"#,
        ]
    );
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-2""#, "done 3", r#"done "I-a4""#]);
    let became: Vec<String> = bundle.became().map(|(id, real)| format!("{id} {real}")).collect();
    assert_eq!(became, [r#"temp_1 "K-1""#, r#"temp_2 "K-2""#, "temp_3 3", r#"temp_4 "I-a4""#]);
    assert_eq!((&bundle.state, &bundle.lease), (&State::Approved, &None));
    assert_eq!(stage.applier.bundles.get("b").await.unwrap(), bundle, "what is answered is what is kept");
    let again = stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err();
    assert_eq!(again.to_string(), "bundle b was approved already, and nothing of it is left to do");
    assert_eq!(stage.applier.resume("b").await.unwrap(), bundle, "nothing is left");
    assert_eq!(stage.world.done().len(), 4);
}

#[tokio::test]
async fn some_of_it_now_and_the_rest_later() {
    let stage = stage(chain()).await;
    let Stage { applier, world, .. } = &stage;
    let refused = applier.apply("b", &Picked::some(["temp_3", "temp_4"]), &ann()).await.unwrap_err();
    let words = "temp_3 needs temp_1, which is not picked; temp_3 needs temp_2, which is not picked";
    assert_eq!(refused.to_string(), words);
    assert_eq!(applier.bundles.get("b").await.unwrap().state, State::Fresh, "nothing was decided");

    let picked = Picked::some(["temp_4", "temp_1"]);
    let bundle = applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, "open", "open", r#"done "I-a4""#]);
    assert_eq!(bundle.state, State::PartiallyApproved);

    // What it needs is done already, so it can be picked alone.
    let bundle = applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-3""#, "open", r#"done "I-a4""#]);
    let bundle = applier.apply("b", &Picked::all(&bundle), &ann()).await.unwrap();
    assert_eq!((told(&bundle)[2].as_str(), bundle.state), ("done 4", State::Approved));
    assert_eq!(world.done().len(), 4);
    let who: Vec<(i64, &str)> =
        bundle.trail.iter().map(|trace| (trace.at.as_second(), trace.by.as_str())).collect();
    assert_eq!(who, [(at(100).as_second(), "ann"); 3]);
}

#[tokio::test]
async fn what_is_wrong_with_picks_is_said_before_anything_is_done() {
    let stage = stage(chain()).await;
    let check = async |picked: Picked, expect: &str| {
        let error = stage.applier.apply("b", &picked, &ann()).await.unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(Picked::default(), "nothing was picked").await;
    check(Picked::some(["temp_9"]), "there is no action temp_9").await;
    check(Picked::some(["temp_1", "temp_1"]), "temp_1 was picked twice").await;
    check(
        Picked::some(["temp_1"]).editing("temp_1", "title", json!("")).editing("temp_1", "fail", json!(true)),
        "temp_1: fail may not be changed; what may be changed is: title, on",
    )
    .await;
    check(
        Picked::some(["temp_1"]).editing("temp_1", "title", json!("")),
        "temp_1: /title: must have 1 characters or more",
    )
    .await;
    // An edit that needs something needs it to be picked, and nothing may need itself.
    check(
        Picked::some(["temp_1"]).editing("temp_1", "on", json!("temp_4")),
        "temp_1 needs temp_4, which is not picked",
    )
    .await;
    check(
        Picked::some(["temp_1", "temp_2"]).editing("temp_1", "on", json!("temp_2")),
        "these actions need each other: temp_1, temp_2, temp_3",
    )
    .await;
    assert_eq!(stage.world.done(), []);
    assert_eq!(stage.applier.bundles.get("b").await.unwrap().trail, []);
}

#[tokio::test]
async fn edits_are_done_and_kept() {
    let stage = stage(chain()).await;
    let picked = Picked::some(["temp_1", "temp_2", "temp_4"])
        .editing("temp_1", "title", json!("better"))
        .editing("temp_2", "on", json!("temp_4"))
        .editing("temp_4", "title", json!("a4"));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    // What was changed to need another comes behind it.
    assert_eq!(
        stage.world.told(),
        [
            r#"bundle/b/temp_1 keyed {"title":"better"}"#,
            r#"bundle/b/temp_4 same {"title":"a4"}"#,
            r#"bundle/b/temp_2 keyed {"title":"a2","on":"I-a4"}"#,
        ]
    );
    let Deed::Approved { what, edits } = &bundle.trail[0].deed else { panic!("{:?}", bundle.trail) };
    assert_eq!(*what, ["temp_1", "temp_2", "temp_4"]);
    assert_eq!(
        serde_json::to_value(edits).unwrap(),
        json!({ "temp_1": { "title": "better" }, "temp_2": { "title": "a2", "on": "temp_4" } })
    );
    assert_eq!(bundle.actions[0].args, action(1, "keyed", None).args, "what was proposed stays on record");
}

#[tokio::test]
async fn what_needs_a_failure_is_skipped_and_may_be_tried_again() {
    let mut actions = chain();
    actions[1].args.insert("fail".to_owned(), json!(true));
    actions[1].amendable.push("fail".to_owned());
    let stage = stage(actions).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        told(&bundle),
        [r#"done "K-1""#, "failed: it is closed", "skipped: temp_2 failed", r#"done "I-a4""#]
    );
    assert_eq!((&bundle.state, bundle.is_open()), (&State::Approved, true));
    let picked = Picked::all(&bundle).editing("temp_2", "fail", json!(false));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-3""#, "done 4", r#"done "I-a4""#]);
    assert_eq!(stage.world.done().len(), 4);
}

#[tokio::test]
async fn an_unsafe_failure_is_not_tried_again() {
    let mut only = action(1, "unsafe", None);
    only.args.insert("fail".to_owned(), json!(true));
    let stage = stage(vec![only]).await;
    let bundle = stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    assert_eq!((told(&bundle), bundle.is_open()), (vec!["failed: it is closed".to_owned()], false));
    assert!(stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.is_err());
}

#[tokio::test]
async fn whoever_approves_needs_the_rights() {
    let mut actions = chain();
    actions[0].right = Some("tasks.write".to_owned());
    let stage = stage(actions).await;
    let judge = Judge::new([Act::of("same").needing("notes.write")], Autonomy::default());
    let approvers = Approvers::default().with("unsafe", ["lead"]);
    let applier = stage.applier.clone().judging(Arc::new(judge)).approved_by(approvers);
    let fresh = applier.bundles.get("b").await.unwrap();
    let bob = Person::new("bob", Rights::of(["tasks.read"]));
    let refused = applier.apply("b", &Picked::all(&fresh), &bob).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "bob may not approve temp_1 (keyed needs the right tasks.write), temp_3 (unsafe needs the right lead), temp_4 \
         (same needs the right notes.write)"
    );
    assert_eq!(stage.world.done(), []);
    let eve = Person::new("eve", Rights::of(["tasks.write", "notes.write"]));
    let bundle = applier.apply("b", &Picked::some(["temp_1", "temp_2", "temp_4"]), &eve).await.unwrap();
    assert_eq!((bundle.state, bundle.trail[0].by.as_str()), (State::PartiallyApproved, "eve"));
}

struct Product(AtomicI64);

#[async_trait]
impl Activity for Product {
    async fn of(&self, _: &Subject) -> Result<Base, String> {
        Ok(Base::version(self.0.load(Ordering::SeqCst).to_string()))
    }
}

#[tokio::test]
async fn a_stale_bundle_is_refused_until_a_person_renews_it() {
    let stage = stage(chain()).await;
    let product = Arc::new(Product(AtomicI64::new(8)));
    let mut applier = stage.applier.clone();
    applier.bundles = applier.bundles.watching(Arc::clone(&product) as Arc<dyn Activity>);
    let refused = applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap_err();
    let words = "bundle b is stale: what it is about has changed since. Look at it again, and renew it if it is still right";
    assert_eq!(refused.to_string(), words);
    assert_eq!(
        applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap_err(),
        refused,
        "it stays so"
    );
    assert_eq!(stage.world.done(), []);
    applier.bundles.renew("b", &ann(), at(50)).await.unwrap();
    applier.apply("b", &Picked::some(["temp_4"]), &ann()).await.unwrap();

    // The rest goes stale, too, and what was done of it stays done.
    product.0.store(9, Ordering::SeqCst);
    assert_eq!(applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err(), refused);
    let renewed = applier.bundles.renew("b", &ann(), at(60)).await.unwrap();
    assert_eq!(renewed.state, State::PartiallyApproved);
    let bundle = applier.apply("b", &Picked::all(&renewed), &ann()).await.unwrap();
    assert_eq!((bundle.state, stage.world.done().len()), (State::Approved, 4));
}

/// The tools of a product that counts what its tools do as activity, as products do.
#[tokio::test]
async fn what_is_applied_does_not_make_the_rest_stale() {
    struct Counting(Arc<World>);
    #[async_trait]
    impl Activity for Counting {
        async fn of(&self, _: &Subject) -> Result<Base, String> {
            Ok(Base::version((7 + self.0.done().len()).to_string()))
        }
    }
    let stage = stage(chain()).await;
    let mut applier = stage.applier.clone();
    applier.bundles = applier.bundles.watching(Arc::new(Counting(Arc::clone(&stage.world))));
    let bundle = applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    assert_eq!(bundle.about.base, Base::version("8"));
    let bundle = applier.apply("b", &Picked::all(&bundle), &ann()).await.unwrap();
    assert_eq!(bundle.state, State::Approved);
}

#[tokio::test]
async fn a_result_that_does_not_say_what_it_made_leads_nowhere() {
    let mut actions = chain();
    actions[0].makes.push("/made/name".to_owned());
    let stage = stage(actions).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        told(&bundle),
        [
            "done null",
            "skipped: temp_1 was done, but did not say what it made",
            "skipped: temp_1 was done, but did not say what it made",
            r#"done "I-a4""#
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_breaks_or_never_ends() {
    struct Odd(mica_agent::ToolSpec);
    #[async_trait]
    impl Tool for Odd {
        fn spec(&self) -> &mica_agent::ToolSpec {
            &self.0
        }
        async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            if args["title"] == "a1" {
                panic!("at the disco");
            }
            std::future::pending().await
        }
    }
    for (effect, expect) in [(Effect::Keyed, "unknown"), (Effect::Unsafe, "unknown")] {
        let mut stage =
            stage(vec![action(1, "odd", None), action(2, "odd", None), action(3, "keyed", Some(2))]).await;
        let mut spec = mica_agent::ToolSpec::new("odd", "", json!({ "type": "object" }));
        spec.effect = effect;
        stage.applier.tools.add(Arc::new(Odd(spec)));
        let fresh = stage.applier.bundles.get("b").await.unwrap();
        let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
        let skipped = "skipped: nobody knows whether temp_2 was done";
        assert_eq!(told(&bundle), [expect, expect, skipped]);
        let Status::Unknown { reason } = &bundle.actions[1].status else { panic!() };
        assert_eq!(reason, "it did not finish within 120 s");
    }
}

#[tokio::test]
async fn of_two_who_decide_at_once_one_wins() {
    let stage = stage(chain()).await;
    let (one, other) = (process("one", &stage.world, &stage.records, &Faults::none()), stage.applier.clone());
    // Both have read the bundle before either wrote.
    let picks = (Picked::some(["temp_1", "temp_2"]), Picked::some(["temp_1", "temp_4"]));
    let (bob, eve) = (Person::new("bob", Rights::All), Person::new("eve", Rights::All));
    let made = futures_join(one.apply("b", &picks.0, &bob), other.apply("b", &picks.1, &eve)).await;
    let conflict =
        CaptureError::Records(RecordError::Conflict { kind: "bundle".to_owned(), id: "b".to_owned() });
    let (won, lost) = if made.0.is_ok() { made } else { (made.1, made.0) };
    assert!(
        matches!(&lost, Err(error) if *error == conflict || matches!(error, CaptureError::UnderWay { .. })),
        "{lost:?}"
    );
    let won = won.unwrap();
    assert_eq!(won.trail.len(), 1);
    assert_eq!(stage.world.done().len(), 2);
}

async fn futures_join<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    tokio::join!(one, other)
}

#[tokio::test]
async fn others_wait_until_the_time_of_whoever_died_is_over() {
    let stage = stage(vec![action(1, "keyed", None)]).await;
    // Dies after the effect, before that is written.
    let faults = Faults::at(6);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    assert_eq!(told(&stage.applier.bundles.get("b").await.unwrap()), ["began"]);

    let clock = Arc::new(AtomicI64::new(101));
    let mut other = stage.applier.clone();
    other.holder = "other".to_owned();
    let read = Arc::clone(&clock);
    other.clock = Arc::new(move || at(read.load(Ordering::SeqCst)));
    let waiting = other.resume("b").await.unwrap_err();
    let until = at(100 + 120 + 60);
    assert_eq!(waiting, CaptureError::UnderWay { id: "b".to_owned(), holder: "one".to_owned(), until });
    assert_eq!(other.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err(), waiting);
    assert_eq!(other.resume_all().await, Ok(Vec::new()), "it is left to whoever works at it");
    clock.store(281, Ordering::SeqCst);
    let bundle = other.resume_all().await.unwrap().remove(0);
    assert_eq!((told(&bundle), stage.world.done().len()), (vec![r#"done "K-1""#.to_owned()], 1));
}

/// All is done, and only that is not written: others wait for that, too, and it is whole when it is over.
#[tokio::test]
async fn one_who_died_at_the_very_end() {
    let stage = stage(vec![action(1, "keyed", None), action(2, "keyed", None)]).await;
    // The decision, two writes and an effect, and then the end.
    let faults = Faults::at(2 + 2 + 2 + 2 + 1);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    let left = stage.applier.bundles.get("b").await.unwrap();
    assert_eq!(
        (told(&left), left.lease.is_some()),
        (vec![r#"done "K-1""#.to_owned(), "open".to_owned()], true)
    );
    let waiting = stage.applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap_err();
    assert!(matches!(waiting, CaptureError::UnderWay { .. }), "{waiting}");
    let one = process("one", &stage.world, &stage.records, &Faults::none());
    assert_eq!(one.resume_all().await.unwrap()[0].lease, None);
    let bundle = stage.applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap();
    assert_eq!((bundle.state, stage.world.done().len()), (State::Approved, 2));
}

/// Whoever was taken for dead and comes back writes nothing any more, and does nothing more.
#[tokio::test]
async fn one_who_comes_back_from_the_dead_stops() {
    let stage = stage(chain()).await;
    let records = stage.records.clone();
    let world = Arc::clone(&stage.world);
    let taking_over = stage.applier.clone();
    let over: Arc<Mutex<Option<Bundle>>> = Arc::default();
    /// In the middle of its effect, another process takes over.
    struct Slow {
        inner: Arc<dyn Tool>,
        other: Applier,
        over: Arc<Mutex<Option<Bundle>>>,
    }
    #[async_trait]
    impl Tool for Slow {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.inner.spec()
        }
        async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            let made = self.inner.call(args, cx).await;
            let mut other = self.other.clone();
            other.clock = Arc::new(|| at(100_000));
            other.holder = "other".to_owned();
            let bundle = other.resume("b").await.unwrap();
            *self.over.lock().unwrap() = Some(bundle);
            made
        }
    }
    let mut one = process("one", &world, &records, &Faults::none());
    let inner = one.tools.find("keyed").unwrap();
    one.tools.add(Arc::new(Slow { inner, other: taking_over, over: Arc::clone(&over) }));
    let fresh = one.bundles.get("b").await.unwrap();
    let error = one.apply("b", &Picked::all(&fresh), &ann()).await.unwrap_err();
    assert_eq!(error.to_string(), "bundle b was changed by somebody else");
    let bundle = over.lock().unwrap().take().unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-2""#, "done 3", r#"done "I-a4""#]);
    assert_eq!(world.done().len(), 4);
}

/// Dies at one point, is gone on with, and dies at another, for all points there are.
#[tokio::test]
async fn wherever_processes_die_nothing_is_done_twice_and_everything_ends() {
    let picked = Picked::some(["temp_1", "temp_2", "temp_3", "temp_4"]);
    let points = {
        let stage = stage(chain()).await;
        let faults = Faults::none();
        process("p", &stage.world, &stage.records, &faults).apply("b", &picked, &ann()).await.unwrap();
        faults.passed()
    };
    // Ten writes (the decision, two for each action, the end) and four effects, each with a before and an after.
    assert_eq!(points, 2 * 10 + 2 * 4);
    let mut unknown = BTreeSet::new();
    for first in 1..=points {
        for second in 0..=points {
            let stage = stage(chain()).await;
            for point in [first, second] {
                let faults = Faults::at(point);
                let process = process("p", &stage.world, &stage.records, &faults);
                faults
                    .until_death(async {
                        // A person who finds it fresh decides again; what was decided goes on by itself.
                        if process.resume("b").await.unwrap().state == State::Fresh {
                            process.apply("b", &picked, &ann()).await.unwrap();
                        }
                    })
                    .await;
            }
            let last = process("p", &stage.world, &stage.records, &Faults::none());
            let mut bundle = last.resume("b").await.unwrap();
            if bundle.state == State::Fresh {
                bundle = last.apply("b", &picked, &ann()).await.unwrap();
            }
            let at = format!("died at {first} and {second}: {:?}", told(&bundle));
            assert_eq!(
                (&bundle.state, &bundle.lease, bundle.trail.len()),
                (&State::Approved, &None, 1),
                "{at}"
            );
            assert!(bundle.actions.iter().all(|action| action.status.is_final()), "{at}");
            check_effects(&stage.world, &bundle, &at);
            let is_unknown = matches!(bundle.actions[2].status, Status::Unknown { .. });
            if is_unknown {
                unknown.insert(first);
            }
            for (place, made) in [(0, r#"done "K-1""#), (1, r#"done "K-2""#), (3, r#"done "I-a4""#)] {
                assert_eq!(told(&bundle)[place], made, "{at}");
            }
        }
    }
    assert!(unknown.len() > 2, "an unsafe effect was under way when a process died: {unknown:?}");
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

#[derive(Debug, Clone)]
struct Plan {
    /// For each action: its tool, what it is built on, whether it fails.
    actions: Vec<(usize, Option<prop::sample::Index>, bool)>,
    /// Rounds of picks: which actions, and where the processes die.
    rounds: Vec<(Vec<bool>, Vec<usize>)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let action =
        (0..3usize, prop::option::weighted(0.6, any::<prop::sample::Index>()), prop::bool::weighted(0.2));
    let round =
        (prop::collection::vec(prop::bool::weighted(0.7), 7), prop::collection::vec(1..30usize, 0..3));
    (prop::collection::vec(action, 1..7), prop::collection::vec(round, 1..4))
        .prop_map(|(actions, rounds)| Plan { actions, rounds })
}

impl Plan {
    fn actions(&self) -> Vec<Action> {
        let made = self.actions.iter().enumerate().map(|(place, (tool, on, fails))| {
            let on = on.filter(|_| place > 0).map(|index| index.index(place) + 1);
            let mut action = action(place + 1, ["keyed", "same", "unsafe"][*tool], on);
            if *fails {
                action.args.insert("fail".to_owned(), json!(true));
            }
            action
        });
        made.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_picked_fails_or_dies(plan in plans()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(keeps_its_promises(plan))?;
    }
}

async fn keeps_its_promises(plan: Plan) -> Result<(), TestCaseError> {
    let stage = stage(plan.actions()).await;
    let mut ever_picked = BTreeSet::new();
    for (picks, deaths) in &plan.rounds {
        let bundle = stage.applier.bundles.get("b").await.unwrap();
        let picked: Vec<&str> = bundle
            .actions
            .iter()
            .zip(picks)
            .filter(|(action, pick)| **pick && action.is_open())
            .map(|(action, _)| action.id.as_str())
            .collect();
        let has = |need: &String| {
            picked.contains(&need.as_str())
                || matches!(bundle.action(need).unwrap().status, Status::Done { .. })
        };
        let fits =
            !picked.is_empty() && picked.iter().all(|id| bundle.action(id).unwrap().needs.iter().all(has));
        let mut decided = false;
        for death in deaths.iter().map(|point| Faults::at(*point)).chain([Faults::none()]) {
            let process = process("p", &stage.world, &stage.records, &death);
            death
                .until_death(async {
                    process.resume("b").await.unwrap();
                    let now = process.bundles.get("b").await.unwrap();
                    decided |= now.trail.len() > bundle.trail.len();
                    if !decided {
                        let made = process.apply("b", &Picked::some(picked.clone()), &ann()).await;
                        assert_eq!(made.is_ok(), fits, "{made:?}");
                    }
                })
                .await;
        }
        if fits {
            ever_picked.extend(picked.iter().map(|id| (*id).to_owned()));
        }
        let after = stage.applier.bundles.get("b").await.unwrap();
        prop_assert_eq!(
            after.trail.len(),
            bundle.trail.len() + usize::from(fits),
            "decided once or not at all"
        );
        prop_assert!(after.lease.is_none());
        for action in &after.actions {
            let is_picked = ever_picked.contains(&action.id);
            prop_assert_eq!(action.status.is_final(), is_picked, "{}: {:?}", &action.id, &action.status);
        }
        check_effects(&stage.world, &after, "a random plan");
        check_order(&stage.world, &after)?;
    }
    Ok(())
}

/// Nothing is done before what it needs, nor with an id that does not exist.
fn check_order(world: &World, bundle: &Bundle) -> Result<(), TestCaseError> {
    let done = world.done();
    let first = |id: &str| done.iter().position(|done| done.key == format!("bundle/b/{id}"));
    for action in &bundle.actions {
        let Some(place) = first(&action.id) else { continue };
        for need in &action.needs {
            let before = first(need);
            prop_assert!(before.is_some_and(|before| before < place), "{} before {need}", action.id);
        }
    }
    for done in &done {
        prop_assert!(!done.args.to_string().contains("temp_"), "{:?}", done);
    }
    Ok(())
}

/// Somebody else writes the bundle right before whoever goes on with it does: it is theirs, and no failure.
#[tokio::test]
async fn whoever_is_overtaken_while_they_go_on_leaves_it_to_the_other() {
    struct Overtaken(InMemory);
    #[async_trait]
    impl Points for Overtaken {
        async fn writes(&self) {
            let kept = self.0.get("bundle", "b").await.unwrap().unwrap();
            self.0.put("bundle", "b", &kept.doc, Some(kept.version)).await.unwrap();
        }
    }
    let stage = stage(vec![action(1, "keyed", None)]).await;
    let faults = Faults::at(6);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    let mut late = process("two", &stage.world, &stage.records, &Faults::none());
    late.clock = Arc::new(|| at(100_000));
    late.bundles = {
        let overtaken = Arc::new(Overtaken(stage.records.clone()));
        Bundles::new(Arc::new(Passing::new(&stage.records, &overtaken)))
    };
    let conflict = RecordError::Conflict { kind: "bundle".to_owned(), id: "b".to_owned() };
    assert_eq!(late.resume("b").await, Err(CaptureError::Records(conflict)));
    assert_eq!(late.resume_all().await, Ok(Vec::new()));
    assert_eq!(stage.world.done().len(), 1);
}

/// A tool whose first call has its effect and never says so.
struct Silent {
    inner: Arc<dyn Tool>,
    silent: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Tool for Silent {
    fn spec(&self) -> &mica_agent::ToolSpec {
        self.inner.spec()
    }
    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
        let made = self.inner.call(args, cx).await;
        if self.silent.swap(false, Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        made
    }
}

/// Nobody knows whether it was done: it is not done in another shape, and can be found out.
#[tokio::test(start_paused = true)]
async fn what_may_have_been_done_cannot_be_changed_before_that_is_known() {
    for (tool, made) in [("keyed", r#"done "K-1""#), ("same", r#"done "I-better""#)] {
        let mut stage = stage(vec![action(1, tool, None)]).await;
        let inner = stage.applier.tools.find(tool).unwrap();
        stage.applier.tools.add(Arc::new(Silent { inner, silent: true.into() }));
        let picked = Picked::some(["temp_1"]).editing("temp_1", "title", json!("better"));
        let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
        assert_eq!((told(&bundle), stage.world.done().len()), (vec!["unknown".to_owned()], 1));
        assert_eq!(stage.applier.form(&bundle.actions[0])[0].value, json!("better"));

        let other = Picked::some(["temp_1"]).editing("temp_1", "title", json!("a1"));
        let refused = stage.applier.apply("b", &other, &ann()).await.unwrap_err();
        let words = "temp_1 may have been done already, as it was approved before, so it cannot be changed now: approve it \
                     unchanged, which does not do it twice and says what became of it";
        assert_eq!(refused.to_string(), words);
        // A form sends back what it showed: that is no change.
        let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
        assert_eq!(told(&bundle), [made]);
        assert_eq!(bundle.actions[0].tried, None);
        let all = stage.world.done();
        let shapes: BTreeSet<String> = all.iter().map(|done| done.args.to_string()).collect();
        assert_eq!(shapes, [r#"{"title":"better"}"#.to_owned()].into(), "{tool}: in one shape");
    }
}

/// What was in doubt and failed the second time may still have been done the first time.
#[tokio::test(start_paused = true)]
async fn a_failure_does_not_end_the_doubt_about_an_earlier_try() {
    struct Moody(Silent, std::sync::atomic::AtomicUsize);
    #[async_trait]
    impl Tool for Moody {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.0.spec()
        }
        async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            match self.1.fetch_add(1, Ordering::SeqCst) {
                1 => Err(mica_agent::ToolError::new("the line is down")),
                _ => self.0.call(args, cx).await,
            }
        }
    }
    let mut stage = stage(vec![action(1, "keyed", None)]).await;
    let inner = stage.applier.tools.find("keyed").unwrap();
    stage.applier.tools.add(Arc::new(Moody(Silent { inner, silent: true.into() }, 0.into())));
    let (as_it_is, changed) =
        (Picked::some(["temp_1"]), Picked::some(["temp_1"]).editing("temp_1", "title", json!("x")));
    assert_eq!(told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()), ["unknown"]);
    assert_eq!(
        told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()),
        ["failed: the line is down"]
    );
    assert!(matches!(stage.applier.apply("b", &changed, &ann()).await, Err(CaptureError::Picks { .. })));
    assert_eq!(told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()), [r#"done "K-1""#]);
    assert_eq!(stage.world.done().len(), 1);
}

/// What somebody changed counts for the decision they made, and no longer.
#[tokio::test]
async fn an_edit_does_not_stick_to_what_came_to_nothing() {
    let mut actions = chain();
    actions[0].amendable.push("fail".to_owned());
    let stage = stage(actions).await;
    let picked = Picked::some(["temp_1", "temp_2"])
        .editing("temp_1", "fail", json!(true))
        .editing("temp_2", "title", json!("mine"))
        .editing("temp_2", "on", json!("temp_1"));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), ["failed: it is closed", "skipped: temp_1 failed", "open", "open"]);
    assert_eq!(bundle.actions.iter().filter(|action| action.amended.is_some()).count(), 0);
    let Deed::Approved { edits, .. } = &bundle.trail[0].deed else { panic!("{:?}", bundle.trail) };
    assert_eq!(edits.len(), 2, "who wanted what stays on record");
    assert_eq!(stage.applier.form(&bundle.actions[1])[0].value, json!("a2"), "shown is what would be done");
    stage.applier.apply("b", &Picked::some(["temp_1", "temp_2"]), &ann()).await.unwrap();
    assert_eq!(
        stage.world.told(),
        [r#"bundle/b/temp_1 keyed {"title":"a1"}"#, r#"bundle/b/temp_2 keyed {"title":"a2","on":"K-1"}"#]
    );
}
