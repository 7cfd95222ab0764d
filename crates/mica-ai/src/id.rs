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
pub struct Counted(Arc<Branch>);

/// One line of counting. What goes on beside it counts in a branch of its own, so that neither decides about the ids of
/// the other by being faster.
#[derive(Debug, Default)]
struct Branch {
    /// Which branch of which branch it is, counted from one; nothing for the first of all.
    place: Vec<u16>,
    ids: AtomicU64,
    branches: AtomicU64,
}

/// Branches of branches that an id has room for. Deeper ones count together with the branch they are made in.
const DEPTH: usize = 5;

impl Counted {
    /// Runs something whose fresh ids are counted: those it makes in this very task, and in tasks that are
    /// [`carried`] or go on [`apart`].
    pub async fn within<F: Future>(&self, future: F) -> F::Output {
        COUNTED.scope(self.clone(), future).await
    }

    fn next(&self) -> String {
        // In the form of the others. The place of the branch takes the digits before the number.
        let number = self.0.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let place = |level: usize| self.0.place.get(level).copied().unwrap_or_default();
        format!(
            "{:04x}{:04x}-{:04x}-7{:03x}-8{:03x}-{number:012x}",
            place(0),
            place(1),
            place(2),
            place(3),
            place(4),
        )
    }

    /// A branch: ids that nobody else counts. In the order they are asked for.
    fn branch(&self) -> Self {
        let number = self.0.branches.fetch_add(1, Ordering::Relaxed) + 1;
        // The last two levels have three digits.
        let most = if self.0.place.len() < 3 { 0xffff } else { 0xfff };
        match u16::try_from(number) {
            Ok(number) if self.0.place.len() < DEPTH && number <= most => {
                let place = self.0.place.iter().copied().chain([number]).collect();
                Self(Arc::new(Branch { place, ..Branch::default() }))
            }
            _ => self.clone(),
        }
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

/// The same for what goes on beside others, such as one of several calls or work that nobody waits for: its ids are
/// counted apart from theirs, so that they do not depend on who is faster. Ask for them in an order that does not either.
pub fn apart<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let counted = COUNTED.try_with(Counted::branch).ok();
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

    #[tokio::test]
    async fn what_goes_on_beside_others_counts_for_itself() {
        let play = |first: bool| async move {
            let ids = Counted::default();
            ids.within(async {
                let one = apart(async { (fresh(), apart(async { fresh() }).await, fresh()) });
                let two = apart(async { fresh() });
                // Whoever goes first, the ids are the same.
                let (one, two) = if first {
                    let one = one.await;
                    (one, two.await)
                } else {
                    let two = two.await;
                    (one.await, two)
                };
                (one, two, fresh())
            })
            .await
        };
        let expected = (
            (
                "00010000-0000-7000-8000-000000000001".to_owned(),
                "00010001-0000-7000-8000-000000000001".to_owned(),
                "00010000-0000-7000-8000-000000000002".to_owned(),
            ),
            "00020000-0000-7000-8000-000000000001".to_owned(),
            "00000000-0000-7000-8000-000000000001".to_owned(),
        );
        assert_eq!(play(true).await, expected);
        assert_eq!(play(false).await, expected);
        assert!(!apart(async { fresh() }).await.starts_with("0001"), "nothing is counted outside");
    }

    #[tokio::test]
    async fn branches_that_find_no_room_count_together() {
        let mut ids = Counted::default();
        for _ in 0..DEPTH {
            ids = ids.branch();
        }
        let last = ids.within(async { fresh() }).await;
        assert_eq!(last, "00010001-0001-7001-8001-000000000001");
        assert_eq!(ids.branch().within(async { fresh() }).await, "00010001-0001-7001-8001-000000000002");
    }
}
