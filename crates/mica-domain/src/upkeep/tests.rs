//! What goes and what stays.

use serde_json::{Value, json};

use super::*;
use crate::capture::testing::{action, bundle};
use crate::capture::{Bundles, Lease, Status};
use crate::records::InMemory;
use crate::runners::fake::at;

const NOW: &str = "2026-06-01T00:00:00Z";

/// So many days ago.
fn ago(days: i64) -> Timestamp {
    at(NOW) - SignedDuration::from_hours(24 * days)
}

fn fire(name: &str, state: &Value) -> Value {
    let mut fire = json!({ "trigger": "t", "occurrence": name, "agent": "a", "due": ago(400), "payload": "", "session": "s" });
    fire.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
    fire
}

fn ended(days: i64) -> Value {
    json!({ "state": "ended", "at": ago(days), "outcome": "completed", "summary": "" })
}

async fn ids(records: &InMemory, kind: &str) -> Vec<String> {
    records.list(kind).await.unwrap().into_iter().map(|(id, _)| id).collect()
}

#[tokio::test]
async fn what_is_over_goes_by_age_and_count_and_the_rest_stays() {
    let records = InMemory::default();
    let put = async |kind: &str, id: &str, doc: Value| {
        records.put(kind, id, &doc, None).await.unwrap();
    };
    for (id, state) in [
        ("a-old", ended(91)),
        ("b-young", ended(89)),
        ("c-skipped", json!({ "state": "skipped", "at": ago(91), "reason": "" })),
        ("d-waits", json!({ "state": "pending", "next": ago(300) })),
        ("e-runs", json!({ "state": "running", "by": "x", "until": ago(300) })),
    ] {
        put(fire::FIRE, id, fire(id, &state)).await;
    }
    put(fire::FIRE, "f-broken", json!("{")).await;
    let notice = json!({ "kind": "k", "ref": "r", "status": "completed", "line": "", "instruction": "" });
    for (id, state) in [
        ("a-told", json!({ "state": "delivered", "at": ago(91), "notice": notice, "outcome": "completed" })),
        ("b-gone", json!({ "state": "gone", "at": ago(91), "reason": "" })),
        ("c-goes-on", json!({ "state": "watching" })),
    ] {
        let mut watch = json!({ "session": "s", "kind": "k", "ref": id, "call": "c", "since": ago(400), "next": ago(400) });
        watch.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
        put(tasks::KIND, id, watch).await;
    }
    let retention = Retention::default();
    let pruned = prune(&records, &retention, at(NOW)).await.unwrap();
    assert_eq!(pruned, Pruned { fires: 2, watches: 2, ..Pruned::default() });
    assert_eq!(ids(&records, fire::FIRE).await, ["b-young", "d-waits", "e-runs", "f-broken"]);
    assert_eq!(ids(&records, tasks::KIND).await, ["c-goes-on"]);
    assert_eq!(prune(&records, &retention, at(NOW)).await, Ok(Pruned::default()), "once is enough");

    for (id, days) in [("g", 3), ("h", 4), ("i", 1), ("j", 0)] {
        put(fire::FIRE, id, fire(id, &ended(days))).await;
    }
    let few = Retention { ended: Keep { most: 1, ..retention.ended }, ..retention };
    assert_eq!(prune(&records, &few, at(NOW)).await.unwrap().fires, 3);
    assert_eq!(
        ids(&records, fire::FIRE).await,
        ["d-waits", "e-runs", "f-broken", "i", "j"],
        "of the last two days nothing goes, however many there are"
    );
    let unread = unreadable(&records).await.unwrap();
    assert_eq!(unread.len(), 1);
    assert!(
        unread[0].to_string().starts_with("trigger_fire f-broken cannot be read, and is left aside: "),
        "{unread:?}"
    );
}

#[tokio::test]
async fn a_bundle_stays_for_as_long_as_somebody_may_decide_about_it_or_go_on_with_it() {
    let records = InMemory::default();
    let bundles = Bundles::new(std::sync::Arc::new(records.clone()));
    let keep = async |id: &str, subject: Option<&str>, change: &(dyn Fn(&mut Bundle) + Sync)| {
        let mut one = bundle(id, 0, vec![action(1, "keyed", None)]);
        one.made = ago(800);
        one.about.subject = subject.map(|id| capture::Subject::new("ticket", id));
        change(&mut one);
        bundles.add(one).await.unwrap();
    };
    let done = |bundle: &mut Bundle| {
        bundle.state = State::Approved;
        bundle.actions[0].status = Status::Done { text: String::new(), details: Value::Null, made: None };
    };
    keep("a-done", Some("T-1"), &done).await;
    keep("b-fresh", None, &|_| {}).await;
    keep("c-rejected", None, &|bundle| bundle.state = State::Rejected).await;
    keep("d-held", None, &|bundle| {
        done(bundle);
        bundle.lease = Some(Lease { holder: "x".to_owned(), until: ago(800) });
    })
    .await;
    keep("e-failed", None, &|bundle| {
        bundle.state = State::Approved;
        bundle.actions[0].status = Status::Failed { reason: "no".to_owned() };
    })
    .await;
    keep("f-unknown", None, &|bundle| {
        bundle.state = State::Rejected;
        bundle.actions[0].status = Status::Unknown { reason: "?".to_owned() };
        bundle.actions[0].tried = Some(bundle.actions[0].args.clone());
    })
    .await;
    keep("g-young", Some("T-2"), &|bundle| {
        done(bundle);
        bundle.made = ago(700);
    })
    .await;
    let trace = |days: i64| json!({ "at": ago(days), "by": "ann", "deed": "rejected", "reason": "no" });
    records.put(approvals::KIND, "s/old", &json!({ "trail": [trace(731)] }), None).await.unwrap();
    records.put(approvals::KIND, "s/new", &json!({ "trail": [trace(700)] }), None).await.unwrap();
    let pruned = prune(&records, &Retention::default(), at(NOW)).await.unwrap();
    assert_eq!(pruned, Pruned { bundles: 2, questions: 1, ..Pruned::default() });
    assert_eq!(ids(&records, capture::KIND).await, ["b-fresh", "d-held", "e-failed", "f-unknown", "g-young"]);
    assert_eq!(ids(&records, capture::NEWEST).await, ["6:ticket:T-2"]);
    assert_eq!(ids(&records, approvals::KIND).await, ["s/new"]);
}
