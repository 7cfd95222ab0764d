//! Puts a new text in the place of a file: all of it or nothing, and only over what was read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file whose content is known. The new content is written beside it and takes its place in one step, with
/// the file's permissions.
///
/// # Errors
/// Why it was left alone: it changed meanwhile, or cannot be written.
pub fn replace(file: &Path, known: &[u8], content: &[u8]) -> Result<(), String> {
    let (beside, mut new) =
        beside(file).map_err(|error| format!("nothing can be written beside it: {error}"))?;
    let written = fill(&mut new, file, content).map_err(|error| format!("it cannot be written: {error}"));
    drop(new);
    let done = written.and_then(|()| {
        // The last look is as close to the step as it can be.
        match fs::read(file) {
            Ok(now) if now == known => {
                fs::rename(&beside, file).map_err(|error| format!("it cannot be replaced: {error}"))
            }
            Ok(_) => Err("it changed meanwhile, so it was left alone".to_owned()),
            Err(error) => Err(format!("it went away: {error}")),
        }
    });
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// A new file beside another.
fn beside(file: &Path) -> io::Result<(PathBuf, File)> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut number = 0;
    loop {
        let path = file.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(new) => return Ok((path, new)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn fill(new: &mut File, file: &Path, content: &[u8]) -> io::Result<()> {
    let permissions = fs::metadata(file)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    new.set_permissions(permissions)?;
    new.write_all(content)?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        File::create(&file).unwrap().write_all(b"old").unwrap();
        assert_eq!(
            replace(&file, b"other", b"new"),
            Err("it changed meanwhile, so it was left alone".to_owned())
        );
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(replace(&file, b"old", b"new"), Ok(()));
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        File::create(&file).unwrap().write_all(b"old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(replace(&file, b"old", b"new"), Ok(()));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
