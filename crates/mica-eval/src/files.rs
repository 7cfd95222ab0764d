//! Files that are written for people and programs: reports, journals, recordings.
//!
//! Promise: whoever reads one sees the old bytes or the new ones, never half of them.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

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

/// Makes the folders of a file that will be written, and tries whether it can be: whoever plays for an hour learns before
/// what would be in the way.
///
/// # Errors
/// [`EvalError::File`].
#[allow(clippy::disallowed_methods, reason = "what is tried is whether files can be made")]
pub fn prepare(path: &Path) -> Result<(), EvalError> {
    let failed = |source| EvalError::File { path: path.to_path_buf(), source };
    let behind = match path.metadata() {
        Ok(facts) if facts.is_dir() => {
            return Err(failed(Error::new(ErrorKind::IsADirectory, "this is a folder: name a file in it")));
        }
        Ok(facts) if !facts.is_file() => return Ok(()),
        Ok(_) => path.canonicalize().map_err(failed)?,
        Err(_) => path.to_path_buf(),
    };
    let folder = behind.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            let part = folder.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(folder);
            failed(Error::new(source.kind(), format!("{} is no folder", part.display())))
        }
        _ => failed(source),
    })?;
    let mut name = behind.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let tried = behind.with_file_name(name);
    std::fs::write(&tried, b"").and_then(|()| std::fs::remove_file(&tried)).map_err(failed)
}

/// Whether two names lead to one file. Terminals, pipes and the like can be written to twice.
pub fn is_same(one: &Path, other: &Path) -> bool {
    fn behind(path: &Path) -> Option<PathBuf> {
        match path.metadata() {
            Ok(facts) if !facts.is_file() => None,
            Ok(_) => path.canonicalize().ok(),
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(folder.join(path.file_name()?))
            }
        }
    }
    behind(one).is_some_and(|one| behind(other) == Some(one))
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

    #[test]
    fn what_is_in_the_way_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        prepare(&at("new/deep/one.json")).unwrap();
        assert_eq!(std::fs::read_dir(at("new/deep")).unwrap().count(), 0, "nothing is left");
        write(&at("file"), b"1").unwrap();
        prepare(&at("file")).unwrap();
        assert_eq!(std::fs::read(at("file")).unwrap(), b"1");
        prepare(Path::new("/dev/null")).unwrap();
        let check = |name: &str, problem: &str| {
            let said = prepare(&at(name)).unwrap_err().to_string();
            assert_eq!(said, format!("{}: {problem}", at(name).display()));
        };
        check("new", "this is a folder: name a file in it");
        check("file/below", &format!("{} is no folder", at("file").display()));
        check("file/far/below", &format!("{} is no folder", at("file").display()));
        std::os::unix::fs::symlink("new/deep", at("link")).unwrap();
        let same = |one: &str, other: &str, expect: bool| {
            assert_eq!(is_same(&at(one), &at(other)), expect, "{one} {other}");
        };
        same("file", "file", true);
        same("file", "new/../file", true);
        same("link/a", "new/deep/a", true);
        same("file", "other", false);
        same("nowhere/a", "nowhere/b", false);
        assert!(!is_same(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
