//! A folder for what is printed while no session is kept. It goes with the program.

use std::path::{Path, PathBuf};

/// A folder that is removed when nobody needs it any more. Made by whoever writes to it first.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A folder of this process below the program's own data.
    pub fn new(data: &Path) -> Self {
        Self(data.join("scratch").join(std::process::id().to_string()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is not there need not go, and what cannot go is no reason to fail at the end.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
