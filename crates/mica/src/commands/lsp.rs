//! `mica lsp`: the seam for the language server.

use anyhow::{Result, bail};

use super::language::Said;

/// Serves an editor until it says goodbye.
///
/// # Errors
/// This build has no language server.
pub fn run() -> Result<Said> {
    bail!(
        "this build has no language server yet; `mica check --stdin --path FILE --format json` checks a text"
    )
}
