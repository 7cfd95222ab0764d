//! What a project brings to its server: its settings, its libraries, its variables.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::runtime::contained;

/// Bytes of a file of variables, and of one of settings.
const LONGEST: u64 = 1 << 20;
/// Bytes of a library.
const LARGEST: u64 = 512 << 20;
/// What is added to the name of a file that is kept because it was replaced.
const KEPT: &str = ".before-mica";

/// Puts the project's settings over the server's, when they differ. The server's own are kept beside, once: a second start
/// must not back up what the first one put there.
///
/// # Errors
/// When files cannot be read or written.
pub(super) fn settings(project: &Path, home: &Path) -> io::Result<Option<String>> {
    let read = |base: &Path, path: &str| missing(contained::bytes(base, Path::new(path), LONGEST));
    let (Some(ours), Some(theirs)) =
        (read(project, "deployment/deployment.toml")?, read(home, "conf/deployment.toml")?)
    else {
        return Ok(None);
    };
    if ours == theirs {
        return Ok(None);
    }
    let to = home.join("conf/deployment.toml");
    let kept = keep(&to, &theirs)?;
    contained::write(&to, &mut ours.as_slice())?;
    Ok(Some(format!(
        "{} was replaced by the project's deployment/deployment.toml; what it was is in {}",
        to.display(),
        kept.display()
    )))
}

/// Copies the project's libraries to the server. Those that are there already with the same bytes stay; others of the same
/// name are kept beside, once.
///
/// # Errors
/// When files cannot be read or written. Nothing is copied when one of them cannot be read.
pub(super) fn libraries(project: &Path, home: &Path) -> io::Result<Option<String>> {
    let libs = Path::new("deployment/libs");
    let Some(folder) = contained::folder(project, libs)? else { return Ok(None) };
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder)?.flatten().map(|entry| PathBuf::from(entry.file_name())).collect();
    names.retain(|name| name.extension().is_some_and(|found| found == "jar"));
    names.sort();
    let about = |name: &Path, error: io::Error| io::Error::other(format!("{}: {error}", name.display()));
    for name in &names {
        contained::open(project, &libs.join(name)).map_err(|error| about(name, error))?;
    }
    let mut copied = Vec::new();
    for name in &names {
        let ours =
            contained::bytes(project, &libs.join(name), LARGEST).map_err(|error| about(name, error))?;
        let theirs = missing(contained::bytes(home, &Path::new("lib").join(name), LARGEST))
            .map_err(|error| about(&home.join("lib").join(name), error))?;
        if theirs.as_ref() == Some(&ours) {
            continue;
        }
        let to = contained::made(home, Path::new("lib"))?.join(name);
        let shown = name.display();
        copied.push(match theirs {
            Some(theirs) => format!("{shown} (what it was is in {})", keep(&to, &theirs)?.display()),
            None => shown.to_string(),
        });
        contained::write(&to, &mut ours.as_slice())?;
    }
    if copied.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!("copied to {}: {}", home.join("lib").display(), copied.join(", "))))
}

/// Keeps what a file was before it is replaced for the first time.
fn keep(path: &Path, was: &[u8]) -> io::Result<PathBuf> {
    let mut kept = path.as_os_str().to_owned();
    kept.push(KEPT);
    let kept = PathBuf::from(kept);
    if kept.symlink_metadata().is_err() {
        contained::write(&kept, &mut &*was)?;
    }
    Ok(kept)
}

/// What is missing is no error.
fn missing<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The variables of a `.env` file of the project; none when there is no such file.
///
/// # Errors
/// When it cannot be read.
pub(super) fn variables(project: &Path, path: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = missing(contained::text(project, path, LONGEST))?;
    Ok(text.map(|text| parse(&text)).unwrap_or_default())
}

