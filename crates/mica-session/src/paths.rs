//! Where the files of a session are: `<sessions>/<project key>/<time>_<id>.jsonl`, and its companions beside it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use crate::id::SessionId;

/// What names the files of sessions.
pub(crate) const ENDING: &str = "jsonl";

/// The folder of a project's sessions: the end of its path for people, and a hash of all of it, because two projects may
/// end alike and a path spelled with dashes can be read in two ways.
pub(crate) fn project_key(project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let tame: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' })
        .take(40)
        .collect();
    let tame = tame.trim_start_matches(['.', '-']);
    let name = if tame.is_empty() { "project" } else { tame };
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    format!("{name}-{}", hex(&digest[..6]))
}

/// The name of a session's file. Colons are left out, because not every system has them in names.
pub(crate) fn file_name(created: Timestamp, id: SessionId) -> String {
    let time = created.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ");
    format!("{time}_{id}.{ENDING}")
}

/// The id in the name of a session's file.
pub(crate) fn id_in_name(path: &Path) -> Option<SessionId> {
    if path.extension()? != ENDING {
        return None;
    }
    path.file_stem()?.to_str()?.rsplit('_').next()?.parse().ok()
}

/// A companion of a session: its file's name with something after it.
pub(crate) fn sidecar(session: &Path, ending: &str) -> PathBuf {
    let mut name = session.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    session.with_file_name(name)
}

pub(crate) fn index(session: &Path) -> PathBuf {
    sidecar(session, "idx")
}

pub(crate) fn blobs(session: &Path) -> PathBuf {
    session.with_extension("blobs")
}

/// Where long results of tools are kept in full.
pub(crate) fn spill(session: &Path) -> PathBuf {
    session.with_extension("spill")
}

/// Where the sessions of a session's subagents are kept.
pub(crate) fn children(session: &Path) -> PathBuf {
    session.with_extension("agents")
}

/// All files and folders that belong to a session but its own file: those beside it whose names begin like its name, also
/// what others put there. The lock is not among them.
pub(crate) fn companions(session: &Path) -> Vec<PathBuf> {
    let stem = session.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let prefix = format!("{stem}.");
    let lock = crate::lock::beside(session);
    let folder = session.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let mut found: Vec<PathBuf> = folder
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && *path != lock && path != session
        })
        .collect();
    found.sort_unstable();
    found
}

/// A name beside the session that is not taken: `<file>.<ending>-1`, `-2` and so on.
pub(crate) fn free(session: &Path, ending: &str) -> PathBuf {
    let mut number = 1_u32;
    loop {
        let path = sidecar(session, &format!("{ending}-{number}"));
        if !path.exists() {
            return path;
        }
        number += 1;
    }
}

/// Bytes as small hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_that_end_alike_have_different_keys() {
        let one = project_key(Path::new("/home/user/a/orders api"));
        let other = project_key(Path::new("/home/user/b/orders api"));
        assert_eq!(one, "orders-api-9fc7d18f8045");
        assert_ne!(one, other);
        assert!(project_key(Path::new("/")).starts_with("project-"));
        assert!(project_key(Path::new("/x/..")).starts_with("project-"));
    }

    #[test]
    fn names_have_the_time_and_the_id() {
        let id: SessionId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let name = file_name("2026-03-04T05:06:07.89Z".parse().unwrap(), id);
        assert_eq!(name, "20260304T050607Z_01890a5d-ac96-774b-bcce-b302099a8057.jsonl");
        assert_eq!(id_in_name(Path::new(&name)), Some(id));
        assert_eq!(id_in_name(&index(Path::new(&name))), None);
    }
}
