//! Which bundle counts, and what people may do with it.

use std::sync::Mutex;

use super::super::testing::{Dying, Faults, action, at, bundle};
use super::*;
use crate::records::InMemory;
use crate::rights::Rights;

fn ann() -> Person {
    Person::new("ann", Rights::All)
}

fn one(id: &str, made: i64) -> Bundle {
    bundle(id, made, vec![action(1, "keyed", None)])
}

async fn states(bundles: &Bundles) -> Vec<String> {
    let name = |bundle: &Bundle| match &bundle.state {
        State::Fresh => "fresh".to_owned(),
        State::Snoozed { .. } => "snoozed".to_owned(),
        State::Stale { because: Outdated::Activity } => "stale".to_owned(),
        State::Stale { because: Outdated::Superseded { by } } => format!("superseded by {by}"),
        State::Approved => "approved".to_owned(),
        State::PartiallyApproved => "partially".to_owned(),
        State::Rejected => "rejected".to_owned(),
    };
    let all = bundles.list().await.unwrap();
    all.iter().map(|bundle| format!("{}: {}", bundle.id(), name(bundle))).collect()
}

#[tokio::test]
async fn the_newest_about_a_subject_counts_in_whatever_order_they_come() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    bundles.add(one("b", 3)).await.unwrap();
    let late = bundles.add(one("c", 2)).await.unwrap();
    assert_eq!(late.state, State::Stale { because: Outdated::Superseded { by: "b".to_owned() } });
    let mut other = one("d", 1);
    other.about.subject = Some(Subject::new("ticket", "T-2"));
    bundles.add(other).await.unwrap();
    let mut none = one("e", 1);
    none.about.subject = None;
    bundles.add(none.clone()).await.unwrap();
    none.about.bundle = "f".to_owned();
    bundles.add(none).await.unwrap();
    assert_eq!(
        states(&bundles).await,
        ["a: superseded by b", "b: fresh", "c: superseded by b", "d: fresh", "e: fresh", "f: fresh"]
    );
    let waiting: Vec<String> =
        bundles.waiting(at(9)).await.unwrap().iter().map(|bundle| bundle.id().to_owned()).collect();
    assert_eq!(waiting, ["b", "f", "e", "d"]);
}

/// A crash at any write: adding again makes it whole, and in between nobody sees two that count.
#[tokio::test]
async fn one_counts_wherever_adding_died() {
    let clean = Faults::none();
    let records = Dying::new(&InMemory::default(), &clean);
    let bundles = Bundles::new(Arc::new(records));
    bundles.add(one("a", 1)).await.unwrap();
    let first = clean.passed();
    bundles.add(one("b", 2)).await.unwrap();
    let points = clean.passed();
    assert_eq!((first, points), (4, 10), "two writes for the first, three for one that takes its place");
    for point in first + 1..=points {
        let inner = InMemory::default();
        let faults = Faults::at(point);
        let dying = Bundles::new(Arc::new(Dying::new(&inner, &faults)));
        dying.add(one("a", 1)).await.unwrap();
        assert!(faults.until_death(dying.add(one("b", 2))).await.is_none(), "{point}");
        let bundles = Bundles::new(Arc::new(inner));
        let between = states(&bundles).await;
        let counting = between.iter().filter(|state| state.ends_with("fresh")).count();
        // Until it is claimed, the older one counts and the newer one is about to.
        assert!(counting >= 1, "{point}: {between:?}");
        bundles.add(one("b", 2)).await.unwrap();
        assert_eq!(states(&bundles).await, ["a: superseded by b", "b: fresh"], "{point}");
    }
}

#[tokio::test]
async fn activity_makes_it_stale_and_a_person_renews_it() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    let subject = Subject::new("ticket", "T-1");
    assert_eq!(bundles.touched(&subject, &Base::version("7")).await, Ok(None), "as it was");
    assert_eq!(bundles.touched(&Subject::new("ticket", "T-9"), &Base::version("8")).await, Ok(None));
    assert_eq!(bundles.touched(&subject, &Base::version("8")).await, Ok(Some("a".to_owned())));
    assert_eq!(bundles.touched(&subject, &Base::version("9")).await, Ok(None), "it is stale already");
    assert_eq!(states(&bundles).await, ["a: stale"]);
    let refused = bundles.snooze("a", at(9), &ann(), at(2)).await.unwrap_err();
    assert!(refused.to_string().starts_with("bundle a is stale"), "{refused}");

    let renewed = bundles.renew("a", &ann(), at(5)).await.unwrap();
    assert_eq!((renewed.state, renewed.about.base), (State::Fresh, Base::at(at(5))));
    assert_eq!(renewed.trail, [Trace { at: at(5), by: "ann".to_owned(), deed: Deed::Renewed }]);
    assert!(bundles.renew("a", &ann(), at(6)).await.is_err(), "it is fresh");

    // One that was superseded takes its place back.
    bundles.add(one("b", 7)).await.unwrap();
    assert_eq!(states(&bundles).await, ["a: superseded by b", "b: fresh"]);
    bundles.renew("a", &ann(), at(8)).await.unwrap();
    assert_eq!(states(&bundles).await, ["a: fresh", "b: superseded by a"]);
}

