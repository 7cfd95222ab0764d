//! What goes on at the desk while it is open: triggers, background work, and threads that agents answer.

use std::sync::Arc;
use std::time::Duration;

use mica_domain::tasks::WatcherLimits;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Entered, Office, OfficeError};
use crate::store::team;

/// How often it is looked for what somebody left in the middle.
const LEFT: Duration = Duration::from_secs(30);
/// How long what goes on may take to stop.
const STOP: Duration = Duration::from_secs(2);

/// What goes on. It ends when this is dropped, or better with [`Work::end`]; whoever opens the desk next goes on.
pub struct Work {
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl Work {
    /// Stops, and waits until that is done: what does not stop in time is dropped where it is.
    pub async fn end(mut self) {
        self.cancel.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(STOP, all).await;
        self.tasks.abort_all();
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Office {
    /// Opens the desk: from here on schedules fire by its clock, conversations are told of background work, agents go on
    /// with threads that were left, and so does this process with what others left in the middle.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub async fn begin(&self) -> Result<Work, OfficeError> {
        self.life.begin().await?;
        let cancel = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let (dispatcher, until) = (self.dispatcher(), cancel.clone());
        tasks.spawn(async move { dispatcher.run(until).await });
        let opening = Arc::new(Self { dispatcher: None, ..self.clone() });
        let (watcher, until) = (self.watcher(opening, WatcherLimits::default()), cancel.clone());
        tasks.spawn(async move { watcher.run(until).await });
        for agent in self.means.store.read(team::agents).await? {
            let (agent, until) = (self.thread_agent(&agent.id).await?, cancel.clone());
            tasks.spawn(async move { agent.run(LEFT, until).await });
        }
        let (office, until) = (Self { dispatcher: None, ..self.clone() }, cancel.clone());
        tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = until.cancelled() => return,
                    () = tokio::time::sleep(LEFT) => {}
                }
                let mut found = Entered::default();
                office.keep_up(&mut found).await;
                office.prune_when_due(&mut found).await;
                for problem in found.problems {
                    tracing::error!(problem, "the desk could not be looked after");
                }
            }
        });
        Ok(Work { cancel, tasks })
    }
}
