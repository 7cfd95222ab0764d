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
use crate::store::{Done, Store, articles, jobs};

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
async fn who_slept_for_long_does_not_take_itself_for_dead() {
    let played = played(SILENT, Vec::new());
    played.office.enter().await.unwrap();
    let station = played.office.station("member:maya");
    let run = Holding::new(station.clone());
    run.begin(&open_article()).await.unwrap();
    played.clock.by(seconds(600));
    crate::jobs::recover(&station).await.unwrap();
    assert_eq!(holder(&played).as_deref(), Some("member:maya"));
}

/// It was taken for dead, and its lock was given back. What it edits then it holds again, as a process that lives.
#[tokio::test]
async fn a_run_that_slept_holds_again_what_it_edits() {
    let played = played(SILENT, Vec::new());
    let other = played.beside("second");
    let station = played.office.station("member:maya");
    Holding::new(station.clone()).begin(&open_article()).await.unwrap();
    played.clock.by(seconds(61));
    other.enter().await.unwrap();
    assert_eq!(holder(&played), None);
    let title =
        json!({ "article": "article:returns", "title": "Returns, again" }).as_object().unwrap().clone();
    let cx = mica_agent::ToolCx::new("run".into(), "call".into(), Default::default(), |_| {});
    crate::tools::edit_article::tool(&station).call(title, &cx).await.unwrap();
    assert_eq!(holder(&played).as_deref(), Some("member:maya"));
    for pass in [0, 59] {
        played.clock.by(seconds(pass));
        other.enter().await.unwrap();
        assert_eq!(holder(&played).as_deref(), Some("member:maya"), "{pass}");
    }
    played.clock.by(seconds(2));
    other.enter().await.unwrap();
    assert_eq!(holder(&played), None, "it showed no sign of life since");
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

/// One of each kind that cannot be read, and one that is no JSON at all: everybody enters, and all of it is told and kept.
#[tokio::test]
async fn what_cannot_be_read_keeps_nobody_out() {
    let played = played(SILENT, Vec::new());
    let store = played.office.means().store.clone();
    let kinds = [
        "approval",
        "bundle",
        "bundle_subject",
        "task_watch",
        "thread_position",
        "trigger_fire",
        "trigger_state",
    ];
    for kind in kinds {
        let insert = "INSERT INTO documents (kind, id, version, doc) VALUES (?1, ?2, 1, ?3)";
        store
            .change(|tx| {
                tx.execute(insert, (kind, "odd", "{\"odd\": 1, \"settled\": 7, \"held\": 7}"))?;
                Ok(tx.execute(insert, (kind, "cut", "{\"trail\": [")).map(drop)?)
            })
            .unwrap();
    }
    let told = played.office.enter().await.unwrap().problems;
    for kind in kinds {
        for id in ["odd", "cut"] {
            let begins = format!("{kind} {id} cannot be read, and is left aside: ");
            assert!(told.iter().any(|problem| problem.starts_with(&begins)), "{begins} {told:?}");
        }
    }
    assert_eq!(told.len(), 2 * kinds.len());
    let work = played.office.begin().await.unwrap();
    played.office.due().await.unwrap();
    assert!(played.office.runs().await.unwrap().is_empty());
    assert!(played.office.bundles().list().await.unwrap().is_empty());
    assert!(!played.office.is_watching().await.unwrap());
    work.end().await;
    let left: i64 = store
        .look(|c| {
            Ok(c.query_row("SELECT count(*) FROM documents WHERE id IN ('odd', 'cut')", [], |row| {
                row.get(0)
            })?)
        })
        .unwrap();
    assert_eq!(left, 2 * i64::try_from(kinds.len()).unwrap(), "nothing was deleted");
}

/// What calls came to is forgotten after a quarter, but for those of proposals that may be gone on with.
#[tokio::test]
async fn keys_go_once_nobody_can_use_them_again() {
    use mica_domain::capture::{About, Bundle, Lease, State};
    let played = played(SILENT, Vec::new());
    let store = played.office.means().store.clone();
    let (day, now) = (SignedDuration::from_hours(24), || (played.office.means().now)());
    let key = async |key: &str| {
        let hand = played.office.station("member:maya").hand(key);
        let done = Done { text: String::new(), details: Value::Null };
        store.once("test", hand, move |_, _| Ok(done)).await.unwrap();
    };
    let keys = || -> Vec<String> {
        let read = |c: &rusqlite::Connection| {
            let mut select = c.prepare("SELECT key FROM effects ORDER BY key")?;
            let rows = select.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        };
        store.look(read).unwrap()
    };
    for (id, state, lease) in [
        ("held", State::Approved, Some(Lease { holder: "gone".to_owned(), until: now() })),
        ("over", State::Rejected, None),
    ] {
        let about = About { bundle: id.to_owned(), ..About::default() };
        let bundle = Bundle {
            about,
            made: now(),
            summary: String::new(),
            actions: Vec::new(),
            state,
            lease,
            trail: Vec::new(),
        };
        store.put("bundle", id, &serde_json::to_value(bundle).unwrap(), None).await.unwrap();
    }
    for one in ["bundle/held/temp_1", "bundle/over/temp_1", "bundle/gone/temp_1", "run/call"] {
        key(one).await;
    }
    played.clock.by(day * 89);
    key("young").await;
    played.office.prune(&Retention::default()).await.unwrap();
    assert_eq!(keys().len(), 5, "nothing is old enough");
    played.clock.by(day * 2);
    played.office.prune(&Retention::default()).await.unwrap();
    assert_eq!(keys(), ["bundle/held/temp_1", "young"]);
    played.clock.by(day);
    key("new").await;
    let few = Retention { ended: Keep { most: 1, ..Retention::default().ended }, ..Retention::default() };
    played.office.prune(&few).await.unwrap();
    assert_eq!(keys(), ["bundle/held/temp_1", "new"]);
}

/// Whoever is there lets go of what is over, by the desk's clock, and one of them does.
#[tokio::test]
async fn what_is_over_goes_every_few_hours() {
    let played = played(SILENT, Vec::new());
    let store = played.office.means().store.clone();
    let other = played.beside("second");
    let ended = json!({
        "trigger": "new-mail", "occurrence": "m", "agent": "agent:triage", "due": (played.office.means().now)(),
        "payload": "", "session": "s", "state": "ended", "at": (played.office.means().now)(), "outcome": "completed",
        "summary": "",
    });
    store.put("trigger_fire", "new-mail/m", &ended, None).await.unwrap();
    played.office.enter().await.unwrap();
    assert_eq!(other.runs().await.unwrap().len(), 1);
    played.clock.by(SignedDuration::from_hours(24 * 90));
    assert!(due(&store, (played.office.means().now)()).await.unwrap(), "it is time");
    other.enter().await.unwrap();
    assert_eq!(other.runs().await.unwrap().len(), 1, "somebody did it a moment ago");
    played.clock.by(PRUNES);
    other.enter().await.unwrap();
    assert!(other.runs().await.unwrap().is_empty());
}
