//! Proposals that two processes look at.

use std::time::Duration;

use jiff::SignedDuration;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use tokio::sync::Notify;

use mica_domain::capture::Status;

use super::*;
use crate::desk::Around;
use crate::office::Means;
use crate::office::tests::played;
use crate::store::mail;

const SCRIPT: &str = r#"
name = "agents"

[[turns]]
when = { tool_results = 0 }
steps = [{ call = { name = "reply_to_thread", args = { mode = "send", body = "Sorry." } } }]

[[turns]]
when = { tool_results = 1 }
steps = [{ text = "I propose a reply." }]
"#;

/// Has its effect, and never says so.
struct Hangs {
    inner: Arc<dyn Tool>,
    done: Arc<Notify>,
}

#[async_trait]
impl Tool for Hangs {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let made = self.inner.call(args, cx).await;
        if self.spec().name == "reply_to_thread" && made.is_ok() {
            self.done.notify_one();
            std::future::pending::<()>().await;
        }
        made
    }
}

#[tokio::test]
async fn what_one_process_applies_the_other_leaves_to_it_until_its_time_is_over() {
    let played = played(SCRIPT, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let done = Arc::new(Notify::new());
    let told = Arc::clone(&done);
    let around: Around = Arc::new(move |inner| Arc::new(Hangs { inner, done: Arc::clone(&told) }));
    let slow = played.beside("slow");
    let slow = Office::new(Means { around: Some(around), ..slow.means().clone() }).unwrap();
    let (id, all) = (bundle.id().to_owned(), Picked::all(&bundle));
    let applying = tokio::spawn({
        let (slow, id, all) = (slow.clone(), id.clone(), all.clone());
        async move { slow.apply("member:maya", &id, &all).await }
    });
    tokio::time::timeout(Duration::from_secs(100), done.notified()).await.unwrap();

    for office in [&played.office, &slow] {
        let entered = office.enter().await.unwrap();
        assert_eq!((entered.bundles, entered.problems), (Vec::new(), Vec::new()), "{}", office.means().life);
    }
    let refused = played.office.apply("member:jonas", &id, &all).await.unwrap_err().to_string();
    assert!(refused.starts_with(&format!("bundle {id} is being applied by slow/")), "{refused}");

    played.clock.by(SignedDuration::from_mins(10));
    let resumed = played.office.enter().await.unwrap().bundles;
    assert_eq!(resumed.iter().map(Bundle::id).collect::<Vec<_>>(), [id.as_str()]);
    assert_eq!((resumed[0].is_at_rest(), resumed[0].is_open()), (true, false));
    let sent = played.office.means().store.look(|c| mail::outbox(c, None)).unwrap();
    assert_eq!(sent.len(), 1, "it is sent once");
    assert_eq!(sent[0].author, "member:maya", "by who approved it, whoever went on with it");
    applying.abort();
}

/// Is begun, and never does anything.
struct Stands {
    inner: Arc<dyn Tool>,
    begun: Arc<Notify>,
}

#[async_trait]
impl Tool for Stands {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        if self.spec().name == "reply_to_thread" {
            self.begun.notify_one();
            std::future::pending::<()>().await;
        }
        self.inner.call(args, cx).await
    }
}

