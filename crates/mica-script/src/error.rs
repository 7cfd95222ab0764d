//! What can go wrong with a script, and what to do about it.

use std::fmt;
use std::time::Duration;

use crate::position::Position;

/// Why a script did not give an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is no TypeScript.
    #[error("{name}:{at}: {message}")]
    Syntax {
        /// The name of the source.
        name: String,
        /// Where it stops being TypeScript.
        at: Position,
        /// What was expected.
        message: String,
        /// The line, and a mark below the place.
        excerpt: String,
    },
    /// It threw, or its promise was rejected.
    #[error("{kind}: {message}")]
    Thrown {
        /// The name of the error, `Error` when it has none.
        kind: String,
        /// Its message.
        message: String,
        /// Where, the innermost call first.
        frames: Vec<Frame>,
    },
    /// It ran, or waited, for longer than it may.
    #[error("it was stopped after {after:?}")]
    TimedOut {
        /// The limit.
        after: Duration,
        /// Where it was. Empty when it was waiting, or when it could not be asked.
        frames: Vec<Frame>,
    },
    /// It wanted more memory than it may have.
    #[error("it needs more than {limit} bytes of memory")]
    OutOfMemory {
        /// The limit.
        limit: usize,
    },
    /// Calls within calls, too many of them.
    #[error("its calls are nested too deeply")]
    StackOverflow {
        /// Where, the innermost call first.
        frames: Vec<Frame>,
    },
    /// Somebody stopped it.
    #[error("it was cancelled")]
    Cancelled,
    /// Its promise waits for nothing that could happen.
    #[error("its promise never settles")]
    NeverSettles,
    /// There is no such module or function.
    #[error("there is no {what} {name:?}")]
    NotFound {
        /// What was looked for.
        what: Wanted,
        /// Its name.
        name: String,
        /// Names that there are.
        there: Vec<String>,
    },
    /// A result that JSON cannot say.
    #[error("the result is no JSON: {reason}")]
    NotJson {
        /// Why.
        reason: String,
    },
    /// A value or a source that is larger than it may be.
    #[error("the {what} has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// What is.
        what: &'static str,
        /// Its size, as far as it is known.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The cage is no more: it was ended, or something in it broke.
    #[error("the cage has ended: {reason}")]
    Ended {
        /// Why.
        reason: String,
    },
}

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A module, by the name of an import.
    Module,
    /// An exported function.
    Function,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Module => "module",
            Self::Function => "exported function",
        })
    }
}

/// One call on the stack of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The function; `None` outside of functions, and for those without a name.
    pub function: Option<String>,
    /// The module.
    pub module: String,
    /// The place in its TypeScript.
    pub at: Position,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(function) => write!(f, "{function} ({}:{})", self.module, self.at),
            None => write!(f, "{}:{}", self.module, self.at),
        }
    }
}

/// Frames that are told.
const FRAMES: usize = 5;

impl ScriptError {
    /// The calls on the stack, the innermost first.
    pub fn frames(&self) -> &[Frame] {
        match self {
            Self::Thrown { frames, .. } | Self::TimedOut { frames, .. } | Self::StackOverflow { frames } => {
                frames
            }
            _ => &[],
        }
    }

    /// In a few words, with the place and what to do.
    pub fn for_model(&self) -> String {
        let places = |frames: &[Frame]| {
            let mut told: String =
                frames.iter().take(FRAMES).map(|frame| format!("\n    at {frame}")).collect();
            if frames.len() > FRAMES {
                told += "\n    …";
            }
            told
        };
        match self {
            Self::Syntax { name, at, message, excerpt } => {
                format!("Syntax error in {name}, line {}, column {}: {message}\n{excerpt}", at.line, at.column)
            }
            Self::Thrown { frames, .. } => format!("{self}{}", places(frames)),
            Self::TimedOut { after, frames } if frames.is_empty() => {
                format!("The script did not end within {after:?}.")
            }
            Self::TimedOut { after, frames } => format!(
                "The script did not end within {after:?}. It was stopped here; look for a loop without an end:{}",
                places(frames)
            ),
            Self::OutOfMemory { limit } => {
                format!("The script needs more than {} MB of memory: build smaller values.", limit >> 20)
            }
            Self::StackOverflow { frames } => {
                format!("The script calls itself without an end:{}", places(frames))
            }
            Self::Cancelled => "The script was stopped.".to_owned(),
            Self::NeverSettles => {
                "The script awaits a promise that nothing will ever settle. There are no timers, no network and no \
                 events here."
                    .to_owned()
            }
            Self::NotFound { what, name, there } if there.is_empty() => format!("There is no {what} `{name}`."),
            Self::NotFound { what, name, there } => {
                format!("There is no {what} `{name}`. There is: {}.", there.join(", "))
            }
            Self::NotJson { reason } => {
                format!("The function must return a value that JSON can say: {reason}.")
            }
            Self::TooLarge { .. } | Self::Ended { .. } => {
                let said = self.to_string();
                let mut letters = said.chars();
                let first = letters.next().map(|first| first.to_uppercase().to_string());
                format!("{}{}.", first.unwrap_or_default(), letters.as_str())
            }
        }
    }
}
