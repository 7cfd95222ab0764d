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
pub(super) struct Notices {
    waiting: Mutex<VecDeque<Notice>>,
    tell: Mutex<Option<Tell>>,
}

impl Notices {
    pub(super) fn add(&self, notice: Notice) {
        let tell = lock(&self.tell).clone();
        match tell {
            Some(tell) => tell(notice),
            None => {
                let mut waiting = lock(&self.waiting);
                if waiting.len() == MOST {
                    waiting.pop_front();
                }
                waiting.push_back(notice);
            }
        }
    }

    pub(super) fn take(&self) -> Vec<Notice> {
        lock(&self.waiting).drain(..).collect()
    }

    pub(super) fn tell_to(&self, tell: &Tell) {
        *lock(&self.tell) = Some(Arc::clone(tell));
        for notice in self.take() {
            tell(notice);
        }
    }
}