/// `NAME=value`, `export NAME="value"`, `# comment`.
fn parse(text: &str) -> BTreeMap<String, String> {
    let variable = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let begins = name.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_');
        if !begins || !name.chars().all(|one| one.is_ascii_alphanumeric() || "_.-".contains(one)) {
            return None;
        }
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        let value = match (quoted('"'), quoted('\'')) {
            (Some(value), _) => value.replace("\\n", "\n").replace("\\\"", "\""),
            (_, Some(value)) => value.to_owned(),
            // A comment behind a value that is not quoted.
            _ => value.split(" #").next().unwrap_or(value).trim_end().to_owned(),
        };
        Some((name.to_owned(), value))
    };
    text.lines().filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests write files")]
    use super::*;

    #[test]
    fn variables_are_read_as_shells_write_them() {
        let text = "# a comment\nA=1\n export B = \"two words\"\nC='x # y'\nD=value # said\n\nnonsense\n=x\n1X=y\nE=a=b\nF=\n";
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "x # y"), ("D", "value"), ("E", "a=b"), ("F", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text), expected.into_iter().collect());
    }

    #[test]
    fn settings_are_backed_up_once_and_libraries_copied_when_they_differ() {
        let folder = tempfile::tempdir().unwrap();
        let (project, home) = (folder.path().join("p"), folder.path().join("s"));
        for path in ["p/deployment/libs", "s/conf", "s/lib"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        std::fs::write(home.join("conf/deployment.toml"), "theirs").unwrap();
        std::fs::write(project.join("deployment/deployment.toml"), "ours").unwrap();
        std::fs::write(project.join("deployment/libs/driver.jar"), "jar").unwrap();
        std::fs::write(project.join("deployment/libs/read.me"), "no").unwrap();
        assert!(settings(&project, &home).unwrap().is_some());
        assert_eq!(settings(&project, &home).unwrap(), None);
        std::fs::write(project.join("deployment/deployment.toml"), "ours again").unwrap();
        assert!(settings(&project, &home).unwrap().is_some());
        let text = |name: &str| std::fs::read_to_string(home.join("conf").join(name)).unwrap();
        assert_eq!(
            (text("deployment.toml"), text("deployment.toml.before-mica")),
            ("ours again".into(), "theirs".into())
        );
        assert!(libraries(&project, &home).unwrap().unwrap().ends_with("lib: driver.jar"));
        assert_eq!(libraries(&project, &home).unwrap(), None);
        assert!(!home.join("lib/read.me").exists());
    }
    #[test]
    fn libraries_of_the_server_are_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let (project, home) = (folder.path().join("p"), folder.path().join("s"));
        for path in ["p/deployment/libs", "s/lib"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        std::fs::write(home.join("lib/driver.jar"), "theirs").unwrap();
        for text in ["ours", "ours again"] {
            std::fs::write(project.join("deployment/libs/driver.jar"), text).unwrap();
            let told = libraries(&project, &home).unwrap().unwrap();
            assert!(told.ends_with("driver.jar.before-mica)"), "{told}");
        }
        let text = |name: &str| std::fs::read_to_string(home.join("lib").join(name)).unwrap();
        assert_eq!(
            (text("driver.jar"), text("driver.jar.before-mica")),
            ("ours again".into(), "theirs".into())
        );
    }

    #[test]
    fn links_bring_nothing_to_the_server() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (project, home) = (folder.path().join("p"), folder.path().join("s"));
        for path in ["p/deployment/libs", "s/conf", "s/lib"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "TOKEN=hunter2").unwrap();
        std::fs::write(home.join("conf/deployment.toml"), "theirs").unwrap();
        std::fs::write(project.join("deployment/libs/a.jar"), "jar").unwrap();
        for path in ["deployment/libs/b.jar", "deployment/deployment.toml", ".env"] {
            symlink(&secret, project.join(path)).unwrap();
        }
        assert!(libraries(&project, &home).unwrap_err().to_string().starts_with("b.jar: it is a link"));
        assert!(settings(&project, &home).unwrap_err().to_string().starts_with("it is a link"));
        assert!(variables(&project, Path::new(".env")).unwrap_err().to_string().starts_with("it is a link"));
        assert_eq!(std::fs::read_dir(home.join("lib")).unwrap().count(), 0);
        assert_eq!(std::fs::read_to_string(home.join("conf/deployment.toml")).unwrap(), "theirs");
    }
}
