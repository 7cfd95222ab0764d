//! Paths that a case names, kept where they belong.
//!
//! Promise: what [`below`] answers lies below the folder it is asked for, also by way of links that are there. A case is a
//! file that somebody was sent; playing it must not read or write anything but its own.

use std::path::{Component, Path, PathBuf};

/// The place of something that a case names below a folder. `what` is what that folder is called.
///
/// # Errors
/// In words: a path that is absolute, has `..` in it, or leads out over a link.
pub fn below(root: &Path, named: impl AsRef<Path>, what: &str) -> Result<PathBuf, String> {
    let named = named.as_ref();
    if let Some(problem) = leads_out(named) {
        return Err(format!("{problem}: name something below {what}"));
    }
    let mut path = root.to_path_buf();
    for part in named.components().filter(|part| matches!(part, Component::Normal(_))) {
        path.push(part);
        let Ok(facts) = path.symlink_metadata() else { continue };
        if !facts.is_symlink() {
            continue;
        }
        let stays = root.canonicalize().and_then(|root| Ok(path.canonicalize()?.starts_with(root)));
        if !stays.unwrap_or(false) {
            return Err(format!("{} leads out of {what}: {} is a link", named.display(), path.display()));
        }
    }
    Ok(path)
}

/// Why a path cannot lie below anything, by its words alone.
pub fn leads_out(named: &Path) -> Option<String> {
    let mut parts = 0;
    for part in named.components() {
        match part {
            Component::Normal(_) => parts += 1,
            Component::CurDir => {}
            Component::ParentDir => return Some(format!("{:?} has `..` in it", named.display().to_string())),
            Component::RootDir | Component::Prefix(_) => {
                return Some(format!("{:?} is an absolute path", named.display().to_string()));
            }
        }
    }
    (parts == 0).then(|| format!("{:?} is no path", named.display().to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests make files")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[track_caller]
    fn check(root: &Path, named: &str, expect: Result<&str, &str>) {
        let found = below(root, named, "the folder of the case");
        let shown = root.display().to_string();
        let found = found.map(|path| path.strip_prefix(root).unwrap().display().to_string());
        let found = found.map_err(|problem| problem.replace(&shown, "ROOT"));
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{named}");
    }

    #[test]
    fn nothing_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        symlink(folder.path(), root.join("out")).unwrap();
        symlink("../../secret", root.join("sub/secret")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("sub", root.join("inside")).unwrap();
        check(&root, "a.txt", Ok("a.txt"));
        check(&root, "./sub/new/a.txt", Ok("sub/new/a.txt"));
        check(&root, "inside/a.txt", Ok("inside/a.txt"));
        let hint = "name something below the folder of the case";
        check(&root, "/etc/passwd", Err(&format!("\"/etc/passwd\" is an absolute path: {hint}")));
        check(&root, "sub/../../x", Err(&format!("\"sub/../../x\" has `..` in it: {hint}")));
        check(&root, "", Err(&format!("\"\" is no path: {hint}")));
        check(&root, ".", Err(&format!("\".\" is no path: {hint}")));
        check(&root, "out/secret", Err("out/secret leads out of the folder of the case: ROOT/out is a link"));
        check(
            &root,
            "sub/secret",
            Err("sub/secret leads out of the folder of the case: ROOT/sub/secret is a link"),
        );
        check(
            &root,
            "dangling",
            Err("dangling leads out of the folder of the case: ROOT/dangling is a link"),
        );
    }
}
