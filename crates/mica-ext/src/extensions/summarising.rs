//! Extensions in front of whoever writes summaries: that is where a window is about to be shortened.

use std::sync::Arc;

use async_trait::async_trait;
use mica_context::compact::{Job, Summarise, Summarised};

use super::Extensions;
use crate::concern::Moment;

impl Extensions {
    /// The same summaries, with extensions told before each ([`Moment::BeforeCompact`]). For the keeper of the window.
    pub fn summarising(&self, inner: Arc<dyn Summarise>) -> Arc<dyn Summarise> {
        Arc::new(Announced { extensions: self.clone(), inner })
    }
}

struct Announced {
    extensions: Extensions,
    inner: Arc<dyn Summarise>,
}

#[async_trait]
impl Summarise for Announced {
    async fn summarise(&self, job: Job<'_>) -> Summarised {
        let count = job.dropped().len();
        let reason = match job.focus {
            Some(focus) => format!("{count} messages are summarised, as was asked for: {focus}"),
            None => format!("{count} messages are summarised"),
        };
        self.extensions.tell(&Moment::BeforeCompact { reason }).await;
        self.inner.summarise(job).await
    }
}