#[test]
fn what_counts_as_activity() {
    let check = |then: Base, now: Base, expect: bool| {
        assert_eq!(then.is_outdated_by(&now), expect, "{then:?} {now:?}");
    };
    check(Base::version("1"), Base::version("1"), false);
    check(Base::version("2"), Base::version("1"), true);
    check(Base::at(at(1)), Base::at(at(1)), false);
    check(Base::at(at(1)), Base::at(at(2)), true);
    check(Base::at(at(2)), Base::at(at(1)), false);
    check(Base::version("1"), Base::at(at(2)), true);
    check(Base::default(), Base::version("2"), true);
    check(Base::version("1"), Base::default(), false);
    let both = |version: &str, second| Base { version: Some(version.to_owned()), at: Some(at(second)) };
    check(both("1", 1), both("1", 2), true);
    check(both("1", 2), both("2", 1), true);
}

#[tokio::test]
async fn snoozed_until_a_time() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    bundles.snooze("a", at(10), &ann(), at(2)).await.unwrap();
    assert_eq!(bundles.waiting(at(9)).await, Ok(Vec::new()));
    assert_eq!(bundles.waiting(at(10)).await.unwrap().len(), 1);
    // What happens meanwhile counts all the same.
    bundles.touched(&Subject::new("ticket", "T-1"), &Base::version("8")).await.unwrap();
    assert_eq!(states(&bundles).await, ["a: stale"]);
}

#[tokio::test]
async fn a_no_is_a_no() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    let rejected = bundles.reject("a", "not like that", &ann(), at(2)).await.unwrap();
    let deed = Deed::Rejected { reason: "not like that".to_owned() };
    assert_eq!(rejected.trail, [Trace { at: at(2), by: "ann".to_owned(), deed }]);
    assert_eq!(bundles.waiting(at(9)).await, Ok(Vec::new()));
    for error in [
        bundles.reject("a", "again", &ann(), at(3)).await.unwrap_err(),
        bundles.snooze("a", at(9), &ann(), at(3)).await.unwrap_err(),
        bundles.renew("a", &ann(), at(3)).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "bundle a was rejected");
    }
    assert_eq!(bundles.get("z").await, Err(CaptureError::Unknown { id: "z".to_owned() }));
}

/// How subjects stand, as the product says it.
struct Product(Mutex<Result<u64, String>>);

#[async_trait]
impl Activity for Product {
    async fn of(&self, _: &Subject) -> Result<Base, String> {
        self.0.lock().unwrap().clone().map(|version| Base::version(version.to_string()))
    }
}

#[tokio::test]
async fn a_sweep_asks_the_product() {
    let product = Arc::new(Product(Mutex::new(Ok(7))));
    let bundles =
        Bundles::new(Arc::new(InMemory::default())).watching(Arc::clone(&product) as Arc<dyn Activity>);
    bundles.add(one("a", 1)).await.unwrap();
    assert_eq!(bundles.sweep().await, Ok(Vec::new()));
    *product.0.lock().unwrap() = Err("the database is away".to_owned());
    let error = bundles.sweep().await.unwrap_err();
    assert_eq!(error.to_string(), "nobody knows whether the subject has changed: the database is away");
    *product.0.lock().unwrap() = Ok(8);
    assert_eq!(bundles.sweep().await, Ok(vec!["a".to_owned()]));
    assert_eq!(bundles.sweep().await, Ok(Vec::new()));
    // Renewed as the product says that it stands.
    assert_eq!(bundles.renew("a", &ann(), at(5)).await.unwrap().about.base, Base::version("8"));
    assert_eq!(bundles.sweep().await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_base_that_was_left_out_counts_from_the_end_of_the_run() {
    let mut plain = one("a", 1);
    plain.about.base = Base::default();
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    assert_eq!(bundles.add(plain.clone()).await.unwrap().about.base, Base::at(at(1)));
    let product = Arc::new(Product(Mutex::new(Ok(9))));
    let bundles = Bundles::new(Arc::new(InMemory::default())).watching(product);
    assert_eq!(bundles.add(plain).await.unwrap().about.base, Base::version("9"));
}

/// Two runs that were given one name: what the second captured is not lost.
#[tokio::test]
async fn what_proposes_something_else_under_the_same_name_gets_a_name_of_its_own() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    // The same again, after a crash.
    assert_eq!(bundles.add(one("a", 1)).await.unwrap().id(), "a");
    let other = bundle("a", 2, vec![action(1, "unsafe", None), action(2, "keyed", None)]);
    assert_eq!(bundles.add(other).await.unwrap().id(), "a-2");
    assert_eq!(states(&bundles).await, ["a: superseded by a-2", "a-2: fresh"]);
}

/// The rest of one that was approved in part is proposed anew by a newer one: both would do it twice.
#[tokio::test]
async fn the_rest_of_one_that_was_approved_in_part_is_superseded_too() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let mut partly = one("a", 1);
    partly.state = State::PartiallyApproved;
    bundles.add(partly).await.unwrap();
    assert_eq!(states(&bundles).await, ["a: partially"]);
    bundles.add(one("b", 2)).await.unwrap();
    assert_eq!(states(&bundles).await, ["a: superseded by b", "b: fresh"]);
}

