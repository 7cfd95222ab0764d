//! `mica trust`: trust a project's settings, or take it back.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::config::{project_file, trust};
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// When there are no settings, or the mark cannot be written.
pub fn run(surroundings: &Surroundings, folder: Option<&Path>, revoke: bool) -> Result<String> {
    let folder = folder.unwrap_or(&surroundings.folder);
    let file = project_file(folder);
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    if revoke {
        let was = trust::revoke(surroundings, &text)?;
        return Ok(format!(
            "{} {}\n",
            file.display(),
            if was { "is no longer trusted" } else { "was not trusted" }
        ));
    }
    trust::trust(surroundings, &text, &file.display().to_string())?;
    Ok(format!("{} is trusted as it is now; a change needs trust anew:\n\n{text}", file.display()))
}
