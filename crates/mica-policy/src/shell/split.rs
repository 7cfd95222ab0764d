//! Splits a command line into plain argument vectors, or says what it cannot vouch for.
//!
//! Invariant: a [`Split::Plain`] holds every command that the shell itself would run: those of every branch, loop,
//! function, substitution and trap. What these commands run in turn (wrappers, interpreters) is for the judgement.
//! When that cannot be shown, the answer is [`Split::Opaque`], with everything that was seen.

use serde::Serialize;

use super::facts::ShellFacts;
use super::parse::{Stop, StopReason, parse};
use super::state::{Dirs, State};
use super::syntax::ByteRange;
use super::walk::Walker;
use super::word::Arg;

/// What a command line is known to run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Split {
    /// Every command that would run.
    Plain {
        /// The commands, in the order they stand.
        commands: Vec<Command>,
    },
    /// Something that cannot be vouched for.
    Opaque {
        /// Why.
        reason: OpaqueReason,
        /// Where it starts.
        at: ByteRange,
        /// What was seen all the same. More may run.
        commands: Vec<Command>,
    },
}

impl Split {
    /// The commands that were seen.
    pub fn commands(&self) -> &[Command] {
        match self {
            Split::Plain { commands } | Split::Opaque { commands, .. } => commands,
        }
    }

    /// Whether every command was seen.
    pub fn is_plain(&self) -> bool {
        matches!(self, Split::Plain { .. })
    }
}

/// Why a command line cannot be vouched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpaqueReason {
    /// A quote, bracket or here-document does not end.
    Unclosed,
    /// It does not follow the grammar.
    Syntax,
    /// It nests too deep, or is too long to look through.
    TooMuch,
    /// It has a NUL byte.
    Nul,
    /// The name of a command is known only when it runs.
    DynamicCommand,
    /// What is evaluated is known only when it runs.
    DynamicScript,
    /// Arithmetic on a value that is not known to be a number: bash evaluates what the value says.
    Arithmetic,
    /// An expansion that evaluates its own value.
    Indirect,
    /// A setting that changes how the rest is read.
    Reading,
}

impl OpaqueReason {
    /// For people.
    pub fn explain(self) -> &'static str {
        match self {
            OpaqueReason::Unclosed => "a quote, bracket or substitution in it does not end",
            OpaqueReason::Syntax => "it cannot be read as a shell command",
            OpaqueReason::TooMuch => "it nests too deep or is too long to look through",
            OpaqueReason::Nul => "it has a NUL byte in it",
            OpaqueReason::DynamicCommand => "the command it runs is known only when it runs",
            OpaqueReason::DynamicScript => "the script it evaluates is known only when it runs",
            OpaqueReason::Arithmetic => "it calculates with a value that may itself hold a command",
            OpaqueReason::Indirect => "it expands a variable whose value decides what is expanded",
            OpaqueReason::Reading => "it changes how the shell reads the rest",
        }
    }
}

/// What joins a command to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// The first one, or after `;` or a newline.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// What a redirection does with its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// One command with its arguments.
#[derive(Debug, Clone, Serialize)]
pub struct Command {
    /// The command and its arguments. Empty for assignments and redirections alone.
    pub argv: Vec<Arg>,
    /// `NAME=value` before the command, or alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assigns: Vec<(String, Arg)>,
    /// Files of its redirections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<(Access, Arg)>,
    /// What joins it to the one before.
    pub joint: Joint,
    /// Whether it runs in the background.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Text it is given on its input, from a here-document or here-string.
    #[serde(skip)]
    pub input: Option<Arg>,
    /// Whether its input comes from another command or a file.
    #[serde(skip)]
    pub fed: bool,
    /// Whether it is a function of the script, whose body was looked at.
    #[serde(skip)]
    pub function: bool,
    /// Whether it is a function that starts itself over and over.
    #[serde(skip)]
    pub bomb: bool,
    /// Where it may run.
    #[serde(skip)]
    pub dirs: Dirs,
    /// Where it stands. In a script inside of another, in that one.
    pub at: ByteRange,
}

impl Command {
    pub(super) fn new(argv: Vec<Arg>, dirs: Dirs, at: ByteRange) -> Self {
        Self {
            argv,
            assigns: Vec::new(),
            redirects: Vec::new(),
            joint: Joint::Then,
            background: false,
            input: None,
            fed: false,
            function: false,
            bomb: false,
            dirs,
            at,
        }
    }

    /// The name as it is written, when it is known.
    pub fn name(&self) -> Option<&str> {
        self.argv.first().and_then(Arg::literal)
    }
}

/// How long a command line may be.
const MAX_LENGTH: usize = 256 * 1024;

/// Splits a command line.
pub fn split(command: &str, facts: &ShellFacts<'_>) -> Split {
    split_in(command, facts, State::new(facts), 0)
}

/// Splits a script that runs in a known state, `depth` scripts deep.
pub(super) fn split_in(command: &str, facts: &ShellFacts<'_>, mut state: State, depth: usize) -> Split {
    if command.len() > MAX_LENGTH || depth > 8 {
        return Split::Opaque { reason: OpaqueReason::TooMuch, at: 0..command.len(), commands: Vec::new() };
    }
    let (sequence, stop) = parse(command);
    let mut walker = Walker::new(facts, depth);
    walker.sequence(&sequence, &mut state);
    if let Some(Stop { reason, at }) = stop {
        let reason = match reason {
            StopReason::Unclosed => OpaqueReason::Unclosed,
            StopReason::Unexpected => OpaqueReason::Syntax,
            StopReason::TooDeep => OpaqueReason::TooMuch,
            StopReason::Nul => OpaqueReason::Nul,
        };
        walker.opaque(reason, at..command.len());
    }
    walker.into_split()
}
