//! What a book keeps, and what it gives back.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::json;

use super::super::bundle::Subject;
use super::super::testing::{action, at};
use super::*;
use crate::records::InMemory;
use crate::side::Loose;

fn about(bundle: &str) -> About {
    About { bundle: bundle.to_owned(), subject: Some(Subject::new("ticket", "T-1")), ..About::default() }
}

async fn captured(book: &Book, tool: &str) -> Result<String, String> {
    let make = |id: String, _: &[Action]| {
        let mut action = action(1, tool, None);
        action.id = id;
        Ok(action)
    };
    book.capture(|| about("by itself"), make).await.unwrap().map(|action| action.id)
}

fn ids(book: &Book) -> Vec<String> {
    book.actions().unwrap().into_iter().map(|action| action.id).collect()
}

#[tokio::test]
async fn another_process_goes_on_with_what_was_captured() {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let book = Book::new(Arc::clone(&side));
    book.begin(about("b1")).await.unwrap();
    assert_eq!(captured(&book, "keyed").await, Ok("temp_1".to_owned()));
    drop(book);

    let book = Book::new(Arc::clone(&side));
    book.begin(about("b1")).await.unwrap();
    assert_eq!(captured(&book, "same").await, Ok("temp_2".to_owned()));
    assert_eq!(ids(&book), ["temp_1", "temp_2"]);
    let bundle = book.end(&bundles, "Two things.", at(1)).await.unwrap().unwrap();
    assert_eq!((bundle.id(), bundle.summary.as_str(), bundle.made), ("b1", "Two things.", at(1)));
    assert_eq!(bundle.actions.len(), 2);
    assert_eq!(bundles.get("b1").await, Ok(bundle));

    // Ids are not given again: the model still reads the earlier ones.
    assert_eq!(book.end(&bundles, "", at(2)).await, Ok(None), "nothing is open");
    assert_eq!(captured(&book, "keyed").await, Ok("temp_3".to_owned()));
    assert_eq!(book.earlier().unwrap(), ["temp_1", "temp_2"]);
    let bundle = book.end(&bundles, "", at(3)).await.unwrap().unwrap();
    assert_eq!((bundle.id(), bundle.actions.len()), ("by itself", 1), "begun by the first that was captured");
}

#[tokio::test]
async fn what_a_run_captured_that_never_ended_is_not_lost() {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let book = Book::new(side);
    book.begin(about("b0")).await.unwrap();
    book.begin(about("b1")).await.unwrap();
    captured(&book, "keyed").await.unwrap();
    let error = book.begin(about("b2")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "what was captured for bundle b1 was never ended; end it first, so that it is not lost"
    );
    assert_eq!(book.end(&bundles, "", at(1)).await.unwrap().unwrap().id(), "b1");
    book.begin(about("b2")).await.unwrap();
    assert_eq!(captured(&book, "keyed").await, Ok("temp_2".to_owned()));
    assert_eq!(book.end(&bundles, "", at(2)).await.unwrap().unwrap().id(), "b2");
    assert_eq!(bundles.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn nothing_captured_is_no_bundle() {
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let book = Book::new(Arc::new(Loose::default()));
    book.begin(about("b1")).await.unwrap();
    assert_eq!(book.end(&bundles, "Nothing to do.", at(1)).await, Ok(None));
    assert_eq!(bundles.list().await, Ok(Vec::new()));
}

#[tokio::test]
async fn there_are_only_so_many() {
    let book = Book::new(Arc::new(Loose::default()));
    for n in 1..=MOST {
        assert_eq!(captured(&book, "keyed").await, Ok(format!("temp_{n}")));
    }
    let refused = captured(&book, "keyed").await.unwrap_err();
    assert!(refused.starts_with("50 actions await approval already"), "{refused}");
    assert_eq!(ids(&book).len(), MOST);
}

/// Fails when it is told to, after it kept the change or before.
#[derive(Default)]
struct Full {
    inner: Loose,
    fails: AtomicBool,
}

#[async_trait]
impl Side for Full {
    async fn append(&self, kind: &str, change: Value) -> Result<(), String> {
        if self.fails.load(Ordering::SeqCst) {
            return Err("the disk is full".to_owned());
        }
        self.inner.append(kind, change).await
    }

    fn all(&self, kind: &str) -> Result<Vec<Value>, String> {
        self.inner.all(kind)
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_captured_and_an_end_can_be_ended_again() {
    let side = Arc::new(Full::default());
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let book = Book::new(Arc::clone(&side) as Arc<dyn Side>);
    book.begin(about("b1")).await.unwrap();
    captured(&book, "keyed").await.unwrap();
    side.fails.store(true, Ordering::SeqCst);
    let make = |id: String, _: &[Action]| {
        let mut action = action(1, "keyed", None);
        action.id = id;
        Ok(action)
    };
    let full = CaptureError::Side { problem: "the disk is full".to_owned() };
    assert_eq!(book.capture(|| about("b1"), make).await.unwrap_err(), full);
    assert_eq!(ids(&book), ["temp_1"]);

    // The bundle is there, but that the book ended could not be kept: it is the same bundle the next time.
    assert_eq!(book.end(&bundles, "One.", at(1)).await.unwrap_err(), full);
    side.fails.store(false, Ordering::SeqCst);
    let bundle = book.end(&bundles, "Another summary.", at(5)).await.unwrap().unwrap();
    assert_eq!((bundle.summary.as_str(), bundle.made), ("Another summary.", at(1)));
    assert_eq!(bundles.list().await.unwrap().len(), 1);
    assert_eq!(book.end(&bundles, "", at(6)).await, Ok(None));
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let side = Loose::default();
    side.append(KIND, json!({ "burned": 1 })).await.unwrap();
    let book = Book::new(Arc::new(side));
    let error = book.actions().unwrap_err();
    assert!(matches!(&error, CaptureError::Unreadable { what, .. } if what == "captured actions"), "{error}");
}

/// A run that failed is tried again: it goes on with its own bundle, and with its ids.
#[tokio::test]
async fn a_run_that_is_tried_again_goes_on_with_its_bundle() {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let bundles = Bundles::new(Arc::new(InMemory::default()));
    let book = Book::new(Arc::clone(&side));
    book.begin(about("fire")).await.unwrap();
    captured(&book, "keyed").await.unwrap();
    let first = book.end(&bundles, "It failed.", at(1)).await.unwrap().unwrap();

    let book = Book::new(side);
    book.begin(about("fire")).await.unwrap();
    assert_eq!(ids(&book), ["temp_1"], "what is proposed can be built on");
    assert_eq!(book.earlier().unwrap(), [] as [&str; 0]);
    let same = book.end(&bundles, "Nothing more.", at(2)).await.unwrap().unwrap();
    assert_eq!((same.id(), same.actions.len(), same.summary.as_str()), ("fire", 1, "Nothing more."));

    book.begin(about("fire")).await.unwrap();
    assert_eq!(captured(&book, "same").await, Ok("temp_2".to_owned()));
    let whole = book.end(&bundles, "Both.", at(3)).await.unwrap().unwrap();
    assert_eq!(bundles.list().await.unwrap(), std::slice::from_ref(&whole));
    assert_eq!((whole.id(), whole.made, &whole.about.subject), ("fire", first.made, &first.about.subject));
    assert_eq!(whole.proposal(), "Proposed, not done: keyed 1; same 1.");
}
