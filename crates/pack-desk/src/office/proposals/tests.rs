//! Proposals that two processes look at.

use std::time::Duration;

use jiff::SignedDuration;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use tokio::sync::Notify;

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
    tokio::time::timeout(Duration::from_secs(10), done.notified()).await.unwrap();

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
