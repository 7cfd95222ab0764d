//! What the sweep finds, when, and what it does not say again.

use mica_domain::Rights;
use mica_domain::approvals::Person;

use super::*;
use crate::office::tests::played;
use crate::office::triggers::tests::SCRIPT;
use crate::store::{Hand, mail, notes};

#[tokio::test]
async fn the_sweep_comes_at_its_time_once_and_looks_at_each_thread() {
    let played = played(SCRIPT, Vec::new());
    let office = &played.office;
    office.due().await.unwrap();
    assert!(office.runs().await.unwrap().is_empty(), "its time has not come");
    let next = office.upcoming().unwrap();
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].1.to_string(), "2026-11-16T01:00:00Z", "two o'clock in Berlin");
    let wait = next[0].1.duration_since((office.means().now)()) + SignedDuration::from_secs(1);
    played.clock.by(wait);
    office.due().await.unwrap();
    office.due().await.unwrap();
    let runs = office.runs().await.unwrap();
    let of = |trigger: &str| runs.iter().filter(|ran| ran.fire.trigger == trigger).collect::<Vec<_>>();
    let sweep = of(SWEEP);
    assert_eq!(sweep.len(), 1);
    assert_eq!(sweep[0].fire.due, next[0].1);
    let quiet = of("quiet-thread");
    assert_eq!(quiet.len(), SWEPT);
    for ran in &quiet {
        assert_eq!(ran.outcome(), "completed");
        let thread = ran.about().unwrap();
        assert!(sweep[0].summary().contains(thread), "{} {thread}", sweep[0].summary());
        assert_eq!(ran.bundle.as_ref().unwrap().about.subject.as_ref().unwrap().id, thread);
    }
    assert_eq!(played.model.requests().len(), 3 * SWEPT);
    assert!(office.means().store.look(|c| mail::outbox(c, None)).unwrap().is_empty());
    // Two nights without anybody: it is made up for once.
    played.clock.by(SignedDuration::from_hours(48));
    office.due().await.unwrap();
    let runs = office.runs().await.unwrap();
    assert_eq!(runs.iter().filter(|ran| ran.fire.trigger == SWEEP).count(), 2);
}

/// A person said no, later, or nothing yet: nothing of that is said again, unless something changed.
#[tokio::test]
async fn the_sweep_does_not_say_again_what_somebody_decided_about() {
    let played = played(SCRIPT, Vec::new());
    let office = &played.office;
    let now = || (office.means().now)();
    let (hour, person) = (SignedDuration::from_hours(1), Person::new("member:maya", Rights::All));
    let swept = async || -> Vec<String> {
        // Each sweep has a time of its own.
        played.clock.by(SignedDuration::from_secs(1));
        let ran = office.sweep().await.unwrap();
        ran.iter().map(|ran| ran.about().unwrap().to_owned()).collect()
    };
    let ran = office.sweep().await.unwrap();
    assert_eq!(ran.len(), SWEPT);
    let found: Vec<String> = ran.iter().map(|ran| ran.about().unwrap().to_owned()).collect();
    let bundle = |at: usize| ran[at].bundle.as_ref().unwrap().id().to_owned();
    let (later, no, open) = (bundle(0), bundle(1), bundle(2));
    let bundles = office.bundles();
    bundles.snooze(&later, now() + hour * 60, &person, now()).await.unwrap();
    bundles.reject(&no, "not yet", &person, now()).await.unwrap();
    let standing = async || {
        let state = async |id: &str| match bundles.get(id).await.unwrap().state {
            State::Fresh => "fresh".to_owned(),
            State::Snoozed { .. } => "snoozed".to_owned(),
            State::Rejected => "rejected".to_owned(),
            State::Stale { because } => because.to_string(),
            other => format!("{other:?}"),
        };
        [state(&later).await, state(&no).await, state(&open).await]
    };
    // Nothing happened: the next nights look at others.
    for _ in 0..2 {
        played.clock.by(hour * 24);
        let again = swept().await;
        assert!(found.iter().all(|thread| !again.contains(thread)), "{found:?} {again:?}");
        bundles.sweep().await.unwrap();
        assert_eq!(standing().await, ["snoozed", "rejected", "fresh"]);
    }
    // A colleague noted something on all of them: what was put off stays so until its time.
    let hand = Hand { who: "member:jonas".to_owned(), at: now(), key: None };
    for thread in &found[..3] {
        let note = |tx: &rusqlite::Transaction<'_>| notes::add(tx, &hand, thread, "They rang.");
        office.means().store.change(note).unwrap();
    }
    let again = swept().await;
    assert_eq!(
        again.iter().filter(|thread| found.contains(thread)).collect::<Vec<_>>(),
        [&found[1], &found[2]]
    );
    let newer = office.runs().await.unwrap().into_iter().find(|ran| ran.about() == Some(&found[2])).unwrap();
    let took = format!("{} took its place", newer.bundle.unwrap().id());
    assert_eq!(standing().await, ["snoozed".to_owned(), "rejected".to_owned(), took]);
    bundles.sweep().await.unwrap();
    assert_eq!(standing().await[0], "what it is about changed since");
    assert!(!swept().await.contains(&found[0]), "it is still put off");
    // Its time has come.
    played.clock.by(hour * 13);
    assert!(swept().await.contains(&found[0]));
}

/// What is done again after a crash finds no more than once.
#[tokio::test]
async fn a_sweep_that_is_done_again_finds_no_more() {
    let played = played(SCRIPT, Vec::new());
    let first = played.office.sweep_at("night").await.unwrap();
    assert_eq!(first.len(), SWEPT);
    assert_eq!(played.office.sweep_at("night").await.unwrap(), first);
    played.office.due().await.unwrap();
    assert_eq!(played.office.sweep_at("night").await.unwrap(), first);
    assert_eq!(played.model.requests().len(), 3 * SWEPT);
}
