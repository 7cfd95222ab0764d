//! Files that are written for people and programs: reports, journals, recordings.
//!
//! Promise: whoever reads one sees the old bytes or the new ones, never half of them.

use std::path::Path;

use mica_session::{Readers, Worth, replace_file};

use crate::error::EvalError;

/// Writes a file as a whole, with its folders. A name that leads to another file is followed; what is no file, such as a
/// terminal or a pipe, is written to as it is.
///
/// # Errors
/// [`EvalError::File`].
#[allow(clippy::disallowed_methods, reason = "pipes and terminals cannot be replaced")]
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), EvalError> {
    let failed = |source| EvalError::File { path: path.to_path_buf(), source };
    match path.metadata() {
        Ok(facts) if facts.is_file() => {
            let behind = path.canonicalize().map_err(failed)?;
            replace_file(&behind, bytes, Worth::Bytes, Readers::Usual).map_err(failed)
        }
        Ok(facts) if !facts.is_dir() => std::fs::write(path, bytes).map_err(failed),
        _ => replace_file(path, bytes, Worth::Bytes, Readers::Usual).map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests make files")]

    use super::*;

    #[test]
    fn files_are_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(&at("new/one.json"), b"1").unwrap();
        write(&at("new/one.json"), b"2").unwrap();
        assert_eq!(std::fs::read(at("new/one.json")).unwrap(), b"2");
        std::os::unix::fs::symlink("new/one.json", at("link")).unwrap();
        write(&at("link"), b"3").unwrap();
        assert_eq!(std::fs::read(at("new/one.json")).unwrap(), b"3");
        assert!(at("link").is_symlink());
        write(Path::new("/dev/null"), b"4").unwrap();
        let wrong = write(&at("new"), b"5").unwrap_err().to_string();
        assert!(wrong.contains("new"), "{wrong}");
        let left: Vec<_> =
            std::fs::read_dir(at("new")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["one.json"], "nothing is left beside it");
    }
}
