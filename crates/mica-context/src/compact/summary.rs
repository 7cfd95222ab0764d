//! The summary that takes the place of what was said: fixed headings, so that it can be updated and never drifts.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// What a part may have at most. A model asked to be brief stays far below it; a machine-made one is cut to it.
const PART: usize = 6_000;

/// A summary of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// What the user wants.
    pub goal: String,
    /// What must be kept to: rules, preferences, things not to touch.
    pub constraints: String,
    /// What is done.
    pub done: String,
    /// What is under way.
    pub doing: String,
    /// What is stuck, and on what.
    pub blocked: String,
    /// What was decided, and why.
    pub decisions: String,
    /// What comes next.
    pub next: String,
    /// What must not be forgotten: names, numbers, messages, places.
    pub facts: String,
    /// How the turn began whose end is still in the window.
    pub turn: String,
}

/// The headings, in the order they are written.
pub const HEADINGS: [&str; 9] = [
    "Goal",
    "Constraints",
    "Done",
    "Doing",
    "Blocked",
    "Decisions",
    "Next steps",
    "Critical facts",
    "The turn under way",
];

impl Summary {
    /// Reads a summary. Words before the first heading, and under headings nobody asked for, are kept as facts. `None`
    /// when it says nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut summary = Self::default();
        let mut part = 7;
        for line in text.lines() {
            let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")).map(str::trim);
            let known = heading.and_then(|title| {
                HEADINGS.iter().position(|known| known.eq_ignore_ascii_case(title.trim_end_matches(':')))
            });
            match (known, heading) {
                (Some(known), _) => part = known,
                (None, Some(_)) => {
                    part = 7;
                    summary.add(part, line);
                }
                (None, None) => summary.add(part, line),
            }
        }
        for part in summary.parts_mut() {
            *part = limited(part.trim(), PART);
        }
        (!summary.is_empty()).then_some(summary)
    }

    /// The summary with its headings. Empty parts are left out.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (heading, part) in HEADINGS.iter().zip(self.parts()) {
            if !part.is_empty() {
                // Writing to a string does not fail.
                let _ = write!(text, "## {heading}\n{part}\n\n");
            }
        }
        text.trim_end().to_owned()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.parts().iter().all(|part| part.is_empty())
    }

    fn add(&mut self, part: usize, line: &str) {
        if let Some(part) = self.parts_mut().into_iter().nth(part) {
            part.push_str(line);
            part.push('\n');
        }
    }

    fn parts(&self) -> [&String; 9] {
        [
            &self.goal,
            &self.constraints,
            &self.done,
            &self.doing,
            &self.blocked,
            &self.decisions,
            &self.next,
            &self.facts,
            &self.turn,
        ]
    }

    fn parts_mut(&mut self) -> [&mut String; 9] {
        [
            &mut self.goal,
            &mut self.constraints,
            &mut self.done,
            &mut self.doing,
            &mut self.blocked,
            &mut self.decisions,
            &mut self.next,
            &mut self.facts,
            &mut self.turn,
        ]
    }
}

/// A text of so many bytes at most: its beginning and its end.
pub fn limited(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{} […] {}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_read_and_written() {
        let text = "Intro.\n## Goal\nShip it.\n\n## done:\n- a\n- b\n## Mood\nGood.\n### Next steps\nTest.";
        let summary = Summary::parse(text).unwrap();
        assert_eq!(summary.goal, "Ship it.");
        assert_eq!(summary.done, "- a\n- b");
        assert_eq!(summary.next, "Test.");
        assert_eq!(summary.facts, "Intro.\n## Mood\nGood.", "nothing is thrown away");
        assert_eq!(
            summary.render(),
            "## Goal\nShip it.\n\n## Done\n- a\n- b\n\n## Next steps\nTest.\n\n## Critical facts\nIntro.\n\
             ## Mood\nGood."
        );
        assert_eq!(Summary::parse(&summary.render()).unwrap().goal, "Ship it.");
        assert_eq!(Summary::parse("  \n## Goal\n"), None);
    }

    #[test]
    fn a_part_has_a_limit() {
        let summary = Summary::parse(&format!("## Goal\n{}", "ä".repeat(10_000))).unwrap();
        assert!(summary.goal.len() <= PART + 10, "{}", summary.goal.len());
    }
}
