//! Why cases cannot be read or played.

use std::path::PathBuf;

/// Why cases cannot be read or played. That a case failed is no error: it is in the report.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file says something that means nothing.
    #[error("{}{}{}: {problem}", .path.display(), after(*.line), after(*.column))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, as far as there is one.
        line: Option<usize>,
        /// The column in it.
        column: Option<usize>,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A recording would have something in it that is known to be secret.
    #[error(
        "{} was not written: something secret of the environment or the settings would stand in its line {line}, in a form \
         that is not redacted; keep it away from the model, or record without it",
        .path.display()
    )]
    Secret {
        /// The file.
        path: PathBuf,
        /// Its line.
        line: usize,
    },
    /// A model failed while it was recorded, and there is a recording already.
    #[error(
        "{} stays as it was: the model failed while it was recorded; delete the file first if the failure is what you want",
        .path.display()
    )]
    Failed {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to play.
    #[error("{problem}")]
    Nothing {
        /// What was looked for, and what to do.
        problem: String,
    },
}

/// A line or a column as it stands behind a name.
fn after(number: Option<usize>) -> String {
    number.map_or(String::new(), |number| format!(":{number}"))
}
