//! Jobs are found again, and end once.

use super::*;
use crate::desk::tests::station;
use crate::store::tests::{filled, hand};

#[tokio::test]
async fn what_a_dead_process_began_is_gone_on_with() {
    let (_folder, store) = filled();
    let job = store.change(|tx| jobs::begin(tx, &hand(None), REINDEX, &json!({}))).unwrap();
    store.change(|tx| articles::hold(tx, &hand(None), "article:returns", "dead")).unwrap();
    let station = station(&store);
    assert_eq!(recover(&station).await.unwrap(), 1);
    // Whoever does it first, it ends once.
    let ended = run(&station, &job.id, &|_, _| {}).await.unwrap();
    assert_eq!((ended.state.as_str(), ended.result), ("done", Some(json!({ "articles": 15 }))));
    assert_eq!(store.look(|c| articles::holder(c, "article:returns")).unwrap(), None);
}

#[tokio::test]
async fn what_conversations_are_told() {
    let (_folder, store) = filled();
    let station = station(&store);
    let kinds = kinds(&store);
    let job =
        store.change(|tx| jobs::begin(tx, &hand(None), EVAL_SUITE, &json!({ "suite": "desk" }))).unwrap();
    let [reindex, suite] = kinds.as_slice() else { panic!("two kinds") };
    assert_eq!(reindex.load(&job.id).await, Ok(None), "a job of another kind is none of its own");
    let waiting = suite.load(&job.id).await.unwrap().unwrap();
    assert!(!suite.is_terminal(&waiting));
    run(&station, &job.id, &|_, _| {}).await.unwrap();
    let done = suite.load(&job.id).await.unwrap().unwrap();
    assert!(suite.is_terminal(&done));
    let told = suite.summarise(&done);
    assert_eq!((told.status, told.line.as_str()), (TaskStatus::Completed, "job:001: 5 of 5 cases passed"));
    let odd =
        store.change(|tx| jobs::begin(tx, &hand(None), EVAL_SUITE, &json!({ "suite": "odd" }))).unwrap();
    run(&station, &odd.id, &|_, _| {}).await.unwrap();
    let failed = suite.summarise(&suite.load(&odd.id).await.unwrap().unwrap());
    assert_eq!(
        (failed.status, failed.line.as_str()),
        (TaskStatus::Failed, "job:002 failed: there is no suite \"odd\"")
    );
}