#[tokio::test]
async fn what_somebody_approved_and_may_not_do_any_more_is_not_done_for_them() {
    let played = played(SCRIPT, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let begun = Arc::new(Notify::new());
    let told = Arc::clone(&begun);
    let around: Around = Arc::new(move |inner| Arc::new(Stands { inner, begun: Arc::clone(&told) }));
    let slow = played.beside("slow");
    let slow = Office::new(Means { around: Some(around), ..slow.means().clone() }).unwrap();
    let (id, all) = (bundle.id().to_owned(), Picked::all(&bundle));
    let applying = tokio::spawn(async move { slow.apply("member:maya", &id, &all).await });
    tokio::time::timeout(Duration::from_secs(100), begun.notified()).await.unwrap();
    applying.abort();
    let _ = applying.await;

    let store = &played.office.means().store;
    store
        .change(|tx| Ok(tx.execute("UPDATE members SET role = 'viewer' WHERE id = 'member:maya'", [])?))
        .unwrap();
    played.clock.by(SignedDuration::from_mins(10));
    let resumed = played.office.enter().await.unwrap().bundles;
    let became: Vec<&Status> = resumed[0].actions.iter().map(|action| &action.status).collect();
    let reason =
        "member:maya approved it and may not do it any more: the right mail.draft is missing".to_owned();
    assert_eq!(became, [&Status::Unknown { reason }]);
    assert_eq!(store.look(|c| mail::outbox(c, None)).unwrap().len(), 0);
}

/// Has its effect once, and does not say so the first time.
struct HangsOnce(Hangs, std::sync::atomic::AtomicBool);

#[async_trait]
impl Tool for HangsOnce {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let replies = self.spec().name == "reply_to_thread";
        match replies && self.1.swap(false, std::sync::atomic::Ordering::SeqCst) {
            true => self.0.call(args, cx).await,
            false => self.0.inner.call(args, cx).await,
        }
    }
}

