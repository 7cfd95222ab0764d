//! What a person has in front of them in their editor, as a client tells it with a message.
//!
//! It is told with each message, or not: what a message does not tell is not so any more.

use std::fmt::Write as _;

use serde_json::Value;

use crate::section::{Section, Turn};
use crate::state::{State, Surroundings};

/// The fact that names the file that is open.
pub const OPEN_FILE: &str = "open_file";
/// The fact that has the text that is selected in it.
pub const SELECTION: &str = "selection";

/// Characters of a selection that the model is told: some screens full. Whoever selects a whole file means the file.
const LONGEST: usize = 4_000;

/// Remembers what a message told, and forgets what the one before did.
pub fn keep(state: &mut State, surroundings: &Surroundings) {
    for name in [OPEN_FILE, SELECTION] {
        match surroundings.facts.get(name) {
            Some(told) => drop(state.kept.insert(name.to_owned(), told.clone())),
            None => drop(state.kept.remove(name)),
        }
    }
}

/// The turn section about it. Empty when nothing was told. Its words are the user's.
#[must_use]
pub fn section(state: &State) -> Section<Turn> {
    let word =
        |name: &str| state.kept.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let mut text = String::new();
    if let Some(file) = word(OPEN_FILE) {
        let _ = write!(text, "The user has {file} open.");
    }
    if let Some(selected) = word(SELECTION) {
        let kept: String = selected.chars().take(LONGEST).collect();
        let note = if kept.len() < selected.len() { "\n[… cut …]" } else { "" };
        let place = if text.is_empty() { "Selected in the editor" } else { "\nSelected there" };
        let _ = write!(text, "{place}:\n{kept}{note}");
    }
    Section::<Turn>::new("editor", text).foreign()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::section::StaticView;

    fn told(state: &mut State, facts: &Value) -> String {
        let facts = facts.as_object().cloned().unwrap_or_default();
        keep(state, &Surroundings { facts, ..Surroundings::default() });
        let (tools, profile) = (Default::default(), Default::default());
        section(state).said(&StaticView { tools: &tools, profile }).map(|said| said.text).unwrap_or_default()
    }

    #[test]
    fn what_is_told_comes_and_goes() {
        let mut state = State::default();
        let both = json!({ "open_file": "apis/A.xml", "selection": "<call/>" });
        assert_eq!(told(&mut state, &both), "The user has apis/A.xml open.\nSelected there:\n<call/>");
        assert_eq!(told(&mut state, &json!({ "selection": "<call/>" })), "Selected in the editor:\n<call/>");
        assert_eq!(told(&mut state, &json!({ "open_file": "b", "selection": " " })), "The user has b open.");
        assert_eq!(told(&mut state, &json!({})), "");
        assert_eq!(state, State::default(), "nothing is left of it");
    }

    #[test]
    fn a_long_selection_is_cut_and_says_so() {
        let mut state = State::default();
        let text = told(&mut state, &json!({ "selection": "ä".repeat(LONGEST + 1) }));
        assert!(text.ends_with("ä\n[… cut …]"));
        assert_eq!(text.matches('ä').count(), LONGEST);
        let whole = told(&mut state, &json!({ "selection": "ä".repeat(LONGEST) }));
        assert!(!whole.contains("cut"));
    }
}
