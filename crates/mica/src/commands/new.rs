//! `mica new`: a new Micro Integrator project in a folder of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use pack_mi::scaffold::{NewFile, NewProject, OpenApi, files};
use sha2::{Digest as _, Sha256};
use synapse_lang::model::Version;

use super::language::Said;
use crate::cli::language::{NewFlags, NewLayout};
use crate::exit::Exit;
use crate::sources;

/// Makes a project. Everything is decided before the first file is written.
///
/// # Errors
/// When it is called wrongly: names that cannot be, a folder that is in use, a definition that cannot be read.
pub fn run(flags: &NewFlags) -> Result<Said> {
    let NewLayout::New = flags.layout;
    let runtime = sources::runtime(flags.runtime.as_deref())?.unwrap_or(Version::NEWEST);
    let mut project = NewProject::new(&flags.name, runtime)?
        .in_group(&flags.group)?
        .with_repositories(&flags.repository)?;
    project.id = fresh_id(&flags.name);
    let mut notes = Vec::new();
    if let Some(path) = &flags.openapi {
        let shown = sources::shown(path);
        let text = fs::read(path).with_context(|| shown.clone())?;
        let api = OpenApi::read(&String::from_utf8_lossy(&text)).with_context(|| shown)?;
        notes.extend(api.notes.iter().map(|note| format!("left out: {note}")));
        project.api = Some(api);
    }
    let folder = Path::new(&flags.name);
    free(folder)?;
    let files = files(&project);
    if flags.dry_run {
        let rows = files.iter().map(|file| format!("{}/{}\n", flags.name, file.path)).collect();
        return Ok(Said::done(rows));
    }
    let count = files.iter().filter(|file| !file.is_folder()).count();
    let mut said = Said::done(told(flags, &project, count));
    said.err = notes.iter().map(|note| format!("mica: {note}\n")).collect();
    if let Err(error) = write(folder, &files) {
        return Ok(Said {
            out: String::new(),
            err: format!("mica: {}\n", crate::told(&error)),
            exit: Exit::Error,
        });
    }
    Ok(said)
}

fn told(flags: &NewFlags, project: &NewProject, count: usize) -> String {
    let name = &flags.name;
    let mut text = format!("Made {name} for runtime {}: {count} files.\n", project.runtime);
    if let Some(api) = &project.api {
        let resources = api.operations.len();
        text.push_str(&format!(
            "The API {} has {resources} {} under {}; {}\n",
            api.name,
            if resources == 1 { "resource" } else { "resources" },
            api.context,
            answers(api.operations.iter().filter(|one| one.is_answered()).count(), resources)
        ));
    }
    if flags.repository.is_empty() {
        text.push_str(
            "The pom.xml names no Maven repository: the one with WSO2's plugins and connectors belongs into Maven's settings, \
             or is given with --repository. Builds by the agent read those settings only with maven_settings = true, and reach only \
             the hosts in network, both below [mi] in your own settings (docs/runtime.md).\n",
        );
    }
    text.push_str(&format!("Next: cd {name} && mica check, then mica to work on it.\n"));
    text
}

/// How many of the resources answer what the definition shows or allows.
fn answers(answered: usize, resources: usize) -> String {
    if answered == resources {
        return "each answers an example until you write its flow.".to_owned();
    }
    match answered {
        0 if resources == 1 => "it says that it is not implemented until you write its flow.".to_owned(),
        0 => "they say that they are not implemented until you write their flows.".to_owned(),
        _ => format!(
            "{answered} of {resources} answer an example of the definition; the others say that they are not implemented."
        ),
    }
}

/// A folder that is not there yet, or has nothing in it.
fn free(folder: &Path) -> Result<()> {
    let shown = folder.display();
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{shown} cannot be looked at")),
        Ok(facts) if !facts.is_dir() => bail!("{shown} is there already, and is no folder"),
        Ok(_) => {
            let mut entries = fs::read_dir(folder).with_context(|| format!("{shown} cannot be looked at"))?;
            if entries.next().is_some() {
                bail!("{shown} is there already, and is not empty: nothing was written");
            }
            Ok(())
        }
    }
}

/// Writes the files, none over one that is there.
fn write(folder: &Path, files: &[NewFile]) -> Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        let shown = || format!("{} cannot be written", path.display());
        if file.is_folder() {
            fs::create_dir_all(&path).with_context(shown)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(shown)?;
        }
        let mut open = fs::File::create_new(&path).with_context(shown)?;
        open.write_all(file.content.as_bytes()).with_context(shown)?;
    }
    Ok(())
}

/// An id that no other project has: what it is called, when and by which process it was made.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
fn fresh_id(name: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let digest = Sha256::digest(format!("{name} {now} {}", std::process::id()));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    // The form of a random id, version 4.
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
