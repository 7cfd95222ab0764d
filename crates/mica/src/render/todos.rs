//! A list of what is to be done, as a person reads it.

use mica_tools::todo_write::checklist;
use mica_tools::{Todo, TodoStatus};
use serde_json::Value;

use super::question::plain;

/// The list: how far it is, then a row for each item.
pub fn list(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "To do: nothing any more".to_owned();
    }
    let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
    let mut text = format!("To do, {done} of {} done", todos.len());
    for row in checklist(todos).lines() {
        text.push_str("\n  ");
        text.push_str(&plain(row));
    }
    text
}

/// The list in what a call gave besides, when there is one.
pub fn of(details: &Value) -> Option<String> {
    let todos: Vec<Todo> = serde_json::from_value(details.get("todos")?.clone()).ok()?;
    Some(list(&todos))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_shown_row_by_row() {
        let details = json!({ "todos": [
            { "content": "Look", "status": "completed" },
            { "content": "Add tests", "status": "in_progress", "active_form": "Adding tests" },
            { "content": "bad \u{1b}[2J", "status": "pending" },
        ] });
        assert_eq!(
            of(&details).unwrap(),
            "To do, 1 of 3 done\n  [x] Look\n  [>] Adding tests\n  [ ] bad \\u{1b}[2J"
        );
        assert_eq!(of(&json!({ "todos": [] })).unwrap(), "To do: nothing any more");
        assert_eq!(of(&json!({ "path": "a" })), None);
    }
}