/// Somebody decided about the first part while the run was tried again: the rest is a bundle of its own, with true ids.
#[tokio::test]
async fn what_comes_behind_a_decision_is_another_bundle() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("fire", 1)).await.unwrap();
    let Read { bundle: mut decided, version } = bundles.read("fire").await.unwrap();
    let made = Some(serde_json::json!("K-1"));
    decided.actions[0].status =
        crate::capture::Status::Done { text: String::new(), details: Value::Null, made };
    decided.state = State::Approved;
    bundles.write(&decided, version).await.unwrap();

    let grown = bundle("fire", 2, vec![action(1, "keyed", None), action(2, "keyed", Some(1))]);
    let rest = bundles.add(grown.clone()).await.unwrap();
    assert_eq!((rest.id(), rest.actions.len(), &rest.actions[0].needs[..]), ("fire-2", 1, &[][..]));
    assert_eq!(
        Value::Object(rest.actions[0].args.clone()),
        serde_json::json!({ "title": "a2", "on": "K-1" })
    );
    assert_eq!(bundles.add(grown).await.unwrap().id(), "fire-2", "adding again after a crash adds nothing");
    assert_eq!(bundles.list().await.unwrap().len(), 2);
}

/// What cannot be read keeps nobody from the rest, and stays where it is.
#[tokio::test]
async fn what_cannot_be_read_is_left_aside() {
    let records = InMemory::default();
    let bundles = Bundles::new(Arc::new(records.clone()));
    bundles.add(one("b", 1)).await.unwrap();
    let broken = serde_json::json!({ "bundle": "a", "actions": 7 });
    records.put(KIND, "a", &broken, None).await.unwrap();
    assert_eq!(states(&bundles).await, ["b: fresh"]);
    assert_eq!(bundles.sweep().await, Ok(Vec::new()));
    assert!(matches!(bundles.get("a").await, Err(CaptureError::Unreadable { .. })));
    // The name is taken, so a new one of that name gets another.
    assert_eq!(bundles.add(one("a", 2)).await.unwrap().id(), "a-2");
    assert_eq!(records.get(KIND, "a").await.unwrap().unwrap().doc, broken);
    // Which one counts is found again, and what was there is kept.
    let key = Subject::new("ticket", "T-1").key();
    let version = records.get(NEWEST, &key).await.unwrap().unwrap().version;
    records.put(NEWEST, &key, &serde_json::json!("?"), Some(version)).await.unwrap();
    assert_eq!(bundles.add(one("c", 3)).await.unwrap().state, State::Fresh);
    assert_eq!(states(&bundles).await[2], "c: fresh");
    let aside = records.list(records::ASIDE).await.unwrap();
    assert_eq!(aside[0].0, format!("{NEWEST}/{key}@{}", version + 1));
    assert_eq!(aside[0].1.doc, serde_json::json!("?"));
}

/// What did not change is not said to have changed.
#[tokio::test]
async fn why_a_bundle_is_stale_is_said_as_it_is() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    bundles.add(one("a", 1)).await.unwrap();
    bundles.add(one("b", 2)).await.unwrap();
    let superseded = bundles.snooze("a", at(9), &ann(), at(3)).await.unwrap_err().to_string();
    let words = "bundle a is stale: b took its place. Decide about that one, or renew this one if it is the right one";
    assert_eq!(superseded, words);
    bundles.touched(&Subject::new("ticket", "T-1"), &Base::version("8")).await.unwrap();
    let changed = bundles.snooze("b", at(9), &ann(), at(3)).await.unwrap_err().to_string();
    let words = "bundle b is stale: what it is about has changed since. Look at it again, and renew it if it is still right";
    assert_eq!(changed, words);
    let why = |because: Outdated| because.to_string();
    assert_eq!(why(Outdated::Activity), "what it is about changed since");
    assert_eq!(why(Outdated::Superseded { by: "b".to_owned() }), "b took its place");
}
