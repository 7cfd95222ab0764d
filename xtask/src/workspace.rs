//! Where things are in the working copy.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The root of the working copy.
pub(crate) fn root() -> PathBuf {
    // Cargo says where the crate is when it runs it; the path it was built at is the second best answer.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map(Path::to_path_buf).unwrap_or(own)
}

/// Where builds go. Whatever the chores install goes there as well, so that `cargo clean` removes it.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |given| root().join(PathBuf::from(given)))
}

/// Whether this is a run that nobody watches.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

/// Writes a text file.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|error| Failure::new(format!("cannot make {}: {error}", path.display())))
}

/// Removes a folder and what is in it. A folder that is not there is fine.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}
