//! Why an answer to a question does not count.

use crate::records::RecordError;

/// Why an answer to a question does not count. Nothing was decided then; the words are for whoever answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// Nothing like it is asked.
    #[error("no question about the call {call} is open")]
    Unknown {
        /// The call.
        call: String,
    },
    /// Somebody answered it before, otherwise. What they said counts.
    #[error("{tool} was answered before, otherwise: that counts")]
    Answered {
        /// The tool.
        tool: String,
    },
    /// Whoever answered may not approve it.
    #[error("{person} may not approve {tool}: {missing} is missing")]
    NotAllowed {
        /// Who.
        person: String,
        /// The tool.
        tool: String,
        /// What they would need.
        missing: String,
    },
    /// The changes cannot be made.
    #[error("{tool}: {}", problems.join("; "))]
    Edits {
        /// The tool.
        tool: String,
        /// What is wrong, all of it.
        problems: Vec<String>,
    },
    /// What it rests on has changed since they were shown it. The question is asked again, with what it would do now.
    #[error(
        "not done: what {tool} rests on has changed since it was shown{}. Look at it again",
        listed(changes)
    )]
    Changed {
        /// The tool.
        tool: String,
        /// What has changed, for people.
        changes: Vec<String>,
    },
    /// Who approved something could not be found out, so it is not carried out.
    #[error("not done: it could not be found out whether {name} may still approve it: {problem}")]
    People {
        /// Who.
        name: String,
        /// What the product said.
        problem: String,
    },
    /// What is kept beside the session could not be read or written.
    #[error("the questions of the session could not be kept: {problem}")]
    Side {
        /// What the store said.
        problem: String,
    },
    /// The store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
}

/// What has changed, as the end of a sentence.
fn listed(changes: &[String]) -> String {
    if changes.is_empty() { String::new() } else { format!(" ({})", changes.join("; ")) }
}
