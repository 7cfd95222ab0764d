//! What is true of the project at the moment: told with a message, and again only when it changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mica_domain::{Section, State, Tier, editor};
use synapse_lang::project::{Project, disk};

use crate::checking::Checker;

/// Files of the project that are named. The rest is counted: a model that needs it looks.
const FILES: usize = 50;
/// Characters of the whole section.
const CHARACTERS: usize = 10_000;

/// The sections, in the order from what changes least.
pub(crate) fn sections(checker: &Checker, state: &State) -> Vec<Section> {
    vec![
        Section::new("runtime", Tier::Turn, runtime(checker)),
        Section::new("connectors", Tier::Turn, connectors(checker)),
        Section::new("project", Tier::Turn, structure(checker)),
        editor::section(state),
    ]
}

/// Which runtime the project is built for.
fn runtime(checker: &Checker) -> String {
    let roots = checker.roots_below();
    let modules = match roots.as_slice() {
        [] | [_] => String::new(),
        several => format!(
            "\nProjects in this folder: {}.",
            several.iter().map(|root| below(checker.top(), root)).collect::<Vec<_>>().join(", ")
        ),
    };
    match (checker.root(), checker.runtime()) {
        (None, _) => "No Micro Integrator project was found in this folder.".to_owned(),
        (Some(_), Some(version)) => format!("The project is built for Micro Integrator {version}.{modules}"),
        (Some(_), None) => format!(
            "The project's pom.xml does not say which runtime it is built for (project.runtime.version). Files are checked \
             as for the newest one.{modules}"
        ),
    }
}

/// The connectors that are there to be used.
fn connectors(checker: &Checker) -> String {
    let listed = checker.with_project(|project| {
        let mut listed: Vec<String> = project
            .poms()
            .flat_map(|(_, facts)| &facts.connectors)
            .map(|one| format!("{} {}", one.artifact, one.version))
            .collect();
        let zips = project.other_files().filter(|path| is_connector_zip(path));
        listed.extend(zips.filter_map(|path| path.rsplit('/').next()).map(str::to_owned));
        listed.sort();
        listed.dedup();
        listed
    });
    match listed {
        Some(listed) if !listed.is_empty() => format!("Connectors of this project: {}.", listed.join(", ")),
        _ => String::new(),
    }
}

fn is_connector_zip(path: &str) -> bool {
    path.ends_with(".zip") && (path.contains("/connectors/") || path.contains("/inbound-connectors/"))
}

/// The files of the project, by folder.
fn structure(checker: &Checker) -> String {
    let Some(root) = checker.root() else { return String::new() };
    let listing = checker.with_project(tree);
    let Some(folders) = listing.filter(|folders| !folders.is_empty()) else { return String::new() };
    let (shown, more) = capped(&folders);
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
