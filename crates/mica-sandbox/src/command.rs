//! What is run.

use std::path::PathBuf;

/// A program, its arguments, and where it runs. No shell is involved unless it is the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) takes_input: bool,
    pub(crate) streaming: Streaming,
}

/// How standard output is handed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Streaming {
    /// As bounded chunks, together with standard error.
    #[default]
    Chunks,
    /// As a pipe of its own, for programs that speak a protocol. Standard error still comes as chunks.
    Pipe,
}

impl Command {
    /// A program in a folder. It is looked for on the path of the boundary's environment.
    pub fn new(program: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            takes_input: false,
            streaming: Streaming::Chunks,
        }
    }

    /// With one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With more arguments.
    #[must_use]
    pub fn arguments<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// With standard input that can be written to. Without, it is empty.
    #[must_use]
    pub fn with_input(mut self) -> Self {
        self.takes_input = true;
        self
    }

    /// With standard output handed on in this way.
    #[must_use]
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }
}
