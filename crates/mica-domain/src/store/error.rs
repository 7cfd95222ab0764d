//! What can go wrong with the context store.

use super::path::Misread;

/// What is wrong with a reference, or with what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It is no reference.
    #[error(transparent)]
    Misread(#[from] Misread),
    /// There is nothing there.
    #[error("{reference} stands for nothing: {problem}. There is: {}", if there.is_empty() { "nothing".to_owned() } else { there.join(", ") })]
    Missing {
        /// The reference.
        reference: String,
        /// Where it leads nowhere.
        problem: String,
        /// References to what there is.
        there: Vec<String>,
    },
    /// Only variables can be written.
    #[error("{reference} cannot be written: only variables can, such as var:name")]
    ReadOnly {
        /// The reference.
        reference: String,
    },
    /// There is no room for it.
    #[error("var:{name} would be {bytes} bytes too large: all variables together may have {limit}")]
    TooLarge {
        /// The variable.
        name: String,
        /// Bytes that are too many.
        bytes: usize,
        /// Bytes that all variables may have.
        limit: usize,
    },
    /// A text has something open that is never closed.
    #[error("\"{{{{\" at character {} is never closed with \"}}}}\"; write \"\\{{{{\" for the letters themselves", column + 1)]
    Unclosed {
        /// Characters before it.
        column: usize,
    },
    /// A binding is for an argument that is not there.
    #[error("{tool}.{argument} is bound, but is not an argument of a tool")]
    NoSuchArgument {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
    /// It could not be read or kept.
    #[error("the store could not be kept: {0}")]
    Kept(String),
}

impl StoreError {
    /// For the model: what is wrong, and what to do.
    pub fn for_model(&self) -> String {
        format!("{self}.")
    }
}
