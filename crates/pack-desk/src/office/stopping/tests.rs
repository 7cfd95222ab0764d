//! Whoever stops does not wait: not for what has not begun, nor for what a process left that is gone.

use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_domain::Records as _;
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::desk::Around;
use crate::office::tests::played;
use crate::office::{Means, Ran};

const SCRIPT: &str = r#"
name = "agents"

[[turns]]
when = { tool_results = 0 }
steps = [{ call = { name = "get_thread", args = {} } }]

[[turns]]
when = { tool_results = 1 }
steps = [{ text = "I looked." }]
"#;

/// Long enough for a machine that is busy, and shorter than any claim.
const SOON: Duration = Duration::from_secs(20);

/// Stops again and again, as a terminal does, until something has ended.
async fn stopped<T>(office: &Office, work: tokio::task::JoinHandle<T>) -> T {
    let stopping = async {
        while !work.is_finished() {
            office.stop().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, stopping).await.unwrap();
    work.await.unwrap()
}

fn came(ran: &[Ran]) -> Vec<(&str, Option<&str>)> {
    let mut came: Vec<_> = ran.iter().map(|ran| (ran.outcome(), ran.problem())).collect();
    came.sort_unstable();
    came
}

#[tokio::test]
async fn what_a_dead_process_left_is_not_waited_for() {
    let played = played(SCRIPT, Vec::new());
    let office = &played.office;
    let (store, now) = (&office.means().store, (office.means().now)());
    // It had all places of the trigger when it was killed.
    for occurrence in ["a", "b"] {
        let fire = json!({
            "trigger": "quiet-thread", "occurrence": occurrence, "agent": "agent:sweep", "due": now, "payload": "Look.",
            "session": format!("fire/quiet-thread/{occurrence}"), "tries": 1,
            "state": "running", "by": "dead/1", "until": now + jiff::SignedDuration::from_secs(60),
        });
        store.put("trigger_fire", &format!("quiet-thread/{occurrence}"), &fire, None).await.unwrap();
    }
    let sweeping = tokio::spawn({
        let office = office.clone();
        async move { office.sweep().await.unwrap() }
    });
    while office.runs().await.unwrap().len() < 7 {
        tokio::task::yield_now().await;
    }
    let ran = stopped(office, sweeping).await;
    assert_eq!(came(&ran), [("skipped", Some(STOPPED)); 5]);
    // Nothing of it runs later; what the dead process left does, for whoever comes next.
    played.clock.by(jiff::SignedDuration::from_secs(61));
    office.due().await.unwrap();
    let all = office.runs().await.unwrap();
    let done: Vec<&str> = all
        .iter()
        .filter(|ran| ran.outcome() == "completed")
        .map(|ran| ran.fire.occurrence.as_str())
        .collect();
    assert_eq!(done, ["b", "a"]);
    assert_eq!(came(&all).iter().filter(|(outcome, _)| *outcome == "skipped").count(), 5);
}

/// Looks, and never ends.
struct Hangs {
    inner: Arc<dyn Tool>,
    begun: Arc<Notify>,
}

#[async_trait]
impl Tool for Hangs {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        self.begun.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn what_runs_ends_and_what_waits_for_a_place_does_not_begin() {
    let played = played(SCRIPT, Vec::new());
    let begun = Arc::new(Notify::new());
    let told = Arc::clone(&begun);
    let around: Around = Arc::new(move |inner| Arc::new(Hangs { inner, begun: Arc::clone(&told) }));
    let office = Office::new(Means { around: Some(around), ..played.office.means().clone() }).unwrap();
    let work = office.begin().await.unwrap();
    let sweeping = tokio::spawn({
        let office = office.clone();
        async move { office.sweep().await.unwrap() }
    });
    tokio::time::timeout(SOON, begun.notified()).await.unwrap();
    let ran = stopped(&office, sweeping).await;
    let came = came(&ran);
    let aborted = came.iter().filter(|(outcome, _)| *outcome == "aborted").count();
    assert!((1..=2).contains(&aborted), "{came:?}");
    assert_eq!(came[aborted..], vec![("skipped", Some(STOPPED)); 5 - aborted], "{came:?}");
    assert!(office.runs().await.unwrap().iter().all(Ran::is_over));
    tokio::time::timeout(SOON, work.end()).await.unwrap();
}
