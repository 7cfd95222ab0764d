//! Mail that comes in while an agent of a case works: at its first call, and the agent is called for each.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use pack_desk::Office;
use pack_desk::office::Inbound;

/// Mail, and the desk it comes in at.
type Expected = (Office, Vec<Inbound>);

/// What comes in at the next call, and why it could not.
#[derive(Clone, Default)]
pub struct Meanwhile(Arc<Mutex<Option<Expected>>>, Arc<Mutex<Option<String>>>);

impl Meanwhile {
    /// Has mail come in at the next call. All of it continues threads.
    pub fn expect(&self, office: &Office, mails: Vec<Inbound>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((office.clone(), mails));
    }

    /// Why something could not come in: also when no call was made.
    pub fn problem(&self) -> Option<String> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let failed = self.1.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.or_else(|| left.map(|_| "no call was made during which mail could come in".to_owned()))
    }
}

#[async_trait]
impl Listener for Meanwhile {
    async fn event(&self, _: Event) {
        let Some((office, mails)) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        for mail in mails {
            let came = match office.inbound(mail).await {
                Ok(thread) => office.answer_in(&thread.id).await.map(drop),
                Err(error) => Err(error),
            };
            if let Err(error) = came {
                *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        }
    }

    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::CallStart { .. })
    }
}
