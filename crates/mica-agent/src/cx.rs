//! What a running call is given: who it is, when to stop, a way to tell how far it is, and a way to ask a person.

use std::sync::Arc;

use mica_ai::id::CallId;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::id::RunId;
use crate::waits::Waits;

/// What a running call tells.
#[derive(Debug)]
pub(crate) enum News {
    /// How far it is.
    Progress(String),
    /// A person is asked.
    Asked(Value),
    /// They are not asked any more.
    Over,
}

/// What a running call is given. Cheap to clone.
#[derive(Clone)]
pub struct ToolCx {
    /// The run it belongs to.
    pub run: RunId,
    /// The call's own id.
    pub call: CallId,
    /// A key that is the same when this very call is run again after a crash, and never otherwise. Within a run it is
    /// made of the answer's id and the call's: some servers number their calls anew in every answer.
    pub effect_key: String,
    /// Fires when the call should stop: its deadline, an interrupt, or the end of the run.
    pub cancel: CancellationToken,
    progress: Arc<dyn Fn(String) + Send + Sync>,
    asking: Option<mpsc::Sender<News>>,
    waits: Arc<Waits>,
}

impl ToolCx {
    /// A context for one call. `progress` is told what is new.
    pub fn new(
        run: RunId,
        call: CallId,
        cancel: CancellationToken,
        progress: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        let effect_key = format!("{run}/{call}");
        let progress = Arc::new(progress);
        Self { run, call, effect_key, cancel, progress, asking: None, waits: Arc::default() }
    }

    /// With where questions are told, and what counts the time that people take.
    pub(crate) fn asking(mut self, asking: mpsc::Sender<News>, waits: Arc<Waits>) -> Self {
        (self.asking, self.waits) = (Some(asking), waits);
        self
    }

    /// Tells what is new: a line of output, a percentage. Deltas, never all of it again. Told at once; when nobody
    /// reads fast enough, pieces are dropped, because the result has everything anyway.
    pub fn progress(&self, news: impl Into<String>) {
        (self.progress)(news.into());
    }

    /// Waits for a person. What they are asked is told as a question of this call, and the time they take counts against
    /// no clock: neither the call's deadline nor the run's limit.
    ///
    /// `answer` begins before anything is told, so that no answer can come too early; one that is there at once, because
    /// nobody is, was no question. It should end when `cancel` fires.
    pub async fn person<T>(&self, questions: Value, answer: impl Future<Output = T>) -> T {
        let _thinking = self.waits.begin();
        tokio::pin!(answer);
        tokio::select! {
            biased;
            answered = &mut answer => return answered,
            () = self.tell(News::Asked(questions)) => {}
        }
        let answered = answer.await;
        self.tell(News::Over).await;
        answered
    }

    pub(crate) fn waits(&self) -> &Arc<Waits> {
        &self.waits
    }

    async fn tell(&self, news: News) {
        if let Some(asking) = &self.asking {
            // Nobody listens any more when the call has ended already.
            let _ = asking.send(news).await;
        }
    }
}
