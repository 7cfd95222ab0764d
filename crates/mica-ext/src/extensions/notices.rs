//! What people should know about extensions: kept until somebody takes it, or told as it comes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::lock;

/// Notices that are kept while nobody takes them. The oldest go first.
const MOST: usize = 256;

/// Something a person should know about an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The extension.
    pub extension: String,
    /// What about it, in words.
    pub text: String,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "extension {}: {}", self.extension, self.text)
    }
}

pub(super) type Tell = Arc<dyn Fn(Notice) + Send + Sync>;

#[derive(Default)]
pub(super) struct Notices(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Notice>,
    tell: Option<Tell>,
}

impl Notices {
    pub(super) fn add(&self, notice: Notice) {
        let (tell, notice) = {
            let mut state = lock(&self.0);
            let Some(tell) = state.tell.clone() else {
                if state.waiting.len() == MOST {
                    state.waiting.pop_front();
                }
                state.waiting.push_back(notice);
                return;
            };
            (tell, notice)
        };
        tell(notice);
    }

    pub(super) fn take(&self) -> Vec<Notice> {
        lock(&self.0).waiting.drain(..).collect()
    }

    pub(super) fn tell_to(&self, tell: &Tell) {
        let waiting: Vec<Notice> = {
            let mut state = lock(&self.0);
            state.tell = Some(Arc::clone(tell));
            state.waiting.drain(..).collect()
        };
        waiting.into_iter().for_each(|notice| tell(notice));
    }
}
