//! What is true of the project at the moment: told with a message, and again only when it changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mica_domain::{Section, State, Turn, editor};
use synapse_lang::model::Version;
use synapse_lang::project::{Project, disk};

use crate::checking::Checker;

/// Files of the project that are named. The rest is counted: a model that needs it looks.
const FILES: usize = 50;
/// Characters of the whole section.
const CHARACTERS: usize = 10_000;

/// The sections, in the order from what changes least. The project is looked at once for all of them.
pub(crate) fn sections(checker: &Checker, state: &State) -> Vec<Section<Turn>> {
    let seen = checker.with_project(|project| Seen {
        runtime: project.runtime(),
        connectors: connectors(project),
        folders: tree(project),
    });
    vec![
        Section::<Turn>::new("runtime", runtime(checker, seen.as_ref())),
        Section::<Turn>::new("connectors", seen.as_ref().map_or("", |seen| &seen.connectors)),
        Section::<Turn>::new(
            "project",
            seen.map_or_else(String::new, |seen| structure(checker, &seen.folders)),
        ),
        editor::section(state),
    ]
}

/// What is so of a project.
struct Seen {
    runtime: Option<Version>,
    connectors: String,
    folders: Vec<(String, Vec<String>)>,
}

/// Which runtime the project is built for.
fn runtime(checker: &Checker, seen: Option<&Seen>) -> String {
    let roots = checker.roots_below();
    let modules = match roots.as_slice() {
        [] | [_] => String::new(),
        several => format!(
            "\nProjects in this folder: {}.",
            several.iter().map(|root| below(checker.top(), root)).collect::<Vec<_>>().join(", ")
        ),
    };
    match seen.map(|seen| seen.runtime) {
        None => "No Micro Integrator project was found in this folder.".to_owned(),
        Some(Some(version)) => format!("The project is built for Micro Integrator {version}.{modules}"),
        Some(None) => format!(
            "The project's pom.xml does not say which runtime it is built for (project.runtime.version). Files are checked \
             as for the newest one.{modules}"
        ),
    }
}

/// The connectors that are there to be used.
fn connectors(project: &Project) -> String {
    let mut listed: Vec<String> = project
        .poms()
        .flat_map(|(_, facts)| &facts.connectors)
        .map(|one| format!("{} {}", one.artifact, one.version))
        .collect();
    let zips = project.other_files().filter(|path| is_connector_zip(path));
    listed.extend(zips.filter_map(|path| path.rsplit('/').next()).map(str::to_owned));
    listed.sort();
    listed.dedup();
    if listed.is_empty() {
        String::new()
    } else {
        format!("Connectors of this project: {}.", listed.join(", "))
    }
}

fn is_connector_zip(path: &str) -> bool {
    path.ends_with(".zip") && (path.contains("/connectors/") || path.contains("/inbound-connectors/"))
}

/// The files of the project, by folder.
fn structure(checker: &Checker, folders: &[(String, Vec<String>)]) -> String {
    let Some(root) = checker.root().filter(|_| !folders.is_empty()) else { return String::new() };
    let (shown, more) = capped(folders);
    let mut text = format!("Files of {}:", place(checker.top(), &root));
    for (folder, files) in shown {
        let folder = if folder.is_empty() { "./" } else { folder };
        let _ = write!(text, "\n{folder}: {}", files.join(", "));
    }
    if more > 0 {
        let _ = write!(text, "\n… and {more} more files");
    }
    cut(text)
}

/// Files by folder; those of the language first, then the others.
fn tree(project: &Project) -> Vec<(String, Vec<String>)> {
    let mut folders: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    let known = project.files().map(|(path, _)| path);
    let all = known.chain(project.poms().map(|(path, _)| path)).chain(project.other_files());
    for path in all {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let other = !path.contains("wso2mi/") && !path.contains("synapse-config/");
        let names = folders.entry((other, folder)).or_default();
        if !names.iter().any(|one| one == name) {
            names.push(name.to_owned());
        }
    }
    folders.into_iter().map(|((_, folder), names)| (folder, names)).collect()
}

/// As many files as there is room for, every folder with its share, and how many were left out.
fn capped(folders: &[(String, Vec<String>)]) -> (Vec<(&str, Vec<String>)>, usize) {
    let mut room = FILES;
    let mut open = folders.len();
    let mut by_size: Vec<usize> = (0..folders.len()).collect();
    by_size.sort_by_key(|at| folders.get(*at).map_or(0, |(_, names)| names.len()));
    // Small folders first, so that what they do not need is there for the large ones.
    let mut takes = vec![0; folders.len()];
    for at in by_size {
        let (Some((_, names)), Some(take)) = (folders.get(at), takes.get_mut(at)) else { continue };
        let share = if open == 0 { room } else { room.div_ceil(open) };
        *take = names.len().min(share).min(room);
        room -= *take;
        open = open.saturating_sub(1);
    }
    let mut more = 0;
    let mut shown = Vec::new();
    for ((folder, names), take) in folders.iter().zip(takes) {
        more += names.len() - take;
        let mut listed: Vec<String> = names.iter().take(take).cloned().collect();
        if take < names.len() {
            listed.push(format!("… {} in all", names.len()));
        }
        shown.push((folder.as_str(), listed));
    }
    (shown, more)
}

fn cut(text: String) -> String {
    if text.chars().count() <= CHARACTERS {
        return text;
    }
    let kept: String = text.chars().take(CHARACTERS).collect();
    let whole = kept.rsplit_once(['\n', ',']).map_or(kept.as_str(), |(whole, _)| whole);
    format!("{whole} …")
}

fn below(top: &Path, path: &Path) -> String {
    disk::relative(top, path).unwrap_or_else(|| path.display().to_string())
}

fn place(top: &Path, root: &Path) -> String {
    if top == root { "the project".to_owned() } else { below(top, root) }
}

#[cfg(test)]
mod tests;
