//! Ids: newtypes, so that a call id is never handed over where a message id belongs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }
    };
}

id! {
    /// Names one message for as long as the session lives.
    MessageId
}

id! {
    /// Pairs a tool call with its result. Providers make it up; it is unique within a session only.
    CallId
}

impl MessageId {
    /// A fresh id: UUID version 7, so ids sort by the time they were made.
    pub fn fresh() -> Self {
        Self(fresh())
    }
}

tokio::task_local! {
    static COUNTED: Counted;
}

/// Ids that are counted, so that the same run has the same ids whenever it is made. For tests and evaluations; what
/// is kept beside other sessions needs ids that nobody else has. Clones count on from each other.
#[derive(Debug, Clone, Default)]
pub struct Counted(Arc<AtomicU64>);

impl Counted {
    /// Runs something whose fresh ids are counted: those it makes in this very task, and in tasks that are
    /// [`carried`].
    pub async fn within<F: Future>(&self, future: F) -> F::Output {
        COUNTED.scope(self.clone(), future).await
    }

    fn next(&self) -> String {
        // In the form of the others, and in the order they were made.
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        format!("00000000-0000-7000-8000-{number:012x}")
    }
}

/// A future that goes on with the ids of whoever makes it, in whatever task it runs. For those who run a part of a run in
/// a task of its own.
pub fn carried<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let counted = COUNTED.try_with(Clone::clone).ok();
    async move {
        match counted {
            Some(counted) => counted.within(future).await,
            None => future.await,
        }
    }
}

/// A fresh id as text: UUID version 7, or the next one where they are [`Counted`].
pub fn fresh() -> String {
    COUNTED.try_with(Counted::next).unwrap_or_else(|_| Uuid::now_v7().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ids_are_counted_only_within_and_on_from_each_other() {
        let ids = Counted::default();
        let first = ids.within(async { MessageId::fresh() }).await;
        let second = ids
            .clone()
            .within(async {
                tokio::task::yield_now().await;
                MessageId::fresh()
            })
            .await;
        assert_eq!(first.as_str(), "00000000-0000-7000-8000-000000000001");
        assert_eq!(second.as_str(), "00000000-0000-7000-8000-000000000002");
        assert!(first < second);
        let outside = MessageId::fresh();
        assert!(!outside.as_str().starts_with("00000000-"), "{outside}");
        let spawned = ids.within(async { tokio::spawn(async { MessageId::fresh() }).await.unwrap() }).await;
        assert!(!spawned.as_str().starts_with("00000000-"), "a task of its own has its own ids");
        let carried =
            ids.within(async { tokio::spawn(carried(async { MessageId::fresh() })).await.unwrap() }).await;
        assert_eq!(carried.as_str(), "00000000-0000-7000-8000-000000000003");
    }
}
