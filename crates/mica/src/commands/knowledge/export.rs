//! `mica knowledge export`: the references as files, with an `llms.txt` that lists them.
//!
//! A file that this command did not write is not overwritten: all are looked at before the first is written.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use pack_mi::knowledge::{Library, Reference};

use crate::commands::language::Said;

/// Stands in every file that is written, so that the next export knows its own.
const MARK: &str = "<!-- written by mica knowledge export -->";

/// Writes the files.
///
/// # Errors
/// When the folder cannot be made, a file is somebody else's, or one cannot be written.
pub fn run(folder: &Path, force: bool) -> Result<Said> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        bail!("{shown} is no folder");
    }
    let mut files =
        vec![("llms.txt".to_owned(), format!("{}\n{MARK}\n", list(|one| format!("{}.md", one.name))))];
    files.extend(Library::builtin().references().iter().map(|one| (format!("{}.md", one.name), page(one))));
    if !force {
        let foreign = foreign(folder, &files)?;
        if !foreign.is_empty() {
            bail!(
                "{shown} has files that this command did not write: {}. Nothing was written; choose another folder, or \
                 overwrite them with --force",
                foreign.join(", ")
            );
        }
    }
    std::fs::create_dir_all(folder).with_context(|| format!("{shown} cannot be made"))?;
    for (name, text) in &files {
        write(&folder.join(name), text)?;
    }
    Ok(Said::done(format!("{} files are in {shown}\n", files.len())))
}

/// Files of those names that are there and not ours.
fn foreign(folder: &Path, files: &[(String, String)]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, _) in files {
        let path = folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => {
                if !String::from_utf8_lossy(&bytes).contains(MARK) {
                    found.push(name.clone());
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
    Ok(found)
}

/// A reference as a file.
fn page(reference: &Reference) -> String {
    let runtimes =
        reference.runtimes.words().map_or_else(String::new, |words| format!(" True for MI {words}."));
    let text = reference.markdown();
    let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{title}\n\n> {}{runtimes}\n{body}\n{MARK}\n", reference.description)
}

/// The list of all, in the form of llms.txt. `link` says where each is.
pub fn list(link: impl Fn(&Reference) -> String) -> String {
    let mut out =
        "# Synapse and WSO2 Micro Integrator: references\n\n> What the language and the runtime do, with \
                   examples that are verified by an evaluator and a checker.\n\n## References\n\n"
            .to_owned();
    for one in Library::builtin().references() {
        let _ =
            writeln!(out, "- [{}]({}): {} ({} tokens)", one.title, link(one), one.description, one.tokens());
    }
    out
}

#[allow(clippy::disallowed_methods, reason = "the person named the folder to write to")]
fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
