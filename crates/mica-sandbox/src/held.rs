//! Empty folders that hold the places of those that are missing and must not be made by a command.
//!
//! They are made before a command and removed after the last one that needs them. Only an empty folder can be removed,
//! so what somebody else put there meanwhile stays.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The folders that are held now, and by how many commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holder(Arc<Mutex<HashMap<PathBuf, usize>>>);

/// Holds some, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    holder: Holder,
    paths: Vec<PathBuf>,
}

impl Holder {
    /// Holds those of `wanted` that are missing and whose folder is there.
    pub(crate) fn hold(&self, wanted: &[PathBuf]) -> Held {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut paths = Vec::new();
        for path in wanted {
            if counts.contains_key(path) || std::fs::create_dir(path).is_ok() {
                *counts.entry(path.clone()).or_default() += 1;
                paths.push(path.clone());
            }
        }
        Held { holder: self.clone(), paths }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut counts = self.holder.0.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            let Some(count) = counts.get_mut(path) else { continue };
            *count -= 1;
            if *count == 0 {
                counts.remove(path);
                let _ = std::fs::remove_dir(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_there_as_long_as_they_are_held() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, there) = (folder.path().join("missing"), folder.path().join("there"));
        std::fs::create_dir(&there).unwrap();
        let holder = Holder::default();
        let wanted = [missing.clone(), there.clone(), folder.path().join("no/parent")];
        let (one, two) = (holder.hold(&wanted), holder.hold(&wanted));
        assert!(missing.is_dir() && !folder.path().join("no").exists());
        drop(one);
        assert!(missing.is_dir());
        drop(two);
        assert!(!missing.exists() && there.is_dir());
    }
}
