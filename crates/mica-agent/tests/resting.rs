//! What a yes rests on: it counts for as long as that stands as it was shown, and only when it is on record.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::hooks::Record;
use mica_agent::{Answer, Args, Ask, Base, Decision, Decisions, Hooks, Outcome, ToolSpec};
use mica_ai::message::ToolCall;
use serde_json::json;
use support::{Rig, calls, ended, says};

/// A thing with a version, which somebody changes while a person in place thinks.
#[derive(Default)]
struct Thing {
    version: AtomicU32,
    /// Answers in place: how often the thing changes meanwhile, before they say yes.
    restless: Option<Mutex<u32>>,
    shown: Mutex<Vec<Vec<String>>>,
    unwritable: AtomicBool,
}

impl Thing {
    fn changes(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Hooks for Thing {
    async fn base(&self, _: &ToolCall, spec: &ToolSpec, _: &Args) -> Option<Base> {
        (spec.name == "risky").then(|| Base::of("thing", self.version.load(Ordering::SeqCst).to_string()))
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let restless = self.restless.as_ref()?;
        self.shown.lock().unwrap().extend(asks.iter().map(|ask| ask.changed.clone()));
        let mut left = restless.lock().unwrap();
        if *left > 0 {
            *left -= 1;
            self.changes();
        }
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Answered(_) if self.unwritable.load(Ordering::SeqCst) => {
                Err("the disk is full".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn turns() -> [mica_testkit::Turn; 2] {
    [calls([("a", "risky", json!({ "say": "1" })), ("b", "risky", json!({ "say": "2" }))]), says("Done.")]
}

fn asks(outcome: Outcome) -> Vec<Ask> {
    match outcome {
        Outcome::Suspended { asks } => asks,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_what_stands_otherwise_by_now_runs_nothing_and_is_asked_again() {
    let thing = Arc::new(Thing::default());
    let rig = Rig::with(turns(), vec![thing.clone()]);
    let before = asks(rig.prompt("Go.").await);
    assert_eq!(before[0].base, Some(Base::of("thing", "0")));
    thing.changes();
    let both = Decisions::to(&before, [Decision::Allow, Decision::Allow]);
    let again = asks(rig.agent.resume(both.clone()).await.unwrap());
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(again[0].changed, ["thing: 0 → 1"]);
    assert_eq!(again[0].reason, "what it rests on has changed since it was shown; risky asks before it runs");
    assert_ne!(again[0].shown, before[0].shown);
    // The old answer says nothing about what is asked now, however often it is given.
    asks(rig.agent.resume(both).await.unwrap());
    assert_eq!(rig.ran(), Vec::<String>::new());
    let now = Decisions::to(&again, [Decision::Allow, Decision::Deny { reason: "no".to_owned() }]);
    assert_eq!(ended(&rig.agent.resume(now).await.unwrap()), "completed");
    assert_eq!(rig.ran(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_batch_do_not_outdate_each_other() {
    let thing = Arc::new(Thing::default());
    let rig = Rig::with(turns(), vec![thing.clone()]);
    let before = asks(rig.prompt("Go.").await);
    rig.on("call_start a", {
        let thing = thing.clone();
        move |_| thing.changes()
    });
    let both = Decisions::to(&before, [Decision::Allow, Decision::Allow]);
    assert_eq!(ended(&rig.agent.resume(both).await.unwrap()), "completed");
    assert_eq!(rig.ran(), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn who_answers_in_place_is_asked_again_as_well() {
    for changes in [0, 1, 3] {
        let thing = Arc::new(Thing { restless: Some(Mutex::new(changes)), ..Thing::default() });
        let turns = [calls([("a", "risky", json!({ "say": "1" }))]), says("Done.")];
        let rig = Rig::with(turns, vec![thing.clone()]);
        assert_eq!(ended(&rig.prompt("Go.").await), "completed");
        assert_eq!(rig.ran(), ["a"]);
        let shown = thing.shown.lock().unwrap().clone();
        assert_eq!(shown.len(), usize::try_from(changes).unwrap() + 1, "{shown:?}");
        assert_eq!(shown[0], Vec::<String>::new());
        if changes > 0 {
            assert_eq!(shown[1], ["thing: 0 → 1"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_kept_has_no_effect_and_the_question_stays() {
    // In place.
    let thing = Arc::new(Thing { restless: Some(Mutex::new(0)), ..Thing::default() });
    thing.unwritable.store(true, Ordering::SeqCst);
    let rig = Rig::with(turns(), vec![thing]);
    assert_eq!(asks(rig.prompt("Go.").await).len(), 2);
    assert_eq!(rig.ran(), Vec::<String>::new());
    let notice = "notice the answers could not be kept, so they do not count: the session could not be written: the disk is full";
    assert!(rig.told().contains(&notice.to_owned()));
    // Later, and once there is room again.
    let thing = Arc::new(Thing::default());
    let rig = Rig::with(turns(), vec![thing.clone()]);
    let before = asks(rig.prompt("Go.").await);
    thing.unwritable.store(true, Ordering::SeqCst);
    let both = Decisions::to(&before, [Decision::Allow, Decision::Allow]);
    assert_eq!(ended(&rig.agent.resume(both.clone()).await.unwrap()), "failed resume");
    assert_eq!(rig.ran(), Vec::<String>::new());
    thing.unwritable.store(false, Ordering::SeqCst);
    assert_eq!(ended(&rig.agent.resume(both).await.unwrap()), "completed");
    assert_eq!(rig.ran(), ["a", "b"]);
}

/// Things with versions of their own, and somebody in place who answers round by round.
#[derive(Default)]
struct Things {
    versions: Mutex<BTreeMap<String, u32>>,
    /// The next rounds, the last one first. None: nobody is there.
    rounds: Mutex<Vec<Vec<Decision>>>,
}

#[async_trait]
impl Hooks for Things {
    async fn base(&self, _: &ToolCall, _: &ToolSpec, args: &Args) -> Option<Base> {
        let thing = args["say"].as_str().unwrap().to_owned();
        let version = self.versions.lock().unwrap().get(&thing).copied().unwrap_or_default();
        Some(Base::of(thing, version.to_string()))
    }

    async fn approve(&self, _: &[Ask]) -> Option<Vec<Decision>> {
        self.rounds.lock().unwrap().pop()
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_changed_is_asked_again_and_what_was_said_of_the_others_stays_said() {
    for in_place in [true, false] {
        let things = Arc::new(Things::default());
        let risky = |id: &'static str| (id, "risky", json!({ "say": id }));
        let rig =
            Rig::with([calls([risky("a"), risky("b"), risky("c")]), says("Done.")], vec![things.clone()]);
        let before = asks(rig.prompt("Go.").await);
        rig.told();
        things.versions.lock().unwrap().insert("b".to_owned(), 1);
        if in_place {
            things.rounds.lock().unwrap().push(vec![Decision::Allow]);
        }
        let no = Decision::Deny { reason: "no".to_owned() };
        let given = Decisions::to(&before, [Decision::Allow, Decision::Allow, no]);
        let mut outcome = rig.agent.resume(given.clone()).await.unwrap();
        let told = rig.told();
        let asked: Vec<&String> = told.iter().filter(|told| told.starts_with("asked")).collect();
        assert_eq!(asked, ["asked b"]);
        if !in_place {
            // Who goes on says all of it, as what is kept of a suspended run is what is asked in it.
            let again = asks(outcome);
            assert_eq!(again.iter().map(|ask| ask.changed.len()).collect::<Vec<_>>(), [0, 1, 0]);
            assert_eq!(
                rig.agent.with(|cx| cx.tally.approvals).await.unwrap(),
                0,
                "counted once, when it runs"
            );
            let mut given = given;
            given.0[1] = Answer::to(&again[1], Decision::Allow);
            outcome = rig.agent.resume(given).await.unwrap();
        }
        assert_eq!(ended(&outcome), "completed");
        assert_eq!(rig.ran(), ["a", "b"]);
        assert_eq!(rig.agent.with(|cx| cx.tally.approvals).await.unwrap(), 3);
        assert!(rig.said().await.iter().any(|said| said.contains("The person declined: no")));
    }
}
