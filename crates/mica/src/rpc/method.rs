//! What can be asked over a pipe.

use std::path::PathBuf;

use mica_agent::{Answer, Proposal};
use mica_domain::editor;
use serde::Deserialize;
use serde_json::Value;

/// What can be asked.
#[derive(Debug, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Method {
    /// Run from a prompt. Answered when the run ends.
    Prompt {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Say something that joins before the next model call.
    Steer {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Say something for when the run would end.
    FollowUp {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Cut what is under way and say something instead.
    Interrupt {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// End the run.
    Abort {
        #[serde(default)]
        id: Value,
    },
    /// Answer questions: a decision for each call. The run goes on when every call that is asked about is decided.
    Approve {
        decisions: Vec<Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Go on with a run that was waiting when the session was opened. Answered when the run ends.
    Resume {
        decisions: Vec<Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Answer what a running call asks: an answer for each of its questions.
    Answer {
        call: String,
        answers: Vec<mica_tools::person::Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Decline to answer what a running call asks.
    Decline {
        call: String,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// What the last run took, and how full the window is.
    Usage {
        #[serde(default)]
        id: Value,
    },
    /// Which model is asked, and where; with a name, ask that one from the next run on.
    Model {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// The sessions of this folder, or of all.
    Sessions {
        #[serde(default)]
        all: bool,
        #[serde(default)]
        id: Value,
    },
    /// Which entry keeps which message of this session.
    Entries {
        #[serde(default)]
        id: Value,
    },
    /// Begin a new session with what this one said until an entry.
    Fork {
        #[serde(default)]
        entry: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// What was remembered of approvals; with one of them, take it back.
    Rules {
        #[serde(default)]
        forget: Option<Proposal>,
        #[serde(default)]
        id: Value,
    },
    /// Take back what runs changed in files, between runs.
    Undo {
        #[serde(default)]
        run: Option<String>,
        #[serde(default)]
        files: Vec<PathBuf>,
        #[serde(default)]
        dry_run: bool,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        skip_conflicts: bool,
        #[serde(default)]
        id: Value,
    },
    /// Take back the last undo, between runs.
    Redo {
        #[serde(default)]
        files: Vec<PathBuf>,
        #[serde(default)]
        dry_run: bool,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        skip_conflicts: bool,
        #[serde(default)]
        id: Value,
    },
    /// The runs that changed files.
    Undoable {
        #[serde(default)]
        id: Value,
    },
    /// Which extensions there are, and what became of each.
    Extensions {
        #[serde(default)]
        id: Value,
    },
    /// Load extensions anew, between runs.
    Reload {
        #[serde(default)]
        id: Value,
    },
    /// Do a command of an extension. Answered when it is done.
    Command {
        name: String,
        #[serde(default)]
        arguments: String,
        #[serde(default)]
        id: Value,
    },
    /// What the agent is doing.
    State {
        #[serde(default)]
        id: Value,
    },
    /// Change how much may be done.
    Mode {
        mode: String,
        #[serde(default)]
        id: Value,
    },
    /// Summarise before the next answer.
    Compact {
        #[serde(default)]
        focus: Option<String>,
        #[serde(default)]
        id: Value,
    },
}

/// What the user has in front of them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InFront {
    /// The file that is open, relative to the folder.
    open_file: Option<String>,
    /// The text that is selected in it.
    selection: Option<String>,
}

impl From<InFront> for mica_domain::Surroundings {
    fn from(told: InFront) -> Self {
        let facts = [(editor::OPEN_FILE, told.open_file), (editor::SELECTION, told.selection)];
        let said = |(name, fact): (&str, Option<String>)| Some((name.to_owned(), Value::String(fact?)));
        Self { facts: facts.into_iter().filter_map(said).collect(), ..Self::default() }
    }
}
