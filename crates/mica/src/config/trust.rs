//! Trust in a project's own settings: given once for what they are now, and gone when they change.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use sha2::{Digest, Sha256};

use crate::surroundings::Surroundings;

/// Whether settings with this text are trusted.
pub fn is_trusted(surroundings: &Surroundings, text: &str) -> bool {
    marker(surroundings, text).exists()
}

/// Trusts settings with this text.
///
/// # Errors
/// When the mark cannot be written.
#[allow(clippy::disallowed_methods, reason = "the trust store is this module's own")]
pub fn trust(surroundings: &Surroundings, text: &str, whose: &str) -> Result<()> {
    let marker = marker(surroundings, text);
    let folder = marker.parent().context("a marker is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(&marker, whose).with_context(|| format!("{} cannot be written", marker.display()))
}

/// Takes trust back.
///
/// # Errors
/// When the mark cannot be removed.
pub fn revoke(surroundings: &Surroundings, text: &str) -> Result<bool> {
    let marker = marker(surroundings, text);
    match std::fs::remove_file(&marker) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("{} cannot be removed", marker.display())),
    }
}

/// One file for each trusted content, named by its digest: no list to corrupt, and two programs can write at once.
fn marker(surroundings: &Surroundings, text: &str) -> PathBuf {
    let digest = Sha256::digest(text.as_bytes());
    let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    surroundings.config.join("trusted").join(name)
}