/// One at a time within a process, too; and what nobody is at any more is nobody's, without any time that passes.
#[tokio::test]
async fn what_a_task_of_this_process_left_is_gone_on_with_at_once() {
    let played = played(SCRIPT, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let done = Arc::new(Notify::new());
    let told = Arc::clone(&done);
    let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let around: Around = Arc::new(move |inner: Arc<dyn Tool>| {
        let hangs = inner.spec().name == "reply_to_thread" && first.load(std::sync::atomic::Ordering::SeqCst);
        if hangs {
            first.store(false, std::sync::atomic::Ordering::SeqCst);
        }
        Arc::new(HangsOnce(Hangs { inner, done: Arc::clone(&told) }, hangs.into()))
    });
    let office =
        Office::new(Means { around: Some(around), ..played.beside("slow").means().clone() }).unwrap();
    let (id, all) = (bundle.id().to_owned(), Picked::all(&bundle));
    let applying = tokio::spawn({
        let (office, id, all) = (office.clone(), id.clone(), all.clone());
        async move { office.apply("member:maya", &id, &all).await }
    });
    tokio::time::timeout(Duration::from_secs(10), done.notified()).await.unwrap();
    assert_eq!(office.resume().await.unwrap(), [], "it is being applied");
    let refused = office.apply("member:jonas", &id, &all).await.unwrap_err().to_string();
    assert!(refused.starts_with(&format!("bundle {id} is being applied by slow; ")), "{refused}");
    applying.abort();
    let _ = applying.await;
    let resumed = office.resume().await.unwrap();
    assert_eq!(resumed.iter().map(Bundle::id).collect::<Vec<_>>(), [id.as_str()]);
    assert!(matches!(resumed[0].actions[0].status, Status::Done { .. }), "{resumed:?}");
    assert_eq!(office.means().store.look(|c| mail::outbox(c, None)).unwrap().len(), 1, "it is sent once");
}

/// A clock that is moved, or a tool that takes long, takes nothing away from a process that shows that it is there; and one
/// that left is not waited for.
#[tokio::test]
async fn what_is_applied_belongs_to_its_process_for_as_long_as_that_lives() {
    let played = played(SCRIPT, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let done = Arc::new(Notify::new());
    let told = Arc::clone(&done);
    let around: Around = Arc::new(move |inner| Arc::new(Hangs { inner, done: Arc::clone(&told) }));
    let slow = Office::new(Means { around: Some(around), ..played.beside("slow").means().clone() }).unwrap();
    let (id, all) = (bundle.id().to_owned(), Picked::all(&bundle));
    let applying = tokio::spawn({
        let slow = slow.clone();
        async move { slow.apply("member:maya", &id, &all).await }
    });
    tokio::time::timeout(Duration::from_secs(10), done.notified()).await.unwrap();
    played.clock.by(SignedDuration::from_hours(24));
    slow.beat().await.unwrap();
    assert_eq!(played.office.resume().await.unwrap(), []);
    applying.abort();
    slow.leave().await.unwrap();
    assert_eq!(played.office.resume().await.unwrap().len(), 1);
    assert_eq!(played.office.means().store.look(|c| mail::outbox(c, None)).unwrap().len(), 1);
}

#[tokio::test]
async fn what_somebody_approved_who_is_gone_is_not_done_at_all() {
    let played = played(SCRIPT, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let begun = Arc::new(Notify::new());
    let told = Arc::clone(&begun);
    let around: Around = Arc::new(move |inner| Arc::new(Stands { inner, begun: Arc::clone(&told) }));
    let slow = Office::new(Means { around: Some(around), ..played.beside("slow").means().clone() }).unwrap();
    let (id, all) = (bundle.id().to_owned(), Picked::all(&bundle));
    let applying = tokio::spawn(async move { slow.apply("member:maya", &id, &all).await });
    tokio::time::timeout(Duration::from_secs(10), begun.notified()).await.unwrap();
    applying.abort();
    let _ = applying.await;
    let store = &played.office.means().store;
    store
        .change(|tx| {
            Ok(tx.execute(
                "UPDATE documents SET doc = replace(doc, 'member:maya', 'member:gone') WHERE kind = 'bundle'",
                [],
            )?)
        })
        .unwrap();
    played.clock.by(SignedDuration::from_mins(10));
    let resumed = played.office.enter().await.unwrap().bundles;
    let reason = "member:gone approved it and is not there any more".to_owned();
    assert_eq!(resumed[0].actions[0].status, Status::Unknown { reason });
    assert_eq!(store.look(|c| mail::outbox(c, None)).unwrap().len(), 0);
}

const TASKS: &str = r#"
name = "agents"

[[turns]]
when = { tool_results = 0 }
steps = [{ call = { name = "create_task", args = { title = "Call back", deadline = "in 3 days at 9am" } } }]

[[turns]]
when = { tool_results = 1 }
steps = [{ text = "I propose a task." }]
"#;

/// What an agent means is meant when it says it, and what a person changes is meant when they change it.
#[tokio::test]
async fn words_mean_what_they_meant_when_they_were_said() {
    let played = played(TASKS, Vec::new());
    let bundle = played.office.sweep_one("thread:1053").await.unwrap().remove(0).bundle.unwrap();
    let said = (played.office.means().now)().to_zoned(played.office.means().zone.clone());
    let at_nine = |days: i64| {
        let day = said.date().saturating_add(SignedDuration::from_hours(24 * days));
        day.at(9, 0, 0, 0).to_zoned(played.office.means().zone.clone()).unwrap().timestamp()
    };
    let due = |args: &Args| args["deadline"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(due(&bundle.actions[0].args), at_nine(3));

    played.clock.by(SignedDuration::from_hours(24));
    let mut picked = Picked::all(&bundle);
    picked.0[0].edits.insert("deadline".to_owned(), "tomorrow 9am".into());
    picked.0[0].edits.insert("assignee".to_owned(), "me".into());
    let applied = played.office.apply("member:jonas", bundle.id(), &picked).await.unwrap();
    let action = &applied.actions[0];
    assert!(matches!(action.status, Status::Done { .. }), "{action:?}");
    let amended = action.amended.as_ref().unwrap();
    assert_eq!((due(amended), amended["assignee"].as_str()), (at_nine(2), Some("member:jonas")));
    let edits = serde_json::to_string(&applied.trail).unwrap();
    assert!(edits.contains("member:jonas") && !edits.contains("tomorrow"), "{edits}");
}
