//! What can be wrong with a domain.

use crate::page::Page;

/// What is wrong with a domain, or with the choice of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// Two tools of one page have the same name.
    #[error("two tools are named {name} on {page}")]
    DuplicateTool {
        /// The name.
        name: String,
        /// The page.
        page: Page,
    },
    /// An input names a tool or an argument that is not there.
    #[error("the input {tool}.{argument} is not an argument of a tool")]
    UnknownInput {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
    /// A prompt text names a tool that the model does not have.
    #[error("the prompt text {text} names {tool}, which is not there")]
    UntrueText {
        /// Which text.
        text: String,
        /// The tool it names.
        tool: String,
    },
    /// There is no pack of a name.
    #[error("there is no pack {name:?}; the packs are: {}", known.join(", "))]
    UnknownPack {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// No pack knows what to do with a folder.
    #[error("no pack fits {folder}; the packs are: {}", known.join(", "))]
    NoPack {
        /// The folder.
        folder: String,
        /// Those there are.
        known: Vec<String>,
    },
}
