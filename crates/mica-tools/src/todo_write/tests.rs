//! The list: taken whole, kept, refused with a reason, and what the model is told of it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::testing::{call, call_whole};

fn todo(content: &str, status: &str) -> Value {
    json!({ "content": content, "status": status })
}

#[tokio::test]
async fn the_whole_list_is_taken_and_confirmed_in_a_word() {
    let todos = Todos::default();
    let tool = TodoWrite::new(&todos);
    for (list, said) in [
        (json!([todo("one", "in_progress"), todo("two", "pending")]), "Noted: 0 of 2 done."),
        (json!([todo("one", "completed"), todo("two", "in_progress")]), "Noted: 1 of 2 done."),
        (
            json!([todo("one", "in_progress"), todo("two", "in_progress")]),
            "Noted: 0 of 2 done. 2 items are in progress; work on one at a time, and mark only that one.",
        ),
        (
            json!([todo("one", "completed"), todo("two", "pending")]),
            "Noted: 1 of 2 done. No item is in progress: mark the one you begin with.",
        ),
        (json!([todo("one", "completed")]), "Noted: 1 of 1 done."),
        (json!([]), "The list is empty now."),
    ] {
        let output = call_whole(&tool, json!({ "todos": list })).await.unwrap();
        assert_eq!(crate::testing::text(&output), said);
        assert_eq!(output.details, Some(json!({ "todos": list })));
        assert_eq!(json!(todos.get()), list);
    }
}

#[tokio::test]
async fn a_list_that_makes_no_sense_changes_nothing() {
    let todos = Todos::default();
    let tool = TodoWrite::new(&todos);
    call(&tool, json!({ "todos": [todo("one", "pending")] })).await.unwrap();
    let many: Vec<Value> = (0..51).map(|at| todo(&format!("item {at}"), "pending")).collect();
    for (list, said) in [
        (
            json!([todo("one", "pending"), todo("  ", "pending")]),
            "Item 2 has no content. Say what is to be done, or leave it out.",
        ),
        (
            json!([todo(&"x".repeat(301), "pending")]),
            "Item 1 is longer than a line of 300 characters. Shorten it.",
        ),
        (json!([todo("a\nb", "pending")]), "Item 1 is longer than a line of 300 characters. Shorten it."),
        (json!(many), "The list has 51 items; 50 are the most. Join small steps."),
    ] {
        let error = call(&tool, json!({ "todos": list })).await.unwrap_err();
        assert_eq!(error, format!("{said} The list is as it was."));
    }
    let unknown = call(&tool, json!({ "todos": [todo("one", "begun")] })).await.unwrap_err();
    assert!(unknown.contains("`pending`, `in_progress`, `completed`"), "{unknown}");
    assert_eq!(todos.get().len(), 1);
}

/// A notebook that keeps, or does not.
#[derive(Default)]
struct Pages(Mutex<Vec<String>>, bool);

#[async_trait]
impl Notebook for Pages {
    async fn keep(&self, todos: &[Todo]) -> Result<(), String> {
        self.0.lock().unwrap().push(checklist(todos));
        if self.1 { Err("the disk is full".to_owned()) } else { Ok(()) }
    }
}

#[tokio::test]
async fn it_is_kept_before_it_counts() {
    let pages = Arc::new(Pages::default());
    let todos = Todos::default().keeping(pages.clone());
    let mut item = todo("Add tests", "in_progress");
    item["active_form"] = json!("Adding tests");
    let list = json!({ "todos": [todo("Look", "completed"), item, todo("Clean up", "pending")] });
    call(&TodoWrite::new(&todos), list.clone()).await.unwrap();
    assert_eq!(*pages.0.lock().unwrap(), ["[x] Look\n[>] Adding tests\n[ ] Clean up"]);
    assert_eq!(
        todos.section().unwrap(),
        "Your list of what is to be done, as it stands:\n[x] Look\n[>] Adding tests\n[ ] Clean up"
    );
    let full = Todos::default().keeping(Arc::new(Pages(Mutex::default(), true)));
    let error = call(&TodoWrite::new(&full), list).await.unwrap_err();
    assert_eq!(error, "The list could not be kept: the disk is full.");
    assert_eq!(full.get(), []);
}

#[test]
fn nothing_is_said_of_a_list_that_is_done() {
    let todos = Todos::default();
    assert_eq!(todos.section(), None);
    let done = Todo { content: "one".to_owned(), status: TodoStatus::Completed, active_form: None };
    todos.restore(vec![done]);
    assert_eq!(todos.section(), None);
}
