//! What a session is told of background work that ended.

use std::time::Duration;

use mica_context::fence::fenced;
use serde::{Deserialize, Serialize};

use crate::runners::{Origin, Said, one_line};
use crate::tasks::kind::{Announced, Summary, TaskStatus};

/// Letters of a line. Who wants to know more has tools to look.
const LINE: usize = 600;

/// The element that words of the work are fenced in.
const ELEMENT: &str = "task-notification";

/// What a session is told. It is always made from what the kind says now: nothing that a client sent is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The work.
    #[serde(flatten)]
    pub task: Announced,
    /// What came of it.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Notice {
    /// The work ended.
    pub fn ended(task: Announced, summary: Summary) -> Self {
        Self { task, summary }
    }

    /// It took longer than it may.
    pub fn overdue(task: Announced, after: Duration) -> Self {
        let line = format!("It has not ended within {}, and is watched no more.", words(after));
        let instruction = "Say that the outcome is not known. Do not start it again unless you are asked to.";
        Self { task, summary: unknown(line, instruction) }
    }

    /// There is no such work, or none any more.
    pub fn missing(task: Announced) -> Self {
        let instruction = "Say that it cannot be found. Do not start it again unless you are asked to.";
        Self { task, summary: unknown("It is not there any more.".to_owned(), instruction) }
    }

    /// As it is said in the session, under the name of a watch.
    pub fn said(&self, source: String) -> Said {
        let (task, summary) = (&self.task, &self.summary);
        let attributes =
            [("kind", task.kind.as_str()), ("ref", &task.reference), ("status", summary.status.name())];
        let fence = fenced(ELEMENT, &attributes, &one_line(&summary.line, LINE));
        let text = format!(
            "Background work that was started in this conversation has news; no person wrote this.\n{fence}\n{}",
            summary.instruction.trim()
        );
        let origin = Origin::Task { kind: task.kind.clone(), reference: task.reference.clone() };
        Said { text: text.trim_end().to_owned(), source: Some(source), origin, surroundings: None }
    }
}

fn unknown(line: String, instruction: &str) -> Summary {
    Summary { status: TaskStatus::Unknown, line, instruction: instruction.to_owned() }
}

/// A while in its largest unit that says it exactly.
fn words(while_: Duration) -> String {
    let seconds = while_.as_secs();
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let fits = units.iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    match fits {
        Some((unit, name)) => format!("{} {name}", seconds / unit),
        None => format!("{seconds} seconds"),
    }
}
