//! What a project brings to its server: its settings, its libraries, its variables.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a file of variables.
const LONGEST: u64 = 1 << 20;

/// Puts the project's settings over the server's, when they differ. The server's own are kept beside, once: a second start
/// must not back up what the first one put there.
///
/// # Errors
/// When files cannot be read or written.
pub(super) fn settings(project: &Path, home: &Path) -> io::Result<Option<String>> {
    let (from, to) = (project.join("deployment/deployment.toml"), home.join("conf/deployment.toml"));
    if !from.is_file() || !to.is_file() || std::fs::read(&from)? == std::fs::read(&to)? {
        return Ok(None);
    }
    let kept = to.with_file_name("deployment.toml.before-mica");
    if !kept.exists() {
        std::fs::copy(&to, &kept)?;
    }
    replace(&from, &to)?;
    Ok(Some(format!(
        "{} was replaced by the project's deployment/deployment.toml; what it was is in {}",
        to.display(),
        kept.display()
    )))
}

/// Copies the project's libraries to the server. Those that are there already with the same bytes stay.
///
/// # Errors
/// When files cannot be read or written.
pub(super) fn libraries(project: &Path, home: &Path) -> io::Result<Option<String>> {
    let Ok(entries) = std::fs::read_dir(project.join("deployment/libs")) else { return Ok(None) };
    let mut copied = Vec::new();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for from in
        paths.iter().filter(|path| path.extension().is_some_and(|found| found == "jar") && path.is_file())
    {
        let Some(name) = from.file_name() else { continue };
        let to = home.join("lib").join(name);
        let same = to.is_file() && std::fs::read(from)? == std::fs::read(&to)?;
        if !same {
            std::fs::create_dir_all(home.join("lib"))?;
            replace(from, &to)?;
            copied.push(name.to_string_lossy().into_owned());
        }
    }
    if copied.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!("copied to {}: {}", home.join("lib").display(), copied.join(", "))))
}

/// Copies a file so that nobody sees half of it.
///
/// # Errors
/// When it cannot be read or written.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    std::fs::copy(from, &part)?;
    std::fs::rename(&part, to).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

/// The variables of a `.env` file; none when there is no such file.
///
/// # Errors
/// When it cannot be read.
pub(super) fn variables(path: &Path) -> io::Result<BTreeMap<String, String>> {
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.len() <= LONGEST => {}
        Ok(facts) if facts.is_file() => {
            return Err(io::Error::other("it is too large for a list of variables"));
        }
        _ => return Ok(BTreeMap::new()),
    }
    Ok(parse(&std::fs::read_to_string(path)?))
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
}
