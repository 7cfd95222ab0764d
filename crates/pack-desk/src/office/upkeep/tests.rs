//! Two processes at one desk: what one has the other leaves alone, until it is gone.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::SignedDuration;
use mica_domain::refs::Ref;
use mica_domain::{Lifecycle, State};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;
use crate::kb::Holding;
use crate::office::tests::{Played, played};
use crate::station::Suites;
use crate::store::{Store, articles, jobs};

const SILENT: &str = "name = \"silent\"\n[otherwise]\nsteps = [{ text = \"Yes.\" }]";

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

fn open_article() -> State {
    let mut state = State::default();
    state.refs.add(Ref::open("article", "article:returns"));
    state
}

fn holder(played: &Played) -> Option<String> {
    played.office.means().store.look(|c| articles::holder(c, "article:returns")).unwrap()
}

#[tokio::test]
async fn an_article_is_held_for_as_long_as_its_process_lives() {
    let played = played(SILENT, Vec::new());
    let other = played.beside("second");
    played.office.enter().await.unwrap();
    let run = Holding::new(played.office.station("member:maya"));
    run.begin(&open_article()).await.unwrap();
    for pass in [0, 30, 30, 30] {
        played.clock.by(seconds(pass));
        other.enter().await.unwrap();
        assert_eq!(holder(&played).as_deref(), Some("member:maya"), "{pass}");
        let theirs = Holding::new(other.station("member:jonas")).begin(&open_article()).await;
        let held = "article:returns is being edited by member:maya; nothing was changed. Try again when they are done";
        assert_eq!(theirs, Err(held.to_owned()), "{pass}");
        played.office.beat().await.unwrap();
    }
    assert_eq!(other.beside().await.unwrap(), ["first"]);
    // No sign of life for a minute.
    played.clock.by(seconds(60));
    other.enter().await.unwrap();
    assert_eq!(holder(&played), None);
    assert_eq!(other.beside().await.unwrap(), [] as [&str; 0]);
}

#[tokio::test]
async fn who_is_gone_is_not_waited_for_by_whoever_wants_the_article_next() {
    let played = played(SILENT, Vec::new());
    let other = played.beside("second");
    let run = Holding::new(played.office.station("member:maya"));
    run.begin(&open_article()).await.unwrap();
    played.office.leave().await.unwrap();
    let theirs = Holding::new(other.station("member:jonas"));
    theirs.begin(&open_article()).await.unwrap();
    assert_eq!(holder(&played).as_deref(), Some("member:jonas"));
    // The first one comes back late, and takes nothing from the other.
    let back = Holding::new(played.office.station("member:maya")).begin(&open_article()).await;
    assert!(back.unwrap_err().contains("being edited by member:jonas"));
}

/// A suite that takes until it is told to end.
#[derive(Clone, Default)]
struct Slow(Arc<Notify>);

#[async_trait]
impl Suites for Slow {
    fn names(&self) -> Vec<String> {
        vec!["desk".to_owned()]
    }

    async fn run(
        &self,
        _: &str,
        _: &Store,
        told: &(dyn Fn(i64, i64) + Send + Sync),
    ) -> Result<Value, String> {
        told(1, 2);
        self.0.notified().await;
        Ok(json!({ "cases": [] }))
    }
}

#[tokio::test]
async fn a_job_is_done_by_one_process_and_taken_over_from_one_that_is_gone() {
    let played = played(SILENT, Vec::new());
    let (slow, other) = (Slow::default(), played.beside("second"));
    let station = played.office.station("member:maya").evaluating(Arc::new(slow.clone()));
    let store = &played.office.means().store;
    let request = json!({ "suite": "desk" });
    let job =
        store.change(|tx| jobs::begin(tx, &station.own_hand(), crate::jobs::EVAL_SUITE, &request)).unwrap();
    let state = || store.look(|c| jobs::get(c, &job.id)).unwrap().state;
    let working = tokio::spawn({
        let (station, id) = (station.clone(), job.id.clone());
        async move { crate::jobs::run(&station, &id, &|_, _| {}).await.unwrap() }
    });
    while state() != "running" {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.enter().await.unwrap().jobs, 0, "it is being done");
    assert_eq!(played.office.enter().await.unwrap().jobs, 0, "also for the process that does it");
    played.clock.by(seconds(59));
    played.office.beat().await.unwrap();
    played.clock.by(seconds(59));
    assert_eq!(other.enter().await.unwrap().jobs, 0, "it showed that it lives");
    played.clock.by(seconds(1));
    assert_eq!(other.enter().await.unwrap().jobs, 1, "it did not for a minute");
    while state() != "done" {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    // The one that was taken for dead ends late, and that changes nothing.
    slow.0.notify_one();
    let ended = working.await.unwrap();
    assert_eq!(ended.result.unwrap()["cases"].as_array().unwrap().len(), 5);
    let who = store.look(|c| crate::store::activity::newest(c, Some(&job.id), Some(1))).unwrap();
    assert_eq!(
        (who[0].verb.as_str(), who[0].who.as_str()),
        ("done", "member:maya"),
        "it is hers, whoever did it"
    );
}
